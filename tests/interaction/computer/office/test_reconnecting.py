"""Whatever breaks, the Computer comes back to its seat."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.computer.office import ConnectionState, SMCPComputerClient
from tests.interaction.computer.office.conftest import Agents
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted, Watch
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running, run_server, stop_server

Make = Callable[..., SMCPComputerClient]


@pytest.fixture
async def nervous(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that asks often for a sign of life."""
    process, running = run_server("ready", tmp_path, ping_interval=0.5, ping_timeout=2.5)
    yield running
    stop_server(process)


async def test_after_a_restart_of_the_server_it_joins_again(tmp_path: Path, computer: Make, agent: Agents) -> None:
    first, running = run_server("ready", tmp_path)
    answerer, watch = Scripted(), Watch()
    async with Proxy(running.url) as proxy:
        try:
            await computer(answerer, proxy.url, "o", on_status=watch).connect()
        finally:
            stop_server(first)
        await watch.until(ConnectionState.WAITING)
        watch.forget()
        second, running = run_server("ready", tmp_path)
        try:
            proxy.aim(running.url)
            await watch.until(ConnectionState.JOINED)
            assert await (await agent(running.url, "o")).tool("c") == {"req_id": "r-1"}
        finally:
            stop_server(second)
    assert answerer.offices == ["o"]


