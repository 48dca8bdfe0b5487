"""Whatever breaks, the Agent comes back to its seat, and nothing that was asked is lost or done twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.computer.office.transfers import PendingTransfers
from a2c_smcp.errors import NotFound, RequestTimeout
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running, run_server, stop_server

RESULT = {"content": [{"type": "text", "text": "done"}], "isError": False}


@pytest.fixture
async def nervous(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that asks often for a sign of life."""
    process, running = run_server("ready", tmp_path, ping_interval=0.5, ping_timeout=2.5)
    yield running
    stop_server(process)


async def until(client: AsyncSMCPAgentClient, kind: str, act: Callable[[], Any]) -> None:
    """Do something and wait for the event that follows."""
    events = client.events()
    act()
    async with asyncio.timeout(CAP):
        while (await anext(events)).kind != kind:
            pass


async def test_after_a_cut_line_it_joins_again(ready: Running, office: str, agent: Agents, computer: Computers) -> None:
    await computer(Scripted(tool_call=RESULT), ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office)
        await client.connect()
        await until(client, "disconnected", proxy.cut)
        assert client.office_id is None
        await until(client, "joined", proxy.mend)
        assert (await client.call_tool("c", "t"))["content"] == RESULT["content"]


async def test_a_call_under_way_when_the_line_breaks_is_asked_for_again_with_the_same_id(
    ready: Running, office: str, either: Callable[..., Any], computer: Computers
) -> None:
    gate = Gate(RESULT)
    await computer(Scripted(tool_call=gate), ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = either(proxy.url, office, live=False)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "slow"))
        first = await asyncio.wait_for(gate.entered.get(), CAP)
        proxy.cut()
        proxy.mend()
        assert await asyncio.wait_for(gate.entered.get(), CAP) == first
        gate.open()
        assert (await call)["content"] == RESULT["content"]


async def test_a_request_made_while_the_line_is_cut_waits_for_it(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    await computer(Scripted(get_desktop={"desktops": ["w"]}), ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False)
        await client.connect()
        await until(client, "disconnected", proxy.cut)
        asking = asyncio.create_task(client.get_desktop("c"))
        await until(client, "joined", proxy.mend)
        assert await asking == ["w"]


async def test_a_request_that_finds_no_connection_in_time_says_why(ready: Running, office: str, agent: Agents) -> None:
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False, timeout=3)
        await client.connect()
        await until(client, "disconnected", proxy.cut)
        with pytest.raises(RequestTimeout, match=r"client:get_tools was not sent in time: .+"):
            await client.get_tools("c")
        result = await client.call_tool("c", "t", timeout=0.01)
        assert result["isError"] is True
        assert "no connection" in result["content"][0]["text"]


async def test_after_a_restart_of_the_server_a_call_waits_for_its_computer_too(
    tmp_path: Path, agent: Agents, computer: Computers
) -> None:
    gate = Gate(RESULT)
    answerer = Scripted(tool_call=gate)
    first, running = run_server("ready", tmp_path)
    async with Proxy(running.url) as agents, Proxy(running.url) as computers:
        try:
            await computer(answerer, computers.url, "o")
            client = agent(agents.url, "o", live=False)
            await client.connect()
            call = asyncio.create_task(client.call_tool("c", "slow"))
            await asyncio.wait_for(gate.entered.get(), CAP)
            computers.cut()
        finally:
            stop_server(first)
        second, running = run_server("ready", tmp_path)
        try:
            agents.aim(running.url)
            computers.aim(running.url)
            # The Agent is back before its Computer, which is not found at first.
            await until(client, "joined", lambda: None)
            assert not call.done()
            computers.mend()
            gate.open()
            assert (await asyncio.wait_for(call, CAP))["content"] == RESULT["content"]
        finally:
            stop_server(second)
    assert len({request["req_id"] for _, request in answerer.asked}) == 1


