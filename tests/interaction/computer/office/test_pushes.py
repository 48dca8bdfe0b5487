"""Telling the office what changed."""

import asyncio
from collections.abc import Callable
from typing import get_args

import pytest

from a2c_smcp.common.debounce import Debouncer
from a2c_smcp.computer.changes import UpdateKind
from a2c_smcp.computer.office import ConnectionState, SMCPComputerClient
from a2c_smcp.errors import BadRequest, NotInOffice, RateLimited
from tests.interaction.computer.office.conftest import Agents
from tests.interaction.computer.office.fakes import CAP, Scripted, Watch
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running

Make = Callable[..., SMCPComputerClient]


@pytest.mark.rule("2.notify")
@pytest.mark.parametrize("kind", get_args(UpdateKind))
async def test_the_agent_is_told(server: Running, office: str, computer: Make, agent: Agents, kind: UpdateKind) -> None:
    client = computer(Scripted(), server.url, office)
    await client.connect()
    listening = await agent(server.url, office)
    await client.emit_update(kind)
    assert await listening.next() == (f"notify:update_{kind}", {"computer": "c"})


async def test_without_a_seat_nothing_is_told(ready: Running, office: str, computer: Make) -> None:
    client = computer(Scripted(), ready.url)
    with pytest.raises(NotInOffice):
        await client.emit_update("config")
    await client.connect()
    with pytest.raises(NotInOffice):
        await client.emit_update("config")
    await client.join(office)
    await client.emit_update("config")


async def test_a_kind_that_is_not_there_is_told(ready: Running, computer: Make) -> None:
    with pytest.raises(BadRequest, match="config, tool_list, desktop, finder"):
        await computer(Scripted(), ready.url).emit_update("weather")  # type: ignore[arg-type]


async def test_an_update_that_a_broken_line_may_have_swallowed_counts_as_not_told(
    ready: Running, office: str, computer: Make
) -> None:
    async with Proxy(ready.url) as proxy:
        client = computer(Scripted(), proxy.url, office)
        await client.connect()
        proxy.silence()
        telling = asyncio.create_task(client.emit_update("tool_list"))
        await asyncio.sleep(0)
        proxy.forsake()
        with pytest.raises(NotInOffice, match="on its way"):
            await telling


@pytest.mark.rule("6.6")
async def test_what_changed_while_the_line_was_cut_is_told_when_it_is_back(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    listening = await agent(ready.url, office)
    watch = Watch()
    async with Proxy(ready.url) as proxy:

        async def emit(kind: UpdateKind) -> None:
            await client.emit_update(kind)

        pushes: Debouncer[UpdateKind] = Debouncer(emit, held=True)
        client = computer(
            Scripted(),
            proxy.url,
            office,
            on_status=watch,
            on_joined=lambda _: pushes.release(),
            on_lost=pushes.hold,
        )
        await client.connect()
        watch.forget()
        proxy.cut()
        await watch.until(ConnectionState.WAITING)
        for _ in range(5):
            pushes.trigger("finder")
        assert pushes.pending == {"finder"}
        proxy.mend()
        await watch.until(ConnectionState.JOINED)
        entered, left = ({"office_id": office, "computer": "c"},) * 2
        assert [await listening.next() for _ in range(4)] == [
            ("notify:enter_office", entered),
            ("notify:leave_office", left),
            ("notify:enter_office", entered),
            ("notify:update_finder", {"computer": "c"}),
        ]
        await pushes.close()


async def test_a_callback_may_tell_as_soon_as_the_seat_is_taken(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    listening = await agent(ready.url, office)

    async def tell(_: str) -> None:
        await client.emit_update("desktop")

    client = computer(Scripted(), ready.url, office, on_joined=tell)
    await client.connect()
    assert await listening.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    assert await listening.next() == ("notify:update_desktop", {"computer": "c"})


async def test_an_update_that_the_server_refuses_is_told(computer: Make) -> None:
    async with Relay() as relay:
        client = computer(Scripted(), relay.url, "o")
        await client.connect()
        relay.answers["server:update_config"] = {"error": {"code": 429, "message": "Too many"}}
        with pytest.raises(RateLimited):
            await client.emit_update("config")


async def test_a_server_that_has_lost_the_seat_is_asked_for_it_again(computer: Make) -> None:
    watch = Watch()
    async with Relay() as relay:
        client = computer(Scripted(), relay.url, "o", on_status=watch)
        await client.connect()
        watch.forget()
        relay.answers["server:update_config"] = {"error": {"code": 4103, "message": "Join an office first"}}
        with pytest.raises(NotInOffice):
            await client.emit_update("config")
        await watch.until(ConnectionState.JOINED)
        assert [await relay.next("server:join_office") for _ in range(2)] == [
            {"role": "computer", "name": "c", "office_id": "o"}
        ] * 2


async def test_a_server_that_acknowledges_no_updates_counts_as_told(computer: Make) -> None:
    async with Relay(ping_interval=1, ping_timeout=2) as relay:
        client = computer(Scripted(), relay.url, "o")
        await client.connect()
        relay.answers["server:update_finder"] = relay.sio.not_handled
        async with asyncio.timeout(CAP):
            await client.emit_update("finder")
        assert await relay.next("server:update_finder") == {"computer": "c"}
