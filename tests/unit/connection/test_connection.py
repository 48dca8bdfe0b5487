"""Where to connect, and what to show at the door."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from a2c_smcp import PROTOCOL_VERSION
from a2c_smcp.connection.connection import ServerAddress, SmcpConnection
from a2c_smcp.errors import BadRequest, Forbidden, InvalidConfig, SMCPError, Unauthorized
from tests.bare_server import bare_server


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """Somebody who takes connections and says nothing at all."""

    async def say_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with bare_server(say_nothing) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("url", "real"),
    [
        ("https://a.example", f"https://a.example?a2c_version={PROTOCOL_VERSION}"),
        ("https://a.example/?x=1", f"https://a.example/?x=1&a2c_version={PROTOCOL_VERSION}"),
        ("https://a.example/?a2c_version=0.1", "https://a.example/?a2c_version=0.1"),
    ],
)
def test_the_version_goes_into_the_url(url: str, real: str) -> None:
    assert ServerAddress(url=url).real_url() == real


@pytest.mark.parametrize(
    ("url", "path", "real"),
    [
        ("https://a.example", "/socket.io", "socket.io"),
        ("https://a.example/", "socket.io/", "socket.io"),
        ("https://a.example/office/", "/socket.io", "office/socket.io"),
    ],
)
def test_the_path_of_the_url_goes_before_that_of_socket_io(url: str, path: str, real: str) -> None:
    assert ServerAddress(url=url, path=path).real_path == real


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "ftp://a.example",
        "https://",
        "https:///path",
        "http://a.example:99999",
        "http://a.example:port",
        "http://a.example:0",
        "http://[::1",
    ],
)
def test_an_address_is_a_url(url: str) -> None:
    with pytest.raises(InvalidConfig, match=r"https://a2c\.example\.org"):
        ServerAddress(url=url)


async def test_credentials_are_fetched_anew_each_time() -> None:
    numbers = iter("12")

    async def key() -> str:
        return f"k-{next(numbers)}"

    address = ServerAddress(url="https://a.example", token=lambda: "t", api_key=key, auth={"x": 1}, headers={"y": "2"})
    assert [await address.credentials() for _ in range(2)] == [
        ({"x": 1, "token": "t"}, {"y": "2", "x-api-key": "k-1"}),
        ({"x": 1, "token": "t"}, {"y": "2", "x-api-key": "k-2"}),
    ]


async def test_a_credential_that_cannot_be_fetched_is_told_without_the_reason() -> None:
    def token() -> str:
        raise LookupError("s3cret")

    with pytest.raises(Unauthorized) as refusal:
        await ServerAddress(url="https://a.example", token=token).credentials()
    assert "s3cret" not in repr(refusal.value)


def test_an_address_prints_no_secret() -> None:
    secrets: dict[str, Any] = {"token": "s3cret", "api_key": "s3cret", "auth": {"s3cret": 1}, "headers": {"s3cret": ""}}
    assert "s3cret" not in repr(ServerAddress(url="https://me:s3cret@a.example", **secrets))


async def test_a_server_that_never_answers_is_given_up(silent: str) -> None:
    link = SmcpConnection(ServerAddress(url=silent, patience=0.05), lambda *_: None)
    with pytest.raises(ConnectionError, match=rf"^{silent} did not answer within 0\.05 s$"):
        await link.open()
    await link.close()


async def test_a_link_that_is_gone_takes_no_more() -> None:
    link = SmcpConnection(ServerAddress(url="https://a.example"), lambda *_: None)
    await link.close()
    assert (link.why, link.gone.is_set()) == ("the connection was closed", True)
    assert await link.ack(1, "{}") is False
    assert await link.ack(None, "{}") is True  # nobody wants this one
    with pytest.raises(ConnectionError, match="the connection was closed"):
        await link.call("server:update_config", {"computer": "c"}, within=1)


async def test_a_link_that_is_not_open_yet_takes_nothing() -> None:
    link = SmcpConnection(ServerAddress(url="https://a.example"), lambda *_: None)
    with pytest.raises(ConnectionError, match="not open yet"):
        await link.join("computer", "c", "o")
    await link.close()


async def _problem(url: str) -> str:
    link = SmcpConnection(ServerAddress(url=url), lambda *_: None)
    try:
        with pytest.raises(ConnectionError) as caught:
            await link.open()
    finally:
        await link.close()
    return str(caught.value)


async def test_a_server_that_is_not_there_is_told_with_what_to_check() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    assert await _problem(f"http://me:s3cret@127.0.0.1:{port}/base?key=s3cret") == (
        f"http://127.0.0.1:{port}/base cannot be reached (connection refused): "
        "check that the server runs, and its address"
    )


async def test_a_host_that_nobody_knows_is_told() -> None:
    assert (await _problem("http://nowhere.invalid")).startswith(
        "The host name in http://nowhere.invalid cannot be resolved"
    )


@asynccontextmanager
async def refusing(status: int, body: str, kind: str = "application/json") -> AsyncIterator[tuple[str, list[str]]]:
    """A server that refuses everybody; yields its address, and the versions that were announced to it."""
    announced: list[str] = []

    async def refuse(request: web.Request) -> web.Response:
        announced.append(request.query["a2c_version"])
        return web.Response(status=status, text=body, content_type=kind)

    app = web.Application()
    app.router.add_get("/socket.io/", refuse)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/"), announced


async def _refusal(url: str, transport: str) -> Exception:
    link = SmcpConnection(ServerAddress(url=url, transports=(transport,)), lambda *_: None)
    try:
        with pytest.raises((SMCPError, ConnectionError)) as caught:
            await link.open()
    finally:
        await link.close()
    return caught.value


@pytest.mark.parametrize("transport", ["websocket", "polling"])
@pytest.mark.parametrize(
    ("status", "body", "kind", "error", "reason"),
    [
        (
            400,
            '{"code": 400, "message": "Missing a2c_version query parameter"}',
            "application/json",
            BadRequest,
            "Missing a2c_version query parameter",
        ),
        (
            403,
            '{"error": {"code": 403, "message": "Host header not allowed"}}',
            "application/json",
            Forbidden,
            "Host header not allowed",
        ),
        (401, '{"message": "who are you?"}', "application/json", Unauthorized, "who are you?"),
        (400, '"Invalid transport"', "application/json", ConnectionError, "Invalid transport"),
        (503, "come\x1b[31m back\n later", "text/plain", ConnectionError, "come [31m back later"),
        (502, "<html>Bad gateway</html>", "text/html", ConnectionError, "no reason given"),
        (500, "x" * 400, "text/plain", ConnectionError, f"{'x' * 300}…"),
        (500, "x" * 70_000, "text/plain", ConnectionError, "no reason given"),
        (400, '{"code": 400', "application/json", ConnectionError, "no reason given"),
        (400, '{"code": 500, "message": "starting"}', "application/json", ConnectionError, "starting"),
    ],
)
async def test_the_reason_of_a_server_that_refuses_by_http_is_repeated(
    transport: str, status: int, body: str, kind: str, error: type[Exception], reason: str
) -> None:
    async with refusing(status, body, kind) as (url, _):
        refused = await _refusal(url, transport)
    assert (type(refused), str(refused)) == (error, f"{url} refused the connection: {reason} (HTTP status {status})")


def mismatch(version: str) -> str:
    """What a released server answers that speaks another version."""
    minor = version.rpartition(".")[0]
    return json.dumps(
        {
            "code": 4008,
            "message": "Protocol version mismatch",
            "server_version": version,
            "client_version": "0.2.0",
            "min_supported": f"{minor}.0",
            "max_supported": f"{minor}.999",
        }
    )


@pytest.mark.parametrize("transport", ["websocket", "polling"])
@pytest.mark.parametrize(
    ("version", "announced"),
    [("0.4.0", ["0.2.0", "0.4.0"]), ("0.3.1", ["0.2.0", "0.3.1"]), ("0.9.0", ["0.2.0"]), ("1.0.0", ["0.2.0"])],
)
async def test_a_server_of_another_version_is_met_in_its_own_where_that_is_known_and_once(
    transport: str, version: str, announced: list[str]
) -> None:
    async with refusing(400, mismatch(version)) as (url, seen):
        refused = await _refusal(url, transport)
    minor = version.rpartition(".")[0]
    assert (seen, isinstance(refused, SMCPError) and refused.code) == (announced, 4008)
    assert str(refused) == (
        f"{url} refused the connection: Protocol version mismatch (it supports protocol {minor}.0 to "
        f"{minor}.999; this client supports 0.2 to 0.4) (HTTP status 400)"
    )