async def test_a_computer_that_is_lost_under_a_call_and_comes_back_answers_it(
    ready: Running,
    office: str,
    either: Callable[..., Any],
    computer: Computers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("a2c_smcp.agent.retrying_requests.BRIEF_LOSS_SECONDS", CAP)
    gate = Gate(RESULT)
    answerer = Scripted(get_tools={"tools": []}, tool_call=gate)
    async with Proxy(ready.url) as proxy:
        await computer(answerer, proxy.url, office)
        client = either(ready.url, office)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "slow"))
        first = await asyncio.wait_for(gate.entered.get(), CAP)
        proxy.cut()
        proxy.mend()
        assert await asyncio.wait_for(gate.entered.get(), CAP) == first
        gate.open()
        assert (await call)["content"] == RESULT["content"]


@pytest.mark.rule("1.6.inflight")
async def test_a_computer_that_is_lost_under_a_call_and_stays_away_fails_it_soon(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    gate = Gate(RESULT)
    async with Proxy(ready.url) as proxy:
        await computer(Scripted(get_tools={"tools": []}, tool_call=gate), proxy.url, office)
        client = agent(ready.url, office)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "slow", req_id="r"))
        await asyncio.wait_for(gate.entered.get(), CAP)
        proxy.cut()
        with pytest.raises(NotFound, match="left before it replied") as lost:
            await call
        assert lost.value.req_id == "r"
        with pytest.raises(NotFound, match="No computer 'c'"):
            await client.get_tools("c")
        await until(client, "enter_office", proxy.mend)
        gate.open()
        assert (await client.call_tool("c", "slow", req_id="r"))["content"] == RESULT["content"]


async def test_a_seat_that_the_server_still_holds_is_asked_for_again(nervous: Running, agent: Agents) -> None:
    async with Proxy(nervous.url) as proxy:
        client = agent(proxy.url, "o")
        await client.connect()
        await until(client, "joined", proxy.forsake)
        assert [member["name"] for member in await client.list_room()] == ["a"]


async def test_a_seat_that_the_server_has_forgotten_is_taken_anew(agent: Agents) -> None:
    async with Relay() as relay:
        client = agent(relay.url, "o", live=False)
        await client.connect()
        await relay.next("server:join_office")
        relay.answers["client:get_desktop"] = {"error": {"code": 4103, "message": "Not in an office"}}
        asking = asyncio.create_task(client.get_desktop("c"))
        first = await relay.next("client:get_desktop")
        relay.answers["client:get_desktop"] = {"desktops": ["w"]}
        await relay.next("server:join_office")
        assert await asyncio.wait_for(asking, CAP) == ["w"]
        assert await relay.next("client:get_desktop") == first


async def test_a_large_reply_goes_on_arriving_after_the_line_was_cut(
    ready: Running, office: str, agent: Agents, computer: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x" * 3_000_000
    asked = asyncio.Event()
    give = PendingTransfers.piece

    def piece(self: PendingTransfers, agent_name: str, name: str, index: int) -> str:
        asked.set()
        return give(self, agent_name, name, index)

    monkeypatch.setattr(PendingTransfers, "piece", piece)
    answerer = Scripted(read_resource={"contents": [{"uri": "a:b", "text": text}]})
    await computer(answerer, ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False)
        await client.connect()
        reading = asyncio.create_task(client.read_contents("c", "a:b"))
        await asyncio.wait_for(asked.wait(), CAP)
        proxy.cut()
        proxy.mend()
        assert await asyncio.wait_for(reading, CAP) == [{"uri": "a:b", "text": text}]


async def test_a_tool_whose_large_result_cannot_be_fetched_is_reported_to_have_run(
    ready: Running, office: str, agent: Agents, computer: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()
    give = PendingTransfers.piece

    def piece(self: PendingTransfers, agent_name: str, name: str, index: int) -> str:
        asked.set()
        return give(self, agent_name, name, index)

    monkeypatch.setattr(PendingTransfers, "piece", piece)
    large = {"content": [{"type": "text", "text": "x" * 3_000_000}], "isError": False}
    answerer = Scripted(tool_call=large)
    await computer(answerer, ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False, timeout=2)
        await client.connect()
        calling = asyncio.create_task(client.call_tool("c", "pay", req_id="r1", timeout=CAP))
        await asyncio.wait_for(asked.wait(), CAP)
        proxy.cut()
        result = await asyncio.wait_for(calling, CAP)
        assert (result["isError"], (result["meta"] or {})["ran"]) == (True, True)
        assert "'pay' ran, but its result could not be fetched" in result["content"][0]["text"]
        proxy.mend()
        assert (await client.call_tool("c", "pay", req_id="r1", timeout=CAP))["content"] == large["content"]
    assert answerer.cancelled.empty()
    assert {request["req_id"] for event, request in answerer.asked if event == "client:tool_call"} == {"r1"}


async def test_closing_fails_what_is_under_way(ready: Running, office: str, agent: Agents, computer: Computers) -> None:
    gate = Gate({})
    await computer(Scripted(tool_call=gate), ready.url, office)
    client = agent(ready.url, office)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "slow"))
    await asyncio.wait_for(gate.entered.get(), CAP)
    await client.close()
    with pytest.raises(ConnectionError):
        await asyncio.wait_for(call, CAP)


