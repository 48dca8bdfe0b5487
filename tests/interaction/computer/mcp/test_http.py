"""Servers on HTTP: streamable and the older SSE, their loss and their return."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import PageOutOfRange, ToolFailed
from tests.bare_server import bare_server
from tests.interaction.computer.mcp.conftest import CAP, QUICK, Host, HttpServer, sse, streamable, text_of

Http = Callable[..., HttpServer]


@asynccontextmanager
async def answering(status: int, body: bytes = b"", kind: str = "text/plain") -> AsyncIterator[str]:
    """A server that answers everything alike."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()

    async with bare_server(answer) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["event streams", "json"])
async def test_a_server_on_streamable_http_does_all_that_one_on_stdio_does(
    host: Host, http_server: Http, flags: list[str]
) -> None:
    session = await host.running(streamable("a", http_server(*flags).url()))
    await session.subscribe(["window://modern/main"])
    await host.ears.until(lambda: host.heard["tools", "a"] > 0)
    host.heard.clear()

    assert text_of(await session.call_tool("echo", {"text": "hello"})) == "hello"
    with pytest.raises(PageOutOfRange):
        await session.read_resource("dpe://modern/x/pages/99")
    await session.call_tool("change", {})
    await host.ears.until(lambda: host.heard["updated", "a", "window://modern/main"] > 0)
    assert len(text_of(await session.call_tool("large", {"size": 3_000_000}))) == 3_000_000


async def test_cancelling_a_call_over_http_cancels_it_at_the_server(host: Host, http_server: Http) -> None:
    session = await host.running(streamable("a", http_server().url()))
    call = asyncio.create_task(session.call_tool("wait", {"name": "this"}))
    await session.call_tool("echo", {})

    call.cancel()

    async with asyncio.timeout(CAP):
        while text_of(await session.call_tool("cancelled", {})) != "this":
            pass


@pytest.mark.parametrize("token", ["opensesame", "öffne dich"])
async def test_configured_headers_are_sent(host: Host, http_server: Http, token: str) -> None:
    url = http_server("--token", token).url()

    session = await host.host(
        streamable("a", url, headers={"Authorization": f"Bearer {token}"}),
        streamable("b", url, headers={"Authorization": "Bearer wrong"}),
        streamable("c", url),
    )

    assert session.status.state is ServerState.RUNNING
    for name in ("b", "c"):
        await host.becomes(name, ServerState.FAILED)
        assert (host[name].status.problem, host[name].status.advice) == (
            "it refused the credentials (HTTP 401)",
            "check the headers and the inputs they take values from",
        )


@pytest.mark.rule("5.5")
async def test_calls_under_way_fail_soon_when_the_server_is_lost_and_it_comes_back(
    host: Host, http_server: Http
) -> None:
    server = http_server()
    session = await host.running(streamable("a", server.url()))
    call = asyncio.create_task(session.call_tool("wait", {}))
    await session.call_tool("echo", {})

    server.kill()

    with pytest.raises(ToolFailed, match="lost while it worked on this"):
        async with asyncio.timeout(CAP):
            await call
    await host.becomes("a", ServerState.WAITING)
    server.start_again()
    await host.becomes("a", ServerState.RUNNING)
    assert text_of(await session.call_tool("echo", {"text": "again"})) == "again"


@pytest.mark.rule("5.5")
async def test_a_server_that_vanishes_while_idle_is_noticed(hosts: Callable[..., Host], http_server: Http) -> None:
    host = hosts(replace(QUICK, probe=0.1, answer=10.0))
    server = http_server()
    await host.running(streamable("a", server.url()))

    server.kill()

    await host.becomes("a", ServerState.WAITING)
    assert str(host["a"].status.problem).startswith("it cannot be reached: ")


@pytest.mark.rule("5.5")
async def test_a_server_that_is_out_of_reach_is_tried_for_ever(host: Host, http_server: Http) -> None:
    server = http_server()
    server.kill()
    await host.apply(streamable("a", server.url()), sse("b", server.url("/sse")))

    await host.ears.until(lambda: min(host[name].status.restarts for name in "ab") > 2 * QUICK.restarts.failures)

    assert {host[name].status.advice for name in "ab"} == {
        "check that it runs, the URL with its port, and the network; it is tried again by itself"
    }
    server.start_again()
    await host.becomes("a", ServerState.RUNNING)


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (404, "there is no MCP endpoint at its URL (HTTP 404)"),
        (403, "it refused the credentials (HTTP 403)"),
        (301, "it redirects elsewhere (HTTP 301)"),
        (400, "it refused the request (HTTP 400)"),
        (503, "it has trouble of its own (HTTP 503)"),
        (200, "the MCP handshake failed: "),
    ],
)
async def test_what_is_no_mcp_server_is_told_apart_by_its_answer(host: Host, status: int, problem: str) -> None:
    async with answering(status) as url:
        await host.host(streamable("a", url), sse("b", url))

        for name in "ab":
            assert str(host[name].status.problem).startswith(problem)


async def test_a_stream_that_names_an_endpoint_elsewhere_gets_no_message(host: Host) -> None:
    stream = b"event: endpoint\ndata: http://elsewhere.example/messages\n\n"
    async with answering(200, stream, "text/event-stream") as url:
        await host.host(sse("a", url))

    assert "wants messages to be sent to another origin" in str(host["a"].status.problem)


async def test_time_outs_are_those_configured(host: Host) -> None:
    async def never(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with bare_server(never) as port:
        url = f"http://127.0.0.1:{port}/"
        await host.host(
            streamable("a", url, sse_read_timeout=timedelta(seconds=0.2)), sse("b", url, sse_read_timeout=0.2)
        )

        for name in "ab":
            assert "no answer within the time-out" in str(host[name].status.problem)
