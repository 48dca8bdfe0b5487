"""What clients without credentials can hold: little, and not for long. The server is `a2c server` itself."""

import asyncio
import base64
import os
import resource
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed

from tests.interaction.server.client import CAP
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import POLL, ROOT, Program, a2c_server, get

CERT, PRIVATE = ROOT / "tests" / "data" / "tls" / "cert.pem", ROOT / "tests" / "data" / "tls" / "key.pem"
KEY = "a-key-that-is-long-enough"
MEGABYTE = 1_000_000


class Wire:
    """A TCP connection that sends what it is told, and nothing else."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ends(self) -> bytes:
        """Return what came until the other side closed."""
        try:
            async with asyncio.timeout(CAP):
                return await self.reader.read()
        except ConnectionError:
            return b""

    async def send(self, data: bytes) -> None:
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError:
            return

    @property
    def is_open(self) -> bool:
        return not self.reader.at_eof() and self.reader.exception() is None


@asynccontextmanager
async def wires(server: Program, number: int, first: bytes = b"") -> AsyncIterator[list[Wire]]:
    """Open connections, and send the same on each of them."""
    where = urlsplit(server.url)
    opened: list[Wire] = []
    try:
        for _ in range(number):
            opened.append(Wire(*await asyncio.open_connection(where.hostname, where.port)))
            if first:
                await opened[-1].send(first)
        yield opened
    finally:
        for one in opened:
            one.writer.transport.abort()


def memory(server: Program) -> int:
    """Bytes of memory that the server uses."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    limits = ("connections_per_address=60", "header_seconds=2", "hello_seconds=4")
    words = [word for limit in limits for word in ("--limits", limit)]
    with a2c_server(tmp_path_factory.mktemp("strict"), "--api-key", KEY, *words) as program:
        yield program


async def session(server: Program) -> str:
    """Open a polling session; return its id."""
    return str((await get(f"{server.url}{POLL}")).text.split('"sid":"')[1].split('"')[0])


async def is_healthy(server: Program) -> bool:
    return (await get(f"{server.url}/healthz", timeout=CAP)).status_code == 200


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /healthz HTTP/1.1\r\nHost: 127", b"POST", b"\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5],
)
async def test_connections_without_a_complete_header_are_closed(server: Program, sent: bytes) -> None:
    async with wires(server, 5, sent) as opened:
        for wire in opened:
            await wire.ends()
    assert await is_healthy(server)


async def test_idle_connections_count_by_address_and_leave_room_for_requests(server: Program) -> None:
    async with wires(server, 200) as opened:
        assert await is_healthy(server)
        for wire in opened[:100]:
            await wire.ends()  # they made room; far fewer than 100 may stay
        assert await is_healthy(server)
    assert "too many connections" in server.logged()


@pytest.mark.parametrize("where", ["no session", "a session"])
@pytest.mark.parametrize("form", ["Content-Length: 31000000", "Transfer-Encoding: chunked"])
async def test_unfinished_bodies_hold_no_memory(server: Program, where: str, form: str) -> None:
    before = memory(server)
    path = POLL if where == "no session" else f"{POLL}&sid={await session(server)}"
    async with wires(server, 20, head(path, form)) as opened:
        piece = b"x" * MEGABYTE
        data = b"%x\r\n%b\r\n" % (len(piece), piece) if "chunked" in form else piece
        await asyncio.gather(*(wire.send(data) for wire in opened for _ in range(3)))
        for wire in opened:
            answer = await wire.ends()
            assert not answer or answer.split(b" ")[1] in (b"413", b"400")
        assert memory(server) - before < 40 * MEGABYTE
    assert await is_healthy(server)


