"""What is told of a Computer at work."""

import asyncio
from pathlib import Path
from typing import Any

from a2c_smcp.cli.computer_events import PendingChanges
from a2c_smcp.cli.computer_owner import ConnectOptions, Owner
from a2c_smcp.computer import parse_config
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus

IDLE = parse_config(
    {"servers": {"idle": {"type": "stdio", "disabled": True, "server_parameters": {"command": "none"}}}}
).config.servers["idle"]
CAP = 60


async def after(told: Any) -> dict[str, Any]:
    async with asyncio.timeout(CAP):
        event: dict[str, Any] = await anext(told)
        return event


async def test_servers_that_come_and_go_are_told_of() -> None:
    news = PendingChanges()
    async with Owner(None, ConnectOptions()).computer as computer:
        told = news.follow(computer)
        await computer.settings.add_server(IDLE)
        quiet = {"event": "server", "name": "idle", "restarts": None, "problem": None, "advice": None}
        assert await after(told) == quiet | {"state": "disabled", "restarts": 0}
        await computer.settings.remove_server("idle")
        assert await after(told) == quiet | {"state": "removed"}


async def test_a_file_that_cannot_be_used_is_told_of_until_it_can(tmp_path: Path) -> None:
    news, path = PendingChanges(), tmp_path / "mcp.json"
    path.write_text('{"servers": {}}')
    async with Owner(str(path), ConnectOptions()).computer as computer:
        told = news.follow(computer)
        first = asyncio.create_task(after(told))
        await asyncio.sleep(0)
        path.write_text("{")
        event = await first
        assert (event["event"], event["problem"] is None) == ("configuration", False)
        path.write_text('{"servers": {}, "inputs": []}')
        assert await after(told) == {"event": "configuration", "problem": None}


async def test_an_attempt_that_fails_is_told_of_once() -> None:
    news = PendingChanges()
    failed = ConnectionStatus(ConnectionState.WAITING, "now", failures=1, problem="away")
    again = ConnectionStatus(ConnectionState.CONNECTING, "now", failures=1, problem="away")
    news.connection(failed)
    news.connection(again)
    news.connection(ConnectionStatus(ConnectionState.JOINED, "now", "lab"))
    async with Owner(None, ConnectOptions()).computer as computer:
        told = news.follow(computer)
        assert [(await after(told))["state"] for _ in range(2)] == ["waiting", "joined"]
        news.end()
        assert [event async for event in told] == []
