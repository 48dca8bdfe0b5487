"""An MCP server on HTTP of which every answer can be scripted, for what real ones do only on bad days."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.bare_server import bare_server

INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {"subscribe": True}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream"

Reply = bytes | None
"""The raw answer, after which the connection is closed; None leaves it open and silent."""


def http(status: int, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def stream(*events: str) -> bytes:
    """An event stream that ends after the events."""
    return f"HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n".encode() + "".join(events).encode()


def result(identity: Any, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identity, "result": value}).encode()


def error(identity: Any, code: int, message: str, data: Any = None) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message, "data": data}}
    ).encode()


GOODBYE = http(204)


class Held(bytes):
    """An answer after which the connection stays open."""


@dataclass
class Scripted:
    """The script: what is answered to a tool call, to the notification stream, and to a farewell."""

    call: Callable[[dict[str, Any], dict[str, str]], Reply] = lambda message, _: http(
        200, JSON, body=result(message["id"], {"content": []})
    )
    notifications: Callable[[int], Reply] = lambda _: http(405)
    farewell: Reply = GOODBYE
    discover: Callable[[dict[str, Any]], bytes] = lambda message: error(message["id"], -32601, "Method not found")
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, verb: str, headers: dict[str, str], body: bytes) -> Reply:
        if verb == "GET":
            self.requests.append("GET")
            return self.notifications(self.requests.count("GET"))
        if verb == "DELETE":
            self.requests.append("DELETE")
            return self.farewell
        message = json.loads(body)
        self.requests.append(message["method"])
        match message["method"]:
            case "initialize":
                return http(200, JSON, "mcp-session-id: s1", body=result(message["id"], INITIALIZED))
            case "server/discover":
                return http(200, JSON, body=self.discover(message))
            case "tools/call":
                return self.call(message, headers)
            case "tools/list":
                schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
                tools = [{"name": "echo", "inputSchema": schema}]
                extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
                return http(200, JSON, body=result(message["id"], {"tools": tools} | extra))
            case method if "id" in message and method != "ping":
                return http(200, JSON, body=error(message["id"], -32601, "Method not found"))
            case "ping":
                return http(200, JSON, body=result(message["id"], {}))
            case _:
                return http(202)


@asynccontextmanager
async def serving(script: Scripted) -> AsyncIterator[Scripted]:
    """Serve on a free port, until the block is left."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        reply = script.answer(first.split()[0], headers, body)
        writer.write(reply or b"")
        await writer.drain()
        if reply is None or isinstance(reply, Held):
            await reader.read()

    async with bare_server(handle) as port:
        script.url = f"http://127.0.0.1:{port}/mcp"
        yield script
