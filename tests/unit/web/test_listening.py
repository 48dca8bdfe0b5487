"""Sockets that listen, and what clients may hold on them without sending a request."""

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.web.listening import ConnectionLimits, bind, serving, url_of

CAP = 30.0


def test_a_free_port_is_found() -> None:
    (one,) = bind("127.0.0.1", 0)
    with one:
        host, port = one.getsockname()
        assert (host, port > 0) == ("127.0.0.1", True)


def test_a_name_with_several_addresses_has_one_port_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.1", "127.0.0.2", "127.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    sockets = bind("both.example", 0)
    names = [one.getsockname() for one in sockets]
    for one in sockets:
        one.close()
    assert [name[0] for name in names] == ["127.0.0.1", "127.0.0.2"]
    assert names[0][1] == names[1][1]


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidConfig, match=f"port {port} of 127.0.0.1 is in use"):
            bind("127.0.0.1", port)


def test_what_was_bound_is_closed_when_the_rest_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.1", "192.0.2.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(InvalidConfig, match=r"cannot listen on both\.example"):
        bind("both.example", 0)


def test_a_port_that_needs_privileges_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(InvalidConfig, match="port 80 needs privileges"):
        bind("127.0.0.1", 80)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_told(port: int) -> None:
    with pytest.raises(InvalidConfig, match=f"there is no port {port}: choose one of 1 to 65535"):
        bind("127.0.0.1", port)


def test_a_name_that_is_no_host_is_told() -> None:
    with pytest.raises(InvalidConfig, match="cannot listen on no such host"):
        bind("no such host", 0)


def test_the_address_of_an_ipv6_server_has_brackets() -> None:
    sockets = bind("[::1]", 0)
    with sockets[0]:
        assert url_of("::1", sockets) == f"http://[::1]:{sockets[0].getsockname()[1]}"


def test_accepted_connections_send_small_answers_at_once() -> None:
    (listener,) = bind("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class Hello:
    """Answers at once, but for /wait, which answers when it is let go."""

    def __init__(self) -> None:
        self.entered, self.go = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/wait":
            self.entered.set()
            await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"hi"})


@pytest.fixture
def app() -> Hello:
    return Hello()


@pytest.fixture
async def port(app: Hello, request: pytest.FixtureRequest) -> AsyncIterator[int]:
    limits = getattr(request, "param", None) or ConnectionLimits(header_seconds=0.3)
    sockets = bind("127.0.0.1", 0)
    async with serving(app, sockets, limits=limits):
        yield sockets[0].getsockname()[1]


async def closed(reader: asyncio.StreamReader) -> bool:
    """Wait until the server closes the connection."""
    async with asyncio.timeout(CAP):
        try:
            return await reader.read() is not None
        except ConnectionError:
            return True


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", id="half a header"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /", id="half a second request"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\nx", id="a body that nobody reads"),
    ],
)
async def test_a_connection_without_a_request_is_closed(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    assert await closed(reader)
    writer.close()


async def test_bytes_of_a_header_do_not_extend_its_time(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\n")

    async def drip() -> None:
        while True:
            writer.write(b"X-Slow: 1\r\n")
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())
    assert await closed(reader)
    dripping.cancel()
    writer.close()


async def test_a_request_under_way_is_not_closed(port: int, app: Hello) -> None:
    async with httpx.AsyncClient(timeout=CAP) as client:
        answer = asyncio.create_task(client.get(f"http://127.0.0.1:{port}/wait"))
        await app.entered.wait()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await closed(reader)  # the time for headers is over, and more
        app.go.set()
        assert (await answer).text == "hi"
        writer.close()


@pytest.mark.parametrize("port", [ConnectionLimits(header_seconds=CAP, waiting=20)], indirect=True)
async def test_many_idle_connections_leave_room_for_a_request(port: int, caplog: pytest.LogCaptureFixture) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(200):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(writer.close)
        async with httpx.AsyncClient(timeout=CAP) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hi"
    told = [record for record in caplog.records if record.name == "a2c_smcp.web.listening"]
    assert [record.levelno for record in told] == [logging.WARNING]
    assert "too many connections without a request" in told[0].getMessage()


async def test_requests_that_are_none_do_not_fill_the_log(port: int, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"no request\r\n\r\n")
        assert b"400" in await asyncio.wait_for(reader.read(), CAP)
        writer.close()
    assert caplog.messages == ["Invalid HTTP request received."]


FEW_DESCRIPTORS = """
import asyncio, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from a2c_smcp.web.listening import bind, serving

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})

async def main():
    sockets = bind("127.0.0.1", 0)
    async with serving(app, sockets) as task:
        print(sockets[0].getsockname()[1], flush=True)
        await task

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
async def test_a_burst_of_idle_connections_does_not_use_up_the_descriptors_of_a_process() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FEW_DESCRIPTORS, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        async with asyncio.timeout(CAP), AsyncExitStack() as stack:
            port = int(await child.stdout.readline())
            for _ in range(400):
                one = socket.create_connection(("127.0.0.1", port))
                stack.callback(one.close)
            async with httpx.AsyncClient(timeout=CAP) as client:
                assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hi"
    finally:
        child.kill()
        _, errors = await child.communicate()
    assert b"out of system resource" not in errors
