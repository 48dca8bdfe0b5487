"""Where to connect, and what to show at the door."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from a2c_smcp import PROTOCOL_VERSION
from a2c_smcp.errors import InvalidConfig, Unauthorized
from a2c_smcp.wire.link import Address, Link


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """Somebody who takes connections and says nothing at all."""

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


@pytest.mark.parametrize(
    ("url", "real"),
    [
        ("https://a.example", f"https://a.example?a2c_version={PROTOCOL_VERSION}"),
        ("https://a.example/?x=1", f"https://a.example/?x=1&a2c_version={PROTOCOL_VERSION}"),
        ("https://a.example/?a2c_version=0.1", "https://a.example/?a2c_version=0.1"),
    ],
)
def test_the_version_goes_into_the_url(url: str, real: str) -> None:
    assert Address(url=url).real_url == real


@pytest.mark.parametrize(
    ("url", "path", "real"),
    [
        ("https://a.example", "/socket.io", "socket.io"),
        ("https://a.example/", "socket.io/", "socket.io"),
        ("https://a.example/office/", "/socket.io", "office/socket.io"),
    ],
)
def test_the_path_of_the_url_goes_before_that_of_socket_io(url: str, path: str, real: str) -> None:
    assert Address(url=url, path=path).real_path == real


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
        Address(url=url)


async def test_credentials_are_fetched_anew_each_time() -> None:
    numbers = iter("12")

    async def key() -> str:
        return f"k-{next(numbers)}"

    address = Address(url="https://a.example", token=lambda: "t", api_key=key, auth={"x": 1}, headers={"y": "2"})
    assert [await address.credentials() for _ in range(2)] == [
        ({"x": 1, "token": "t"}, {"y": "2", "x-api-key": "k-1"}),
        ({"x": 1, "token": "t"}, {"y": "2", "x-api-key": "k-2"}),
    ]


async def test_a_credential_that_cannot_be_fetched_is_told_without_the_reason() -> None:
    def token() -> str:
        raise LookupError("s3cret")

    with pytest.raises(Unauthorized) as refusal:
        await Address(url="https://a.example", token=token).credentials()
    assert "s3cret" not in repr(refusal.value)


def test_an_address_prints_no_secret() -> None:
    secrets: dict[str, Any] = {"token": "s3cret", "api_key": "s3cret", "auth": {"s3cret": 1}, "headers": {"s3cret": ""}}
    assert "s3cret" not in repr(Address(url="https://me:s3cret@a.example", **secrets))


async def test_a_server_that_never_answers_is_given_up(silent: str) -> None:
    link = Link(Address(url=silent, patience=0.05), lambda *_: None)
    with pytest.raises(ConnectionError, match=r"no answer within 0\.05 s"):
        await link.open()
    await link.close()


async def test_a_link_that_is_gone_takes_no_more() -> None:
    link = Link(Address(url="https://a.example"), lambda *_: None)
    await link.close()
    assert (link.why, link.gone.is_set()) == ("it was closed", True)
    assert await link.ack(1, "{}") is False
    assert await link.ack(None, "{}") is True  # nobody wants this one
    with pytest.raises(ConnectionError, match="it was closed"):
        await link.call("server:update_config", {"computer": "c"}, within=1)


async def test_a_link_that_is_not_open_yet_takes_nothing() -> None:
    link = Link(Address(url="https://a.example"), lambda *_: None)
    with pytest.raises(ConnectionError, match="not open yet"):
        await link.join("computer", "c", "o")
    await link.close()


async def _problem(url: str) -> str:
    link = Link(Address(url=url), lambda *_: None)
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
    assert await _problem(f"http://127.0.0.1:{port}") == (
        "The server cannot be reached (connection refused): check that it runs, and its address"
    )


async def test_a_host_that_nobody_knows_is_told() -> None:
    assert (await _problem("http://nowhere.invalid")).startswith("The server's host name is unknown")
