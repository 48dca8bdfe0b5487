"""Answers over `max_message` from servers on HTTP: one request fails, at once, and memory stays bounded."""

import asyncio
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from a2c_smcp.computer.config.models import MCPServerConfig
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import BadRequest, ToolFailed
from tests.bare_server import bare_server
from tests.interaction.computer.mcp.conftest import CAP, Host, HttpServer, sse, streamable, text_of

LIMIT = 100_000
FILLER = b"x" * 65_536
SMALL = {"content": [{"type": "text", "text": "small"}]}


def limited(config: MCPServerConfig) -> MCPServerConfig:
    return config.model_copy(update={"max_message": LIMIT})


async def too_large(call: Any) -> dict[str, Any]:
    """Return the details of the error that a call fails with soon."""
    async with asyncio.timeout(CAP):
        with pytest.raises(BadRequest, match=f"over the limit of {LIMIT} bytes") as failed:
            await call
    return dict(failed.value.details or {})


@pytest.mark.parametrize(
    ("path", "flags"),
    [("/mcp", ["--json"]), ("/mcp", ["--json", "--gzip"]), ("/mcp", []), ("/sse", [])],
    ids=["json", "compressed json", "event streams", "older transport"],
)
async def test_an_answer_over_the_limit_fails_at_once_and_nothing_else_does(
    host: Host, http_server: Callable[..., HttpServer], path: str, flags: list[str]
) -> None:
    url = http_server(*flags).url(path)
    session = await host.running(limited(streamable("a", url) if path == "/mcp" else sse("a", url)))
    other = asyncio.create_task(session.call_tool("wait", {"name": "other"}))
    await session.call_tool("echo", {})

    for size in (LIMIT, 3 * LIMIT, 100 * LIMIT):
        details = await too_large(session.call_tool("large", {"size": size}))
        assert (details["limit"], details["value"]) == ("message size", LIMIT)
        assert details.get("size", LIMIT + 1) > LIMIT
    assert len(text_of(await session.call_tool("large", {"size": LIMIT - 1_000}))) == LIMIT - 1_000

    assert not other.done()
    assert (session.status.state, session.status.restarts) == (ServerState.RUNNING, 0)
    other.cancel()
    with suppress(asyncio.CancelledError):
        await other


async def test_the_size_is_told_where_the_server_gives_it(host: Host, http_server: Callable[..., HttpServer]) -> None:
    session = await host.running(limited(streamable("a", http_server("--json").url())))

    details = await too_large(session.call_tool("large", {"size": 1_000_000}))

    assert 1_000_000 < details["size"] < 1_001_000


class Odd:
    """An MCP server on a bare socket, for answers that no library writes. The name of a tool says how it answers."""

    def __init__(self) -> None:
        self.stream: asyncio.StreamWriter | None = None
        self.opened = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if head.startswith("get /sse"):
                self.stream, self.opened = writer, self.opened + 1
                await send(writer, "text/event-stream", event(b"/mcp-of-the-older-kind", b"endpoint"))
                await reader.read()
            elif head.startswith("post"):
                length = int(head.partition("content-length:")[2].split()[0])
                await self.answer(json.loads(await reader.readexactly(length)), writer, older="of-the-older" in head)
            else:
                writer.write(b"HTTP/1.1 405 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
        writer.close()

    async def answer(self, message: Any, writer: asyncio.StreamWriter, *, older: bool) -> None:
        if older or "id" not in message:
            writer.write(b"HTTP/1.1 202 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        match message:
            case {"method": "initialize"}:
                result: Any = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"},
                }
            case {"method": "tools/call"}:
                result = SMALL
            case {"id": _}:
                error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
                await self.say(writer, event(json.dumps(error).encode()), older=older)
                return
            case _:
                return
        small = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        tool = message.get("params", {}).get("name")
        body = json.dumps({"content": [{"type": "text", "text": "x" * 3 * LIMIT}]}).encode()
        number = json.dumps(message["id"]).encode()
        match tool:
            case "endless json":
                await send(writer, "application/json", small[:-3] + b',"x":"')
                await fill(writer)
            case "compressed":
                compressor = zlib.compressobj(wbits=31)
                bomb = b"".join(compressor.compress(FILLER) for _ in range(2_000)) + compressor.flush()
                await send(writer, "application/json", bomb, "Content-Encoding: gzip\r\n")
            case "endless event":
                await send(writer, "text/event-stream", b"data: " + small[:-3] + b',"x":"')
                await fill(writer)
            case "result first":
                whole = event(b'{"result":' + body + b',"jsonrpc":"2.0","id":' + number + b"}")
                await self.say(writer, whole, older=older)
            case "hidden":
                whole = event(b'{"result":' + body + b',"id":' + number + b',"x":{"y":"' + b"z" * 1_000 + b'"}}')
                await self.say(writer, whole, older=older)
            case "notice first":
                notice = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":' + body + b"}}"
                await self.say(writer, event(notice) + event(small), older=older)
            case _:
                await self.say(writer, event(small), older=older)

    async def say(self, writer: asyncio.StreamWriter, events: bytes, *, older: bool) -> None:
        if older:
            assert self.stream is not None
            self.stream.write(events)
            await self.stream.drain()
        else:
            await send(writer, "text/event-stream", events)