async def test_a_closed_client_connects_again(ready: Running, office: str, agent: Agents) -> None:
    client = agent(ready.url, office)
    for _ in range(2):
        async with client:
            assert client.office_id == office
        assert client.status.state == "offline"


async def test_joining_while_the_line_is_cut_waits_for_it(ready: Running, office: str, agent: Agents) -> None:
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url)
        await client.connect()
        await until(client, "disconnected", proxy.cut)
        joining = asyncio.create_task(client.join(office))
        await asyncio.sleep(0)
        proxy.mend()
        await asyncio.wait_for(joining, CAP)
        assert client.office_id == office


async def test_joining_that_finds_no_connection_in_time_is_given_up(ready: Running, office: str, agent: Agents) -> None:
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, timeout=3)
        await client.connect()
        await until(client, "disconnected", proxy.cut)
        with pytest.raises(RequestTimeout, match="Could not join within 3 s: "):
            await client.join(f"{office}!")
        await until(client, "joined", proxy.mend)
        assert client.office_id == office


async def test_without_a_connection_nothing_is_joined(ready: Running, office: str, agent: Agents) -> None:
    with pytest.raises(ConnectionError, match="not connected"):
        await agent(ready.url).join(office)


async def test_a_large_reply_that_the_computer_has_forgotten_is_asked_for_anew(
    ready: Running, office: str, agent: Agents, computer: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x" * 1_000_000
    forgetful = True
    give = PendingTransfers.piece
    monkeypatch.setattr("a2c_smcp.agent.retrying_requests.BRIEF_LOSS_SECONDS", 2 * CAP)

    def piece(self: PendingTransfers, agent_name: str, name: str, index: int) -> str:
        nonlocal forgetful
        if forgetful:
            forgetful = False
            self.clear()
        return give(self, agent_name, name, index)

    monkeypatch.setattr(PendingTransfers, "piece", piece)
    answerer = Scripted(get_tools={"tools": []}, read_resource={"contents": [{"uri": "a:b", "text": text}]})
    await computer(answerer, ready.url, office)
    client = agent(ready.url, office)
    await client.connect()
    await client.settled()
    async with asyncio.timeout(CAP):  # it is not taken for a Computer that is lost
        assert await client.read_contents("c", "a:b") == [{"uri": "a:b", "text": text}]
    reads = [request["req_id"] for event, request in answerer.asked if event == "client:read_resource"]
    assert (len(reads), len(set(reads))) == (2, 1)


async def test_cancelling_while_the_line_is_cut_is_done_when_it_is_back(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    gate = Gate(RESULT)
    answerer = Scripted(tool_call=gate)
    await computer(answerer, ready.url, office)
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "slow", req_id="r"))
        await asyncio.wait_for(gate.entered.get(), CAP)
        await until(client, "disconnected", proxy.cut)
        call.cancel()
        await asyncio.wait([call])
        proxy.mend()
        assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")
