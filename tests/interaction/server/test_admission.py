"""Who is heard at all: web pages, other names and addresses, clients that stay outside."""

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed

from a2c_smcp.server import create_app
from tests.interaction.server.client import CAP
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import POLL, Here, get, refused, serving


def websocket(server: Here) -> str:
    return server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"


async def test_web_pages_may_not_connect() -> None:
    async with serving(create_app()) as server:
        replies = [
            await get(f"{server.url}{POLL}", headers={"origin": origin})
            for origin in ("http://evil.example", "null", "http://127.0.0.1", "*", "")
        ]
    assert [(reply.status_code, reply.json()["error"]["code"]) for reply in replies] == [(403, 403)] * 5


async def test_not_even_a_page_of_the_same_origin_may_connect() -> None:
    async with serving(create_app()) as server:
        assert (await get(f"{server.url}{POLL}", headers={"origin": server.url})).status_code == 403
        await refused(server.url, headers={"origin": server.url})


async def test_a_page_that_is_listed_may_connect_and_read_the_answer(connect: Connect) -> None:
    app = create_app(allowed_origins=["https://app.example.com"])
    async with serving(app) as server:
        reply = await get(f"{server.url}{POLL}", headers={"origin": "https://app.example.com"})
        other = await get(f"{server.url}{POLL}", headers={"origin": "https://app.example.com.evil.example"})
        await connect(server, headers={"origin": "https://app.example.com"})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, "https://app.example.com")
    assert "access-control-allow-credentials" not in reply.headers
    assert other.status_code == 403


async def test_without_a_page_no_header_invites_one() -> None:
    async with serving(create_app(allowed_origins=["*"])) as server:
        reply = await get(f"{server.url}{POLL}")
    assert reply.status_code == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [POLL, "/metrics", "/x"])
async def test_a_loopback_server_does_not_answer_to_other_names(path: str) -> None:
    names = ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""]
    async with serving(create_app()) as server:
        codes = [(await get(f"{server.url}{path}", headers={"host": name})).status_code for name in names]
    assert codes == [403] * len(names)


async def test_a_loopback_server_answers_to_its_own_names() -> None:
    names = ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "[::1]"]
    async with serving(create_app()) as server:
        codes = [(await get(f"{server.url}{POLL}", headers={"host": name})).status_code for name in names]
    assert codes == [200] * len(names)


async def test_probes_may_use_any_name() -> None:
    async with serving(create_app()) as server:
        codes = [
            (await get(f"{server.url}{p}", headers={"host": "10.0.0.7"})).status_code for p in ("/healthz", "/readyz")
        ]
    assert codes == [200, 200]


async def test_where_credentials_are_needed_the_name_does_not_matter_unless_it_is_said() -> None:
    async with serving(create_app(api_keys=["k"])) as server:
        assert (await get(f"{server.url}{POLL}", headers={"host": "a2c.example.com"})).status_code == 200
    async with serving(create_app(api_keys=["k"], allowed_hosts=["a2c.example.com"])) as server:
        assert (await get(f"{server.url}{POLL}", headers={"host": "a2c.example.com"})).status_code == 200
        assert (await get(f"{server.url}{POLL}")).status_code == 403


@pytest.mark.parametrize(
    ("address", "options", "status"),
    [
        ("192.0.2.1", {}, 403),
        ("fe80::1%eth0", {}, 403),
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("testserver", {}, 200),
        (None, {}, 200),
        ("192.0.2.1", {"insecure": True}, 200),
        ("192.0.2.1", {"api_keys": ["k"]}, 200),
    ],
)
async def test_a_server_without_credentials_answers_on_loopback_only_whoever_runs_it(
    address: str | None, options: dict[str, Any], status: int
) -> None:
    app = create_app(**options)

    async def moved(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"server": address and (address, 80)}, receive, send)

    async with serving(moved) as server:
        assert (await get(f"{server.url}{POLL}")).status_code == status


async def test_a_client_that_joins_no_namespace_does_not_stay() -> None:
    app = create_app(ping_interval=0.05, limits={"hello_seconds": 0.3})
    async with serving(app) as server:
        pings = 0
        async with open_websocket(websocket(server)) as socket:
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(CAP):
                    while True:
                        if await socket.recv() == "2":  # it answers every ping
                            pings += 1
                            await socket.send("3")
    assert pings > 0


async def test_those_outside_the_namespace_are_counted_too(connect: Connect) -> None:
    async with serving(create_app(limits={"connections_per_address": 2})) as server:
        pending = [await open_websocket(websocket(server)) for _ in range(5)]
        with pytest.raises(ConnectionClosed):  # the oldest makes room
            async with asyncio.timeout(CAP):
                while True:
                    await pending[0].recv()
        await connect(server)
        await asyncio.gather(*(socket.close() for socket in pending))
