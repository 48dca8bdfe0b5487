"""Connecting, joining, moving, leaving."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp import PROTOCOL_VERSION
from a2c_smcp.computer.office import ConnectionState, SMCPComputerClient
from a2c_smcp.errors import BadRequest, Forbidden, InvalidConfig, SMCPError, Unauthorized
from tests.interaction.computer.office.conftest import Agents
from tests.interaction.computer.office.fakes import Scripted, Watch
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running

Make = Callable[..., SMCPComputerClient]


@pytest.mark.rule("2.join")
async def test_it_joins_the_office_it_was_given(server: Running, office: str, computer: Make, agent: Agents) -> None:
    watcher = await agent(server.url, office)
    answerer, watch = Scripted(), Watch()
    client = computer(answerer, server.url, office, on_status=watch)
    await client.connect()
    assert (client.office_id, client.status.office_id, client.status.state) == (office, office, ConnectionState.JOINED)
    assert await watcher.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    assert answerer.offices == [office]
    assert watch.states == ["connecting", "connected", "joined"]


async def test_it_says_which_version_of_the_protocol_it_speaks(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    await computer(Scripted(), ready.url, office).connect()
    listing = await (await agent(ready.url, office)).call(
        "server:list_room", {"agent": "a", "req_id": "r", "office_id": office}
    )
    assert {one["name"]: one.get("a2c_version") for one in listing["sessions"]} == {"c": PROTOCOL_VERSION, "a": None}


@pytest.mark.rule("1.3.move")
async def test_moving_to_another_office_leaves_the_first(
    server: Running, office: str, computer: Make, agent: Agents
) -> None:
    here, there = await agent(server.url, office), await agent(server.url, f"{office}!", "b")
    answerer = Scripted()
    client = computer(answerer, server.url, office)
    await client.connect()
    assert await client.join(f"{office}!")
    assert [await here.next() for _ in range(2)] == [
        ("notify:enter_office", {"office_id": office, "computer": "c"}),
        ("notify:leave_office", {"office_id": office, "computer": "c"}),
    ]
    assert await there.tool("c") == {"req_id": "r-1"}
    assert answerer.offices == [office, f"{office}!"]


@pytest.mark.rule("1.3.rejoin")
async def test_joining_the_same_office_again_changes_nothing_for_the_answerer(
    ready: Running, office: str, computer: Make
) -> None:
    answerer = Scripted()
    client = computer(answerer, ready.url, office)
    await client.connect()
    assert await client.join(office)
    assert answerer.offices == [office]


async def test_leaving_keeps_the_connection(server: Running, office: str, computer: Make, agent: Agents) -> None:
    watcher = await agent(server.url, office)
    answerer, lost = Scripted(), asyncio.Event()
    client = computer(answerer, server.url, office, on_lost=lost.set)
    await client.connect()
    await client.leave()
    assert (client.office_id, client.status.state, lost.is_set()) == (None, ConnectionState.CONNECTED, True)
    assert await watcher.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    assert await watcher.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    assert answerer.offices == [office, None]
    assert await client.join(office)


async def test_an_office_that_is_wanted_before_there_is_a_connection_is_joined_with_it(
    ready: Running, office: str, computer: Make
) -> None:
    client = computer(Scripted(), ready.url)
    assert await client.join(office) is False
    await client.connect()
    assert client.office_id == office


async def test_an_office_that_is_wanted_no_more_is_not_joined(ready: Running, office: str, computer: Make) -> None:
    client = computer(Scripted(), ready.url, office)
    await client.leave()
    await client.connect()
    assert client.status.state is ConnectionState.CONNECTED


async def test_closing_ends_a_callback_that_still_runs(ready: Running, office: str, computer: Make) -> None:
    ended = asyncio.Event()

    async def wait(_: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    client = computer(Scripted(), ready.url, office, on_joined=wait)
    await client.connect()
    await client.close()
    assert ended.is_set()


async def test_a_computer_without_an_office_is_just_connected(ready: Running, computer: Make) -> None:
    client = computer(Scripted(), ready.url)
    await client.connect()
    assert client.status.state is ConnectionState.CONNECTED
    await client.leave()
    assert client.status.state is ConnectionState.CONNECTED


@pytest.mark.rule("1.3.names")
async def test_a_name_that_is_taken_is_told_by_the_first_connection(
    server: Running, office: str, computer: Make
) -> None:
    await computer(Scripted(), server.url, office).connect()
    second = computer(Scripted(), server.url, office)
    with pytest.raises(Forbidden, match="is taken in this office"):
        await second.connect()
    assert second.status.state is ConnectionState.OFFLINE


async def test_a_refused_move_leaves_it_where_it_was(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    await computer(Scripted(), ready.url, f"{office}!").connect()
    client = computer(Scripted(), ready.url, office)
    await client.connect()
    with pytest.raises(Forbidden):
        await client.join(f"{office}!")
    assert client.office_id == office
    assert await (await agent(ready.url, office)).tool("c") == {"req_id": "r-1"}


async def test_as_a_context_manager_it_leaves_with_the_block(ready: Running, office: str, agent: Agents) -> None:
    watcher = await agent(ready.url, office)
    async with SMCPComputerClient(Scripted(), url=ready.url, name="c", office_id=office) as client:
        assert client.status.state is ConnectionState.JOINED
    assert client.office_id is None
    assert await watcher.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    assert await watcher.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})


async def test_nobody_at_the_address_is_told(unused_tcp_port: int, computer: Make) -> None:
    with pytest.raises(ConnectionError, match="cannot be reached"):
        await computer(Scripted(), f"http://127.0.0.1:{unused_tcp_port}", "o").connect()


async def test_a_web_server_of_another_kind_is_told(computer: Make) -> None:
    async with Relay(path="elsewhere") as relay:
        with pytest.raises(ConnectionError, match="HTTP status 404"):
            await computer(Scripted(), relay.url, "o").connect()


async def test_a_server_without_the_namespace_is_told(computer: Make) -> None:
    async with Relay() as relay:
        relay.sio.handlers.clear()
        with pytest.raises(Forbidden, match="refused the connection"):
            await computer(Scripted(), relay.url, "o").connect()


@pytest.mark.rule("1.2")
async def test_the_path_is_the_servers(computer: Make) -> None:
    async with Relay(path="deep/down/sio") as relay:
        await computer(Scripted(), f"{relay.url}/deep", "o", socketio_path="/down/sio").connect()


@pytest.mark.parametrize(
    ("credentials", "auth", "header"),
    [
        ({"token": "t-1"}, {"token": "t-1"}, None),
        ({"token": lambda: "t-2"}, {"token": "t-2"}, None),
        ({"api_key": "k-1"}, None, "k-1"),
        ({"auth": {"tenant": 5}, "headers": {"x-api-key": "k-2"}}, {"tenant": 5}, "k-2"),
    ],
)
async def test_credentials_go_where_servers_look(
    computer: Make, credentials: dict[str, Any], auth: Any, header: str | None
) -> None:
    async with Relay() as relay:
        await computer(Scripted(), relay.url, "o", **credentials).connect()
        [(shown, headers, query)] = relay.knocks
        assert (shown or None, headers.get("x_api_key")) == (auth, header)
        assert f"a2c_version={PROTOCOL_VERSION}" in query


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (("No", {"code": 401, "message": "No valid credentials"}), Unauthorized("No valid credentials")),
        (("No", {"code": 403, "message": "Not you"}), Forbidden("Not you")),
        (("Authentication failed",), Forbidden("Authentication failed")),
        ((), Forbidden("Connection rejected by server")),
    ],
)
async def test_a_refused_connection_is_the_error_that_the_server_meant(
    computer: Make, refusal: tuple[Any, ...], error: SMCPError
) -> None:
    async with Relay() as relay:
        relay.refusal = lambda _auth, _headers: refusal
        with pytest.raises(type(error)) as told:
            await computer(Scripted(), relay.url, "o").connect()
        assert (told.value.code, error.message in told.value.message) == (error.code, True)


async def test_a_refusal_without_a_code_names_the_server_and_where_credentials_were_sent(computer: Make) -> None:
    async with Relay() as relay:
        relay.refusal = lambda _auth, _headers: ("Authentication failed",)
        with pytest.raises(Forbidden) as told:
            await computer(Scripted(), relay.url, "o", api_key="s3cret", token="s3cret").connect()
        sent = "(credentials sent: header x-api-key, auth.token;"
        assert str(told.value).startswith(f"{relay.url} refused the connection: Authentication failed {sent}")
        assert "s3cret" not in str(told.value)


@pytest.mark.rule("2.join")
@pytest.mark.parametrize(
    ("ack", "code"),
    [
        ((False, "4101: The office is full"), 4101),
        ((False, "name taken"), 403),
        ([False, "429: too many joins"], 429),
        ({"error": {"code": 401, "message": "expired"}}, 401),
        ((), 403),
        ((False, None), 403),
    ],
)
async def test_a_refused_join_is_an_error_whatever_server_refuses(computer: Make, ack: Any, code: int) -> None:
    async with Relay() as relay:
        relay.join = ack
        with pytest.raises(SMCPError) as told:
            await computer(Scripted(), relay.url, "o").connect()
        assert told.value.code == code


@pytest.mark.parametrize("ack", [(True, None), True, [True, None]])
async def test_an_accepted_join_may_look_different(computer: Make, ack: Any) -> None:
    async with Relay() as relay:
        relay.join = ack
        client = computer(Scripted(), relay.url, "o")
        await client.connect()
        assert client.office_id == "o"
        assert await relay.next("server:join_office") == {"role": "computer", "name": "c", "office_id": "o"}


async def test_polling_first_is_possible(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    client = computer(Scripted(), ready.url, office, transports=("polling", "websocket"))
    await client.connect()
    assert await (await agent(ready.url, office)).tool("c") == {"req_id": "r-1"}


async def test_polling_alone_is_possible(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    client = computer(Scripted(), ready.url, office, transports=("polling",))
    await client.connect()
    assert await (await agent(ready.url, office)).tool("c") == {"req_id": "r-1"}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"url": "a2c.example.org"}, InvalidConfig),
        ({"url": "ftp://a2c.example.org"}, InvalidConfig),
        ({"name": ""}, BadRequest),
        ({"office_id": "a\nb"}, BadRequest),
    ],
)
async def test_what_cannot_work_is_told_at_once(options: dict[str, Any], error: type[SMCPError]) -> None:
    with pytest.raises(error):
        SMCPComputerClient(Scripted(), **{"url": "http://a2c.example.org", "name": "c"} | options)