def event(data: bytes, kind: bytes = b"message") -> bytes:
    return b"event: " + kind + b"\r\ndata: " + data + b"\r\n\r\n"


async def send(writer: asyncio.StreamWriter, kind: str, body: bytes, more: str = "") -> None:
    writer.write(f"HTTP/1.1 200 X\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def fill(writer: asyncio.StreamWriter) -> None:
    """Write until the other side has had enough."""
    while True:
        writer.write(FILLER)
        await writer.drain()


@asynccontextmanager
async def odd_server() -> AsyncIterator[tuple[Odd, str]]:
    odd = Odd()
    async with bare_server(odd.serve) as port:
        yield odd, f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("tool", ["endless json", "endless event", "compressed", "result first", "hidden"])
async def test_an_answer_of_unknown_length_is_not_read_to_its_end(host: Host, tool: str) -> None:
    async with odd_server() as (_, url):
        session = await host.running(limited(streamable("a", f"{url}/mcp")))
        tracemalloc.start()
        try:
            details = await too_large(session.call_tool(tool, {}))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert details["value"] == LIMIT
        assert peak < 20_000_000
        assert text_of(await session.call_tool("small", {})) == "small"
        assert session.status.restarts == 0
        await host.manager.close()


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
async def test_a_notification_over_the_limit_is_left_out(host: Host, path: str) -> None:
    async with odd_server() as (_, url):
        session = await host.running(limited((sse if path == "/sse" else streamable)("a", url + path)))

        async with asyncio.timeout(CAP):
            assert text_of(await session.call_tool("notice first", {})) == "small"
        assert session.status.restarts == 0
        await host.manager.close()


async def test_an_answer_of_the_older_transport_is_known_by_its_end_too(host: Host) -> None:
    async with odd_server() as (odd, url):
        session = await host.running(limited(sse("a", f"{url}/sse")))

        details = await too_large(session.call_tool("result first", {}))

        assert details["size"] > 3 * LIMIT
        assert text_of(await session.call_tool("small", {})) == "small"
        assert odd.opened == 1
        await host.manager.close()


async def test_the_older_transport_is_joined_anew_after_an_answer_that_names_no_request(host: Host) -> None:
    async with odd_server() as (odd, url):
        session = await host.running(limited(sse("a", f"{url}/sse")))

        async with asyncio.timeout(CAP):
            with pytest.raises(ToolFailed, match=rf"its answer of 3\d+ bytes is over the limit of {LIMIT} bytes"):
                await session.call_tool("hidden", {})
        await host.ears.until(lambda: session.status.state is ServerState.RUNNING and session.status.restarts > 0)

        assert text_of(await session.call_tool("small", {})) == "small"
        assert odd.opened == 2
        await host.manager.close()
