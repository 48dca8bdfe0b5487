"""Where the console listens."""

import asyncio
import signal
import socket
from collections.abc import Iterator

import httpx
import pytest

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import ApprovalQueue
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console
from a2c_smcp.errors import InvalidConfig
from tests.interaction.console import enter


@pytest.fixture
def console() -> Iterator[Console]:
    made = Console(Computer(), ApprovalQueue(), CallLog())
    yield made
    made.close()


async def test_it_is_served_while_the_block_runs_and_signals_are_left_alone(console: Console) -> None:
    before = signal.getsignal(signal.SIGINT)
    async with serve_console(console) as base, httpx.AsyncClient() as client:
        assert signal.getsignal(signal.SIGINT) is before
        assert (await enter(client, console.app.url(base))).status_code == 200
        assert (await client.get(f"{base}/api/state")).json()["servers"] == []
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(base)


async def test_an_open_page_does_not_hold_up_the_end(console: Console) -> None:
    async with asyncio.timeout(60), httpx.AsyncClient() as client:
        async with serve_console(console) as base:
            await enter(client, console.app.url(base))
            request = client.build_request("GET", f"{base}/api/events")
            stream = await client.send(request, stream=True)
            lines = stream.aiter_lines()
            assert await anext(lines) == 'data: {"kind": "hello"}'
        await stream.aclose()


async def test_the_stream_of_an_open_page_ends_with_all_sessions(console: Console) -> None:
    async with asyncio.timeout(60), httpx.AsyncClient() as client, serve_console(console) as base:
        await enter(client, console.app.url(base))
        async with client.stream("GET", f"{base}/api/events") as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == 'data: {"kind": "hello"}'
            assert (await client.post(f"{base}/api/end_sessions", json={})).json() == {"ok": True}
            assert [line async for line in lines if line.startswith("data")] == []
        assert (await client.get(f"{base}/api/state")).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
async def test_it_listens_on_this_machine_alone(console: Console, host: str) -> None:
    with pytest.raises(InvalidConfig, match="this machine alone"):
        async with serve_console(console, host):
            pass


async def test_a_port_in_use_is_told(console: Console) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidConfig, match=f"port {port} of 127.0.0.1 is in use"):
            async with serve_console(console, port=port):
                pass


async def test_a_number_that_is_no_port_is_told(console: Console) -> None:
    with pytest.raises(InvalidConfig, match="there is no port 70000"):
        async with serve_console(console, port=70_000):
            pass
