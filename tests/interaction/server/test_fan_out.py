"""What one member costs the others: updates count by what they deliver, and slow readers together."""

import asyncio
import socket
from typing import Any

import pytest

from a2c_smcp.server import create_app
from a2c_smcp.server.limits import ServerLimits
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Connect, Running, run_server, stop_server
from tests.interaction.server.programs import serving, until
from tests.interaction.server.raw import RawClient

MEMBERS = 20


async def member(connect: Connect, server: Any, role: str, name: str, office: str = "lab") -> Client:
    client = await connect(server)
    assert await client.join(role, name, office) == (True, None)
    return client


def narrow(url: str) -> socket.socket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    line.connect(("127.0.0.1", int(url.rpartition(":")[2])))
    line.setblocking(False)
    return line


async def update(computer: Client) -> Any:
    return await computer.call("server:update_tool_list", {"computer": computer.name})


@pytest.mark.parametrize("kind", ["ready", "threading"])
async def test_updates_count_for_each_member_that_gets_them(kind: str, connect: Connect, tmp_path: Any) -> None:
    # 100 a second, 200 at once: two hundred updates for one member, about ten for twenty.
    process, server = run_server(kind, tmp_path, office_requests_per_second=100)
    try:
        loud = await member(connect, server, "computer", "loud")
        for number in range(MEMBERS):
            await member(connect, server, "computer", f"c{number}")
        small = await member(connect, server, "computer", "loud", "small")
        await member(connect, server, "agent", "a", "small")
        answers = [await update(loud) for _ in range(40)]
        refused = [answer["error"] for answer in answers if answer]
        assert 20 <= len(refused) < 40
        assert refused[0]["details"] == {"limit": "requests per second per office", "value": 100}
        assert [await update(small) for _ in range(40)] == [None] * 40
    finally:
        stop_server(process)


async def test_members_on_other_nodes_count_too(connect: Connect) -> None:
    app = create_app(limits=ServerLimits(office_requests_per_second=100))
    app.namespace.registry.remote_member_count = lambda _: 1_000  # type: ignore[method-assign, assignment]
    async with serving(app) as server:
        computer = await member(connect, server, "computer", "c")
        assert await update(computer) is None
        assert (await update(computer))["error"]["code"] == 429


async def test_leaving_is_never_refused_by_a_limit(server: Running, connect: Connect, tmp_path: Any) -> None:
    process, strict = run_server(server.kind, tmp_path, requests_per_second=1, joins_per_second=0.25)
    try:
        client = await member(connect, strict, "computer", "c")
        while not (answer := await update(client)) or answer["error"]["code"] != 429:
            pass
        assert await client.call("server:leave_office", {"office_id": "lab"}) == (True, None)
    finally:
        stop_server(process)


async def test_slow_readers_are_limited_together(connect: Connect, tmp_path: Any) -> None:
    process, server = run_server("ready", tmp_path, backlog_total_bytes=3_000_000)
    slow = []
    try:
        agent = await member(connect, server, "agent", "a")
        quick = await member(connect, server, "computer", "quick")
        for number in range(4):
            # It reads no more than a frame ahead, and its system keeps little for it.
            raw = await RawClient.open(server.url, max_queue=1, sock=narrow(server.url))
            request = {"role": "computer", "name": f"slow-{number}", "office_id": "lab"}
            assert await raw.call(1, "server:join_office", request) == [True, None]
            slow.append(raw)
        calls = [
            asyncio.create_task(agent.tool(f"slow-{number % 4}", req_id=f"r-{number}", x="x" * 400_000))
            for number in range(200)
        ]
        await until(lambda: "total backlog exceeded" in server.logged())
        assert not quick.gone.is_set()
        assert not agent.gone.is_set()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    finally:
        for raw in slow:
            raw.socket.transport.abort()
        stop_server(process)


async def test_what_waited_for_a_client_that_is_gone_is_not_counted_any_more(connect: Connect) -> None:
    app = create_app()
    async with serving(app) as server:
        for _ in range(3):
            client = await member(connect, server, "agent", "a")
            await client.close()
        await until(lambda: not app.server.eio.sockets)
        assert app.server.eio.backlog.bytes == 0
