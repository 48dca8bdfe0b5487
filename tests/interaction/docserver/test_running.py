"""A server as a process: how it begins and ends."""

import asyncio
import json
import os
import signal
import sys

import httpx
import pytest

from tests.interaction.docserver.clients import connected
from tests.interaction.docserver.processes import OPEN_KITCHEN, ROOT, ended, line_of, process, say, url_of

EXAMPLE = "examples/own_server.py"
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
PONG = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}, separators=(",", ":"))


async def test_what_is_no_json_is_answered_and_the_next_line_is_read() -> None:
    async with process(EXAMPLE) as server:
        assert server.stdin is not None
        server.stdin.write(b"nonsense\n\xff\xfe\n")
        assert await say(server, PING) == PONG


async def test_a_client_that_stops_reading_has_left() -> None:
    source, sink = os.pipe()
    server = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLE, cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=sink, stderr=asyncio.subprocess.PIPE
    )
    os.close(sink)
    os.close(source)
    assert server.stdin is not None
    server.stdin.write(f"{PING}\n".encode())
    assert await ended(server) == (0, "")
    server.stdin.close()


async def test_a_signal_ends_a_server_that_has_open_streams() -> None:
    async with process("-c", OPEN_KITCHEN) as server:
        url = await url_of(server)
        async with httpx.AsyncClient() as client, connected(url, "auto") as modern:
            await modern.follow("dpe://com.example.kitchen/pancakes")
            session = await initialized(client, url)
            async with client.stream("GET", url, headers=session | {"Accept": "text/event-stream"}) as stream:
                assert stream.status_code == 200
                server.send_signal(signal.SIGTERM)
                assert await ended(server) == (0, "")
                assert [line async for line in stream.aiter_lines() if line.startswith("data:")] == []


async def test_over_http_other_users_of_the_machine_need_the_token_that_is_printed() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with process(EXAMPLE, "--http", "127.0.0.1:0") as server, httpx.AsyncClient() as client:
        url, said = await url_of(server), await line_of(server.stderr)
        header, _, value = said.partition("the header ")[2].partition(": ")
        assert (header, value.startswith("Bearer ")) == ("Authorization", True)
        assert (await client.post(url, json=ping)).status_code == 401
        assert (await client.post(url, json=ping, headers={header: value})).status_code != 401


async def initialized(client: httpx.AsyncClient, url: str) -> dict[str, str]:
    """Begin a session of the older era, and return its headers."""
    parameters = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    reply = await client.post(
        url,
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters},
        headers={"Accept": "application/json, text/event-stream"},
    )
    assert reply.status_code == 200, reply.text
    return {"Mcp-Session-Id": reply.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]"}, 200),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_a_page_of_the_web_cannot_call_a_server_on_this_machine(
    kitchen: str, headers: dict[str, str], status: int
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient() as client:
        reply = await client.post(kitchen, json=body | INITIALIZE, headers=accept | headers)
    assert reply.status_code == status


INITIALIZE = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