@pytest.mark.rule("1.6.told")
async def test_after_a_cut_line_it_joins_again(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    watcher = await agent(ready.url, office)
    watch = Watch()
    joined: list[str] = []
    lost: list[str] = []
    async with Proxy(ready.url) as proxy:
        client = computer(
            Scripted(),
            proxy.url,
            office,
            on_status=watch,
            on_joined=joined.append,
            on_lost=lambda: lost.append(office),
        )
        await client.connect()
        proxy.cut()
        status = await watch.until(lambda status: status.failures > 1)
        assert status.office_id == office
        assert (status.problem, status.advice) != (None, None)
        assert (joined, lost) == ([office], [office])
        proxy.mend()
        watch.forget()
        assert (await watch.until(ConnectionState.JOINED)).problem is None
        assert await watcher.tool("c") == {"req_id": "r-1"}
        assert joined == [office, office]
    entered, left = ({"office_id": office, "computer": "c"},) * 2
    assert [await watcher.next() for _ in range(3)] == [
        ("notify:enter_office", entered),
        ("notify:leave_office", left),
        ("notify:enter_office", entered),
    ]


async def test_a_line_that_only_falls_silent_is_noticed(nervous: Running, computer: Make, agent: Agents) -> None:
    watch = Watch()
    async with Proxy(nervous.url) as proxy:
        await computer(Scripted(), proxy.url, "o", on_status=watch).connect()
        proxy.silence()
        status = await watch.until(ConnectionState.WAITING)
        assert status.problem == "The connection was lost: no traffic from the server for 3 s"
        watch.forget()
        await watch.until(ConnectionState.JOINED)
        assert await (await agent(nervous.url, "o")).tool("c") == {"req_id": "r-1"}


async def test_a_seat_that_the_server_still_holds_for_the_old_connection_is_taken_over(
    nervous: Running, computer: Make, agent: Agents
) -> None:
    watch = Watch()
    async with Proxy(nervous.url) as proxy:
        await computer(Scripted(), proxy.url, "o", on_status=watch).connect()
        watch.forget()
        proxy.forsake()
        await watch.until(ConnectionState.WAITING)
        await watch.until(ConnectionState.JOINED)
        assert await (await agent(nervous.url, "o")).tool("c") == {"req_id": "r-1"}


async def test_after_being_thrown_out_it_joins_again(computer: Make) -> None:
    watch = Watch()
    async with Relay() as relay:
        await computer(Scripted(), relay.url, "o", on_status=watch).connect()
        watch.forget()
        await relay.kick()
        assert (await watch.until(ConnectionState.WAITING)).problem == "The connection was lost: server disconnect"
        await watch.until(ConnectionState.JOINED)
        assert await relay.ask("client:get_tools") == {"req_id": "r-1"}


async def test_without_waiting_the_first_connection_is_tried_for_ever_too(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    watch = Watch()
    async with Proxy(ready.url) as proxy:
        proxy.cut()
        await computer(Scripted(), proxy.url, office, on_status=watch).connect(wait=False)
        await watch.until(lambda status: status.failures >= 3)
        proxy.mend()
        await watch.until(ConnectionState.JOINED)
        assert await (await agent(ready.url, office)).tool("c") == {"req_id": "r-1"}


async def test_refused_credentials_are_tried_slowly_and_renewed(computer: Make) -> None:
    tokens = iter(["old", "old", "new"])
    watch = Watch()
    pauses: list[tuple[float, float]] = []

    def uniform(least: float, most: float) -> float:
        pauses.append((least, most))
        return 0.0

    async def token() -> str:
        return next(tokens)

    async with Relay() as relay:
        relay.refusal = lambda auth, _: (
            None if auth == {"token": "new"} else ("No", {"code": 401, "message": "Expired"})
        )
        client = computer(Scripted(), relay.url, "o", token=token, on_status=watch, backoff=Backoff(0.5, 30, uniform))
        await client.connect(wait=False)
        await watch.until(ConnectionState.JOINED)
        refused = next(status for status in watch.seen if status.state == "waiting")
        assert (refused.problem, refused.advice) == (
            "Expired",
            "Check the token or the API key; a new one is used at the next attempt",
        )
    assert pauses[:2] == [(1.0, 2.0), (2.0, 4.0)]


async def test_a_token_that_cannot_be_fetched_is_one_more_failure(computer: Make) -> None:
    def token() -> str:
        raise LookupError("s3cret")

    watch = Watch()
    async with Relay() as relay:
        await computer(Scripted(), relay.url, "o", token=token, on_status=watch).connect(wait=False)
        problem = (await watch.until(ConnectionState.WAITING)).problem
    assert problem == "The credential callback failed (LookupError)"


async def test_a_call_that_runs_when_the_line_is_cut_goes_on_and_can_be_asked_for_again(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    gate = Gate({"result": "kept"})
    answerer, watch = Scripted(tool_call=gate), Watch()
    asking = await agent(ready.url, office)
    async with Proxy(ready.url) as proxy:
        await computer(answerer, proxy.url, office, on_status=watch).connect()
        call = asyncio.create_task(asking.tool("c", req_id="r-7"))
        assert await asyncio.wait_for(gate.entered.get(), CAP) == "r-7"
        watch.forget()
        proxy.cut()
        assert (await call)["error"]["code"] == 404
        proxy.mend()
        await watch.until(ConnectionState.JOINED)
        # A new request has the ack number of the old one: the late answer must not reach it.
        again = asyncio.create_task(asking.tool("c", req_id="r-8"))
        assert await asyncio.wait_for(gate.entered.get(), CAP) == "r-8"
        gate.open()
        assert [await asyncio.wait_for(gate.passed.get(), CAP) for _ in range(2)] == ["r-7", "r-8"]
        assert await again == {"req_id": "r-8", "result": "kept"}
        assert await asking.tool("c", req_id="r-7") == {"req_id": "r-7", "result": "kept"}


async def test_disconnecting_ends_the_attempts(ready: Running, office: str, computer: Make) -> None:
    watch = Watch()
    async with Proxy(ready.url) as proxy:
        client = computer(Scripted(), proxy.url, office, on_status=watch)
        await client.connect()
        proxy.cut()
        await watch.until(ConnectionState.WAITING)
        await client.disconnect()
        assert client.status.state is ConnectionState.OFFLINE
        watch.forget()
        proxy.mend()
        await client.connect()
        assert watch.states == ["connecting", "connected", "joined"]


async def test_an_office_wanted_while_the_line_is_cut_is_joined_when_it_is_back(
    ready: Running, office: str, computer: Make
) -> None:
    answerer, watch = Scripted(), Watch()
    async with Proxy(ready.url) as proxy:
        client = computer(answerer, proxy.url, office, on_status=watch)
        await client.connect()
        watch.forget()
        proxy.cut()
        await watch.until(ConnectionState.WAITING)
        assert await client.join(f"{office}!") is False
        proxy.mend()
        await watch.until(ConnectionState.JOINED)
        assert client.office_id == f"{office}!"
    assert answerer.offices == [office, f"{office}!"]


async def test_callbacks_that_fail_hurt_nobody(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    def fail(*_: Any) -> None:
        raise LookupError

    async def fail_later(_: str) -> None:
        raise LookupError

    for on_joined in (fail, fail_later):
        client = computer(Scripted(), ready.url, office, on_status=fail, on_joined=on_joined, on_lost=fail)
        await client.connect()
        await client.disconnect()


async def test_a_line_that_takes_nothing_more_does_not_hold_up_the_end(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    answerer = Scripted(get_tools={"tools": ["x" * 3_000_000]})
    async with Proxy(ready.url) as proxy:
        client = computer(answerer, proxy.url, office)
        await client.connect()
        asking = await agent(ready.url, office)
        proxy.clog()
        stuck = [asyncio.create_task(asking.ask("client:get_tools", "c", req_id=f"r{n}")) for n in range(8)]
        async with asyncio.timeout(CAP):
            while len(answerer.asked) < len(stuck):
                await asyncio.sleep(0)
            await client.close()
        proxy.cut()
        assert {(await one)["error"]["code"] for one in stuck} == {404}
