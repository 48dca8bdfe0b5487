"""The connection to Redis: every way to reach it, and what happens when it does not answer."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.server.registry.redis_connection import BACKLOG_BYTES, RedisConnection, RedisLost, connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from a2c_smcp.server.registry.resp import RedisErrorReply
from tests.bare_server import bare_server
from tests.interaction.ports import free_port
from tests.interaction.redis_server import NAME, RedisServer, redis_or_skip
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.bare_nodes import BareNode


async def reach(url: str, deadline: float = CAP, message: Callable[[bytes], None] = print) -> RedisConnection:
    return await connect_redis(parse_endpoint(url), deadline, message, name="test")


@pytest.fixture
def servers() -> Iterator[Callable[..., RedisServer]]:
    started: list[RedisServer] = []

    def start(*settings: str, tcp: bool = True) -> RedisServer:
        started.append(redis_or_skip(*settings, tcp=tcp))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
async def connection(shared_redis: RedisServer) -> AsyncIterator[RedisConnection]:
    opened = await reach(shared_redis.url)
    yield opened
    opened.fail("done")


# Ways to reach it


async def test_a_password_and_a_database_are_used(servers: Callable[..., RedisServer]) -> None:
    port = servers("--requirepass", "pass word").port
    connection = await reach(f"redis://:pass%20word@127.0.0.1:{port}/3")
    assert b" db=3 " in await connection.ask("CLIENT", "INFO")
    connection.fail("done")


async def test_a_user_of_its_own_needs_no_more_than_the_documented_rights(servers: Callable[..., RedisServer]) -> None:
    rights = "~a2c:* &a2c:* -@all +@connection +@scripting +@pubsub +@hash +@sortedset +time"
    server = servers("--user", "node", "on", ">secret", *rights.split())
    bare = BareNode(f"redis://node:secret@127.0.0.1:{server.port}", "a2c")
    await bare.registry.start(bare.router)
    member = await bare.join("agent", "a")
    assert await bare.registry.members(member.office_id) == [member]
    await bare.registry.stop()
    assert bare.registry.problem() == "the node is stopped"


async def test_a_wrong_password_is_told_without_repeating_it(servers: Callable[..., RedisServer]) -> None:
    port = servers("--requirepass", "right").port
    with pytest.raises(RedisErrorReply, match="WRONGPASS") as refusal:
        await reach(f"redis://:hunter2@127.0.0.1:{port}")
    assert "hunter2" not in str(refusal.value)


async def test_tls_is_spoken_and_the_certificate_checked(servers: Callable[..., RedisServer], tmp_path: Path) -> None:
    certificate, key = certificate_for_loopback(tmp_path)
    port = free_port()
    files = ["--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-ca-cert-file", str(certificate)]
    servers("--tls-port", str(port), "--tls-auth-clients", "no", *files, tcp=False)
    connection = await reach(f"rediss://127.0.0.1:{port}?ssl_ca_certs={certificate}")
    assert await connection.ask("PING") == b"PONG"
    connection.fail("done")
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        await reach(f"rediss://127.0.0.1:{port}")
    connection = await reach(f"rediss://127.0.0.1:{port}?ssl_cert_reqs=none")
    connection.fail("done")


def certificate_for_loopback(folder: Path) -> tuple[Path, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def sentinel(servers: Callable[..., RedisServer], tmp_path: Path) -> Iterator[tuple[int, RedisServer]]:
    """A Sentinel that watches a Redis under the name `primary`."""
    primary, port = servers(), free_port()
    settings = tmp_path / "sentinel.conf"
    settings.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor primary 127.0.0.1 {primary.port} 1\n"
    )
    process = subprocess.Popen([NAME, str(settings), "--sentinel"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "+monitor" in line:
            break
    yield port, primary
    process.kill()
    process.wait()
    process.stdout.close()


async def test_sentinels_are_asked_for_the_primary_and_one_that_is_gone_is_skipped(
    sentinel: tuple[int, RedisServer],
) -> None:
    port, primary = sentinel
    connection = await reach(f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{port}/primary")
    assert f"tcp_port:{primary.port}\r\n".encode() in await connection.ask("INFO", "server")
    connection.fail("done")
    with pytest.raises(ConnectionError, match="no Sentinel knows the primary"):
        await reach(f"redis+sentinel://127.0.0.1:{port}/another")


# Order


async def test_replies_and_messages_come_in_the_order_of_what_happened(shared_redis: RedisServer) -> None:
    history: list[Any] = []
    connection = await reach(shared_redis.url, message=history.append)
    await connection.subscribe("test_order")
    for number in range(50):
        connection.send("ECHO", number, then=history.append)
        connection.send("PUBLISH", "test_order", f"message {number}", then=history.append)
    await connection.ask("PING")
    assert history == [what for n in range(50) for what in (b"%d" % n, b"message %d" % n, 1)]
    connection.fail("done")


async def test_what_fails_in_one_message_does_not_end_the_others(
    shared_redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[bytes] = []

    def handle(message: bytes) -> None:
        heard.append(message)
        if message == b"bad":
            raise ZeroDivisionError

    connection = await reach(shared_redis.url, message=handle)
    await connection.subscribe("test_bad")
    for text in ("bad", "good"):
        await connection.ask("PUBLISH", "test_bad", text)
    assert heard == [b"bad", b"good"]
    assert [record.getMessage() for record in caplog.records] == ["Redis reply handler failed"]
    assert caplog.records[0].exc_info
    connection.fail("done")


async def test_what_fails_in_reading_a_reply_is_told_to_whoever_asked(connection: RedisConnection) -> None:
    with pytest.raises(ZeroDivisionError):
        await connection.ask("PING", read=lambda _: 1 / 0)
    assert await connection.ask("PING") == b"PONG"


# No answer


async def test_a_redis_that_hangs_is_given_up_within_the_deadline(redis: RedisServer) -> None:
    connection = await reach(redis.url, deadline=1.0)
    redis.pause()
    with pytest.raises(RedisLost, match="no reply within 1 s"):
        await asyncio.wait_for(connection.ask("PING"), CAP)
    with pytest.raises(RedisLost):
        await connection.ask("PING")
    with pytest.raises(TimeoutError):
        await reach(redis.url, deadline=1.0)


async def test_whoever_waits_is_told_when_redis_dies(redis: RedisServer) -> None:
    connection = await reach(redis.url)
    answers: list[Any] = []
    redis.pause()
    for _ in range(3):
        connection.send("PING", then=answers.append)
    redis.kill()
    await asyncio.wait_for(connection.lost, CAP)
    assert [type(answer) for answer in answers] == [RedisLost] * 3


async def test_a_refused_command_that_nobody_asked_about_ends_the_connection(
    connection: RedisConnection, caplog: pytest.LogCaptureFixture
) -> None:
    connection.send("NONSENSE")
    assert await asyncio.wait_for(connection.lost, CAP) == "Redis refused a command (ERR)"
    assert len(caplog.records) == 1


async def test_a_redis_that_reads_too_slowly_is_given_up(redis: RedisServer) -> None:
    connection = await reach(redis.url)
    redis.pause()
    lost: list[Any] = []
    for _ in range(2 + BACKLOG_BYTES // 8_000_000):
        connection.send("ECHO", b"x" * 8_000_000, then=lost.append)
        await asyncio.sleep(0)
    connection.send("PING", then=lost.append)
    assert connection.lost.result() == "Redis reads too slowly"
    assert all(isinstance(reply, RedisLost) for reply in lost)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "Redis sent invalid data"),
        (b"+OK\r\n", "Redis sent an unexpected reply"),
        (b"", "Redis closed the connection"),
    ],
)
async def test_what_is_not_a_redis_is_given_up(said: bytes, why: str) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async with bare_server(answer) as port:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: RedisConnection(CAP), "127.0.0.1", port
        )
        assert (await asyncio.wait_for(connection.lost, CAP)).startswith(why)


async def test_a_large_message_on_a_slow_line_is_no_silence(redis: RedisServer) -> None:
    ended = asyncio.Event()

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(str(redis.path))

        async def forward() -> None:
            with suppress(OSError):
                while data := await reader.read(65_536):
                    far_writer.write(data)
            far_writer.close()

        forwarding = asyncio.create_task(forward())
        with suppress(OSError):
            while data := await far_reader.read(100_000):
                for start in range(0, len(data), 10_000):
                    writer.write(data[start : start + 10_000])
                    await writer.drain()
                    await asyncio.sleep(0.05)
        forwarding.cancel()
        far_writer.close()
        with suppress(OSError):
            await far_writer.wait_closed()
        ended.set()

    async with bare_server(trickle) as port:
        slow = await reach(f"redis://127.0.0.1:{port}", deadline=1.0)
        await slow.ask("SET", "large", "x" * 400_000)
        began = asyncio.get_running_loop().time()
        assert len(await asyncio.wait_for(slow.ask("GET", "large"), CAP)) == 400_000
        assert asyncio.get_running_loop().time() - began > 1.0
        slow.fail("done")
        await asyncio.wait_for(ended.wait(), CAP)
