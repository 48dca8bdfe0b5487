"""Servers on HTTP on bad days: broken answers, lost streams, forgotten sessions."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import SMCPError, ToolFailed
from tests.interaction.computer.mcp.conftest import CAP, Host, sse, streamable
from tests.interaction.computer.mcp.scripted import (
    JSON,
    Held,
    Reply,
    Scripted,
    error,
    http,
    result,
    serving,
    stream,
)

HINT = "retry: 10\n\n"


@pytest.mark.rule("5.5")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (http(200, JSON, body=b"{"), "answered with something that is not an MCP message"),
        (http(200, "Content-Type: text/html", body=b"<html>"), "Unexpected content type"),
        (http(500, body=b"oops"), "lost while it worked on this"),
        (http(202), "202 Accepted"),
        (stream(), "lost while it worked on this"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "not an MCP message"),
        (b"", "lost while it worked on this"),
        (b"nonsense\r\n\r\n", "lost while it worked on this"),
    ],
    ids=["bad json", "html", "status 500", "no answer", "empty stream", "cut", "nothing", "no http"],
)
async def test_a_broken_answer_fails_its_call_and_nothing_else(host: Host, reply: bytes, message: str) -> None:
    def call(request: dict[str, Any], _: dict[str, str]) -> Reply:
        return (
            reply
            if request["params"]["name"] == "bad"
            else http(200, JSON, body=result(request["id"], {"content": []}))
        )

    async with serving(Scripted(call=call)) as server:
        session = await host.running(streamable("a", server.url))

        with pytest.raises(SMCPError, match=message):
            await session.call_tool("bad", {})

        assert await session.call_tool("good", {}) == {"content": []}
        assert (session.status.state, session.status.restarts) == (ServerState.RUNNING, 0)
        await host.manager.close()


async def test_an_answer_that_does_not_come_in_time_fails_its_call(host: Host) -> None:
    async with serving(Scripted(call=lambda *_: None)) as server:
        session = await host.running(streamable("a", server.url, sse_read_timeout=timedelta(seconds=0.2)))

        with pytest.raises(ToolFailed, match="it did not answer within the time-out"):
            await session.call_tool("slow", {})
        await host.manager.close()


async def test_a_notification_stream_that_ends_is_opened_again_and_everything_looked_at(host: Host) -> None:
    async with serving(Scripted(notifications=lambda count: stream(HINT) if count < 3 else None)) as server:
        await host.running(streamable("a", server.url))

        await host.ears.until(lambda: host.heard["tools", "a"] >= 2)

        assert server.requests.count("GET") >= 2
        assert host["a"].status.state is ServerState.RUNNING
        await host.manager.close()


@pytest.mark.rule("5.5")
async def test_a_notification_stream_that_cannot_be_opened_again_is_a_reason_to_connect_anew(host: Host) -> None:
    broken = [stream(HINT), http(500), http(500)]
    async with serving(Scripted(notifications=lambda _: broken.pop(0) if broken else None)) as server:
        session = await host.running(streamable("a", server.url))

        await host.ears.until(lambda: session.status.restarts == 1 and session.status.state is ServerState.RUNNING)

        assert server.requests.count("initialize") == 2
        await host.manager.close()


@pytest.mark.parametrize("status", [405, 404, 400, 501])
async def test_a_server_without_a_notification_stream_is_fine_however_it_says_so(host: Host, status: int) -> None:
    async with serving(Scripted(notifications=lambda _: http(status))) as server:
        session = await host.running(streamable("a", server.url))
        async with asyncio.timeout(CAP):
            while server.requests.count("GET") < 2:
                assert await session.call_tool("good", {}) == {"content": []}

        assert await session.call_tool("good", {}) == {"content": []}
        assert session.status.restarts == 0
        await host.manager.close()


@pytest.mark.rule("5.5")
async def test_a_session_that_the_server_forgot_is_begun_anew(host: Host) -> None:
    replies = [http(404)]

    def call(request: dict[str, Any], _: dict[str, str]) -> Reply:
        return replies.pop() if replies else http(200, JSON, body=result(request["id"], {"content": []}))

    async with serving(Scripted(call=call)) as server:
        session = await host.running(streamable("a", server.url))

        with pytest.raises(ToolFailed, match="it forgot the session, as after a restart"):
            await session.call_tool("good", {})

        await host.ears.until(lambda: session.status.restarts == 1 and session.status.state is ServerState.RUNNING)
        assert await session.call_tool("good", {}) == {"content": []}
        assert server.requests.count("DELETE") == 0
        await host.manager.close()


@pytest.mark.parametrize("farewell", [http(204), http(405), None], ids=["accepted", "not allowed", "never answered"])
async def test_closing_ends_the_session_at_the_server_in_bounded_time(host: Host, farewell: Reply) -> None:
    async with serving(Scripted(farewell=farewell)) as server:
        await host.running(streamable("a", server.url), streamable("b", server.url, terminate_on_close=False))

        async with asyncio.timeout(CAP / 2):
            await host.manager.close()

        assert server.requests.count("DELETE") == 1


async def test_headers_that_follow_from_a_tools_schema_are_learned_when_the_server_wants_them(host: Host) -> None:
    def discover(message: dict[str, Any]) -> bytes:
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        return result(message["id"], found | {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"})

    def call(request: dict[str, Any], headers: dict[str, str]) -> Reply:
        if headers.get("mcp-param-region") != "north":
            return http(400, JSON, body=error(request["id"], -32020, "Header mismatch"))
        return http(200, JSON, body=result(request["id"], {"content": [], "resultType": "complete"}))

    async with serving(Scripted(discover=discover, call=call)) as server:
        session = await host.running(streamable("a", server.url))

        assert await session.call_tool("echo", {"region": "north"}) == {"content": []}
        assert [name for name in server.requests if name.startswith("tools/")] == [
            "tools/call",
            "tools/list",
            "tools/call",
        ]
        with pytest.raises(SMCPError, match="Header mismatch"):
            await session.call_tool("echo", {"region": "south"})
        await host.manager.close()


async def test_a_server_that_asks_for_input_is_refused(host: Host) -> None:
    def discover(message: dict[str, Any]) -> bytes:
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        return result(message["id"], found | {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"})

    def call(request: dict[str, Any], _: dict[str, str]) -> Reply:
        asked = {"resultType": "input_required", "inputRequests": {}, "requestState": "x"}
        return http(200, JSON, body=result(request["id"], asked))

    async with serving(Scripted(discover=discover, call=call)) as server:
        session = await host.running(streamable("a", server.url))

        with pytest.raises(ToolFailed, match="requires user input, which this Computer does not support"):
            await session.call_tool("echo", {})
        await host.manager.close()


class Older(Scripted):
    """The older transport, with a door for messages that is broken."""

    def answer(self, verb: str, headers: dict[str, str], body: bytes) -> Reply:
        if verb == "GET":
            return Held(stream("event: other\ndata: x\n\n", "event: endpoint\ndata: /messages\n\n"))
        return http(500)


async def test_a_post_that_fails_on_the_older_transport_fails_its_request_at_once(host: Host) -> None:
    async with serving(Older()) as server:
        async with asyncio.timeout(CAP):
            await host.host(sse("a", server.url))

        assert host["a"].status.problem == "it has trouble of its own (HTTP 500)"
        await host.manager.close()
