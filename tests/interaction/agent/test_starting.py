"""An Agent that calls a tool while its MCP server is starting waits for it, within its time."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer import parse_config
from a2c_smcp.computer.computer import Computer
from a2c_smcp.errors import ToolNotFound, ToolStarting
from tests.interaction.agent.conftest import Agents
from tests.interaction.computer.conftest import AUTO, SERVERS
from tests.interaction.computer.office.fakes import CAP
from tests.interaction.server.conftest import Running


class Late:
    """A Computer whose only MCP server does not start before `go`."""

    def __init__(self, folder: Path) -> None:
        self.trace, self._gate = folder / "trace.txt", folder / "gate"
        os.mkfifo(self._gate)
        command = [str(SERVERS / "late_server.py"), str(self._gate), sys.executable, str(SERVERS / "paying_server.py")]
        server: dict[str, Any] = {
            "type": "stdio",
            "server_parameters": {"command": sys.executable, "args": [*command, str(self.trace)]},
            "default_tool_meta": AUTO,
        }
        self.computer = Computer(parse_config({"servers": {"bank": server}}).config, name="c")

    async def go(self) -> None:
        await asyncio.to_thread(self._gate.write_bytes, b"go")


@pytest.fixture
async def late(ready: Running, office: str, tmp_path: Path) -> AsyncIterator[Late]:
    late = Late(tmp_path)
    async with late.computer as computer:
        await computer.connect(ready.url, office)
        yield late


@pytest.mark.rule("3.2")
async def test_a_call_made_while_its_server_starts_runs_once_it_has_started(
    ready: Running, office: str, agent: Agents, late: Late
) -> None:
    client = agent(ready.url, office, live=False)
    await client.connect()
    with pytest.raises(ToolStarting, match="still starting") as told:
        await client.call_tool("c", "pay", timeout=0.2)
    assert (told.value.code, told.value.details) == (4006, {"retry_after": 0.5, "mcp_servers": ["bank"]})
    calls = [asyncio.create_task(client.call_tool("c", name, timeout=CAP)) for name in ("pay", "bank__pay", "steal")]
    await late.go()
    paid, again = await calls[0], await calls[1]
    assert {paid["content"][0]["text"], again["content"][0]["text"]} == {"receipt 1", "receipt 2"}
    with pytest.raises(ToolNotFound):
        await calls[2]