@pytest.mark.parametrize("form", ["Content-Length: 5000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_body_that_never_comes_is_not_waited_for(server: Program, method: str, form: str) -> None:
    path = f"{POLL}&sid={await session(server)}"
    async with wires(server, 3, head(path, form, method=method)) as opened:
        for wire in opened:
            assert b" 200 " not in (await wire.ends()).split(b"\r\n")[0]


async def test_unfinished_frames_hold_no_memory(server: Program) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    shake = head(
        "/socket.io/?EIO=4&transport=websocket",
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        method="GET",
    )
    before = memory(server)
    async with wires(server, 20, shake) as opened:
        start = b"\x81\xff" + (31 * MEGABYTE).to_bytes(8, "big") + b"mask"
        fragment = b"\x01\xff" + (20_000).to_bytes(8, "big") + b"mask" + b"x" * 20_000
        more = b"\x00" + fragment[1:]
        for number, wire in enumerate(opened):
            await wire.reader.readuntil(b"\r\n\r\n")
            await wire.send(start if number % 2 else fragment + more * 40)
        await asyncio.gather(*(wire.send(b"x" * MEGABYTE) for wire in opened for _ in range(3)))
        for wire in opened:
            await wire.ends()
        assert memory(server) - before < 40 * MEGABYTE
    assert await is_healthy(server)


async def test_polling_sessions_without_credentials_are_few_and_end_soon(server: Program) -> None:
    first, *_, last = [await session(server) for _ in range(131)]
    assert (await get(f"{server.url}{POLL}&sid={first}")).status_code == 400
    # The last one is still there; it ends when it has not said hello in time.
    assert (await get(f"{server.url}{POLL}&sid={last}", timeout=CAP)).status_code == 200
    assert (await get(f"{server.url}{POLL}&sid={last}", timeout=CAP)).status_code == 400


async def test_clients_with_credentials_are_served_meanwhile(server: Program, connect: Connect) -> None:
    agent, _ = await pair_in(connect, server, "here")
    async with wires(server, 100):
        for number in range(10):
            assert (await agent.tool("desk", req_id=f"r{number}"))["echo"] == f"r{number}"
        assert (await agent.tool("desk", req_id="big", big="x" * 3 * MEGABYTE))["echo"] == "big"
        newcomer, _ = await pair_in(connect, server, "elsewhere")
        assert (await newcomer.tool("desk", req_id="new"))["echo"] == "new"


async def pair_in(connect: Connect, server: Program, office: str, **options: Any) -> tuple[Any, Any]:
    async def echo(_: str, data: Any) -> Any:
        return {"echo": data["req_id"]}

    agent = await connect(server, auth={"token": KEY}, **options)
    computer = await connect(server, auth={"token": KEY}, **options)
    computer.answers["*"] = echo
    await computer.join("computer", "desk", office)
    await agent.join("agent", "ada", office)
    return agent, computer


async def test_polling_clients_send_large_messages_once_they_have_joined(server: Program, connect: Connect) -> None:
    agent, _ = await pair_in(connect, server, "polled", transports=["polling"])
    big = "x" * (MEGABYTE - 10_000)  # of more the client's HTTP library warns
    assert (await agent.tool("desk", req_id="big", big=big))["echo"] == "big"


async def test_a_client_that_has_not_joined_may_send_only_small_frames(server: Program, connect: Connect) -> None:
    client = await connect(server, auth={"token": KEY})
    await client.emit("server:update_config", {"computer": "x" * MEGABYTE})
    await asyncio.wait_for(client.gone.wait(), CAP)


async def test_a_client_that_is_refused_again_and_again_is_hung_up(server: Program) -> None:
    address = server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
    async with open_websocket(address) as socket:
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(CAP):
                for _ in range(10_000):
                    await socket.send('40/smcp,{"token":"guess"}')
                    await socket.recv()


async def test_lines_about_unknown_clients_are_throttled(tmp_path: Path) -> None:
    with a2c_server(tmp_path, "--api-key", KEY) as server:
        address = server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
        async with open_websocket(address) as socket:
            for number in range(3_000):
                await socket.send("9" if number % 2 else "42/smcp,[")
            await socket.send('40/smcp,{"token":"guess"}')
            async with asyncio.timeout(CAP):
                while not str(await socket.recv()).startswith("44/smcp"):
                    pass
        for _ in range(20):
            async with wires(server, 20, b"\x00garbage\r\n\r\n") as opened:
                for wire in opened:
                    await wire.ends()
        assert len(server.logged().splitlines()) < 300


async def test_a_tls_handshake_that_is_not_finished_is_closed(tmp_path: Path) -> None:
    words = ("--tls-cert", str(CERT), "--tls-key", str(PRIVATE), "--limits", "header_seconds=1")
    with a2c_server(tmp_path, "--api-key", KEY, *words) as server:
        for first in (b"", b"\x16\x03\x01\x02\x00\x01"):
            async with wires(server, 5, first) as opened:
                for wire in opened:
                    await wire.ends()
        async with httpx.AsyncClient(verify=ssl.create_default_context(cafile=str(CERT))) as client:
            assert (await client.get(f"{server.url}/healthz")).status_code == 200
        assert "Traceback" not in server.logged()


@contextmanager
def descriptors(number: int) -> Iterator[None]:
    """Let children have only so many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_process_with_few_descriptors_stays_reachable(tmp_path: Path) -> None:
    with descriptors(128), a2c_server(tmp_path, "--api-key", KEY) as server:
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        async with wires(server, 300):
            assert await is_healthy(server)
        address = server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
        sockets = [await open_websocket(address, close_timeout=1) for _ in range(150)]
        assert await is_healthy(server)
        await asyncio.gather(*(socket.close() for socket in sockets))
        assert "too many connections" in server.logged()
