"""What an Agent knows of its office follows what happens there."""

import asyncio
import logging
import queue
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, ComputerView, OfficeEvent, OfficeEventStream, SMCPAgentClient
from a2c_smcp.errors import InternalError
from a2c_smcp.server import create_app
from a2c_smcp.server.limits import ServerLimits
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running
from tests.interaction.server.programs import serving


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": "", "params_schema": {}, "return_schema": None, "meta": {}}


async def following(events: OfficeEventStream, kind: str) -> OfficeEvent:
    """The next event of a kind; others may come before it."""
    async with asyncio.timeout(CAP):
        while True:
            event = await anext(events)
            if event.kind == kind:
                return event


async def joined(agent: Agents, url: str, office: str, **options: Any) -> AsyncSMCPAgentClient:
    client = agent(url, office, **options)
    await client.connect()
    return client


async def test_a_computer_that_enters_brings_its_tools_and_takes_them_away_again(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    client = await joined(agent, ready.url, office)
    events = client.events()
    entering = await computer(Scripted(get_tools={"tools": [tool("echo")]}), ready.url, office)
    here = {"office_id": office, "computer": "c"}
    assert await anext(events) == OfficeEvent("enter_office", "c", here)
    assert await anext(events) == OfficeEvent("update_tool_list", "c", {"tools": [tool("echo")]})
    assert dict(client.office.computers) == {"c": ComputerView("c", [tool("echo")])}  # type: ignore[list-item]
    await entering.close()
    assert await anext(events) == OfficeEvent("leave_office", "c", here)
    assert dict(client.office.computers) == {}


async def test_computers_that_are_there_already_are_known_after_joining(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    await computer(Scripted(get_tools={"tools": [tool("echo")]}), ready.url, office)
    client = agent(ready.url, office)
    events = client.events()
    await client.connect()
    assert list(client.office.computers) == ["c"]
    await asyncio.wait_for(client.settled(), CAP)
    assert client.office.computers["c"].tools == [tool("echo")]
    assert [(await anext(events)).kind for _ in range(3)] == ["connected", "joined", "update_tool_list"]


@pytest.mark.rule("7.7")
@pytest.mark.parametrize(
    ("update", "event", "aspect", "reply", "value"),
    [
        ("tool_list", "get_tools", "tools", {"tools": [tool("new")]}, [tool("new")]),
        ("desktop", "get_desktop", "desktop", {"desktops": ["w"]}, ["w"]),
        ("finder", "get_finder", "finder", {"documents": [], "total_count": 7}, {"documents": [], "total_count": 7}),
    ],
)
async def test_an_update_is_read_before_it_is_told(
    ready: Running,
    office: str,
    agent: Agents,
    computer: Computers,
    update: Any,
    event: str,
    aspect: str,
    reply: dict[str, Any],
    value: Any,
) -> None:
    answerer = Scripted(get_tools={"tools": []})
    there = await computer(answerer, ready.url, office)
    client = await joined(agent, ready.url, office)
    await client.settled()
    seen: asyncio.Queue[tuple[OfficeEvent, ComputerView]] = asyncio.Queue()
    client.on(f"update_{update}", lambda event: seen.put_nowait((event, client.office.computers["c"])))
    answerer.answers[f"client:{event}"] = reply
    await there.emit_update(update)
    told, view = await asyncio.wait_for(seen.get(), CAP)
    got = getattr(view, aspect)
    if isinstance(got, dict):
        got = {key: got[key] for key in value}
    assert got == value
    assert told.data[aspect] == getattr(view, aspect)


async def test_a_change_of_the_configuration_is_told(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    there = await computer(Scripted(get_tools={"tools": []}), ready.url, office)
    client = await joined(agent, ready.url, office)
    events = client.events()
    await there.emit_update("config")
    assert await following(events, "update_config") == OfficeEvent("update_config", "c")


async def test_a_burst_of_updates_is_read_a_few_times_and_the_last_is_never_lost(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    gate = Gate({"desktops": ["old"]})
    answerer = Scripted(get_tools={"tools": []}, get_desktop=gate)
    there = await computer(answerer, ready.url, office)
    client = await joined(agent, ready.url, office)
    await client.settled()
    answerer.asked.clear()
    events = client.events()
    for _ in range(50):
        await there.emit_update("desktop")
    await asyncio.wait_for(gate.entered.get(), CAP)
    answerer.answers["client:get_desktop"] = {"desktops": ["new"]}
    gate.open()
    assert (await following(events, "update_desktop")).data == {"desktop": ["old"]}
    assert (await following(events, "update_desktop")).data == {"desktop": ["new"]}
    assert (len(answerer.asked), client.office.computers["c"].desktop) == (2, ["new"])


async def test_what_the_user_reads_is_kept_as_well(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    answerer = Scripted(
        get_tools={"tools": []}, get_desktop={"desktops": ["w"]}, get_finder={"documents": [], "total_count": 0}
    )
    await computer(answerer, ready.url, office)
    client = await joined(agent, ready.url, office)
    await client.settled()
    await client.get_desktop("c", size=1)
    await client.get_finder("c", file_type="pdf")
    view = client.office.computers["c"]
    assert (view.desktop, view.finder) == (None, None)
    windows, found = await client.get_desktop("c"), await client.get_finder("c")
    assert client.office.computers["c"] == ComputerView("c", [], windows, found)


async def test_an_update_that_cannot_be_read_is_told_with_the_reason(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    answerer = Scripted(get_tools={"tools": [tool("echo")]})
    there = await computer(answerer, ready.url, office)
    client = await joined(agent, ready.url, office)
    await client.settled()
    events = client.events()
    answerer.answers["client:get_tools"] = InternalError("broken")
    await there.emit_update("tool_list")
    assert (await following(events, "update_tool_list")).data == {"problem": "broken"}
    assert client.office.computers["c"].tools == [tool("echo")]


async def test_a_view_that_could_not_be_read_is_read_again_until_it_can(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    answerer = Scripted(get_tools={"tools": [tool("old")]})
    there = await computer(answerer, ready.url, office)
    client = await joined(agent, ready.url, office)
    await client.settled()
    events = client.events()
    answerer.answers["client:get_tools"] = InternalError("broken")
    await there.emit_update("tool_list")
    await following(events, "update_tool_list")
    assert client.office.computers["c"].stale == {"tools"}
    await asyncio.wait_for(client.settled(), CAP)  # a view that waits for its next try is not waited for
    answerer.answers["client:get_tools"] = {"tools": [tool("new")]}
    assert (await following(events, "update_tool_list")).data == {"tools": [tool("new")]}
    view = client.office.computers["c"]
    assert (view.tools, view.stale) == ([tool("new")], frozenset())


async def test_an_office_of_more_computers_than_requests_in_flight_is_read_in_turns(
    office: str, agent: Agents, computer: Computers
) -> None:
    limits = ServerLimits(in_flight=4, joins_per_second=1_000)
    async with serving(create_app(limits=limits)) as server:
        names = [f"c{number}" for number in range(30)]
        for name in names:
            await computer(Scripted(get_tools={"tools": [tool(name)]}), server.url, office, name)
        client = agent(server.url, office)
        events = client.events()
        await client.connect()
        await asyncio.wait_for(client.settled(), CAP)
        told = []
        while (event := events.take()) is not None:
            told.append(event)
        assert [event.data for event in told if "problem" in event.data] == []
        assert {name: view.tools for name, view in client.office.computers.items()} == {n: [tool(n)] for n in names}
        await client.close()


async def test_what_happened_while_the_line_was_cut_is_found_out(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    answerer = Scripted(get_tools={"tools": []}, get_desktop={"desktops": ["before"]})
    await computer(answerer, ready.url, office, "stays")
    goes = await computer(answerer, ready.url, office, "goes")
    async with Proxy(ready.url) as proxy:
        client = await joined(agent, proxy.url, office)
        await client.settled()
        await client.get_desktop("stays")
        events = client.events()
        proxy.cut()
        await following(events, "disconnected")
        await goes.close()
        await computer(answerer, ready.url, office, "comes")
        answerer.answers["client:get_desktop"] = {"desktops": ["after"]}
        proxy.mend()
        assert (await following(events, "joined")).data == {"office_id": office, "computers": ["comes", "stays"]}
        assert [(event.kind, event.computer) for event in (await anext(events), await anext(events))] == [
            ("leave_office", "goes"),
            ("enter_office", "comes"),
        ]
        await asyncio.wait_for(client.settled(), CAP)
        assert client.office.computers["stays"].desktop == ["after"]
        assert client.office.computers["comes"].tools == []


async def test_without_keeping_the_office_notifications_are_only_told(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    client = await joined(agent, ready.url, office, live=False)
    events = client.events()
    answerer = Scripted()
    there = await computer(answerer, ready.url, office)
    await there.emit_update("tool_list")
    assert [(await anext(events)).kind for _ in range(2)] == ["enter_office", "update_tool_list"]
    assert (answerer.asked, dict(client.office.computers)) == ([], {})


async def test_a_handler_that_fails_hurts_nobody(
    ready: Running, office: str, agent: Agents, computer: Computers, caplog: pytest.LogCaptureFixture
) -> None:
    client = agent(ready.url, office)
    heard: asyncio.Queue[str] = asyncio.Queue()

    def fail(_: OfficeEvent) -> None:
        raise LookupError("oops")

    async def fail_later(_: OfficeEvent) -> None:
        raise LookupError("oops")

    async def hear(event: OfficeEvent) -> None:
        heard.put_nowait(event.kind)

    for handler in (fail, fail_later, hear):
        client.on("*", handler)
    with caplog.at_level(logging.CRITICAL):
        await client.connect()
    assert [await asyncio.wait_for(heard.get(), CAP) for _ in range(2)] == ["connected", "joined"]
    assert await client.list_room()


async def test_notifications_that_make_no_sense_are_ignored(agent: Agents) -> None:
    async with Relay() as relay:
        relay.answers |= {"server:list_room": {"sessions": [], "req_id": "r"}, "client:get_tools": {"tools": 1}}
        client = await joined(agent, relay.url, "o")
        events = client.events()
        senseless: list[Any] = [None, 7, [], {}, {"computer": 7}, {"computer": None}]
        for payload in senseless:
            await relay.tell("notify:update_tool_list", payload)
        await relay.tell("notify:something_new", {"computer": "c"})
        await relay.tell("notify:update_config", {"computer": "c"})
        assert await anext(events) == OfficeEvent("update_config", "c")


async def test_a_computer_that_was_never_seen_to_enter_is_known_once_it_is_heard_of(agent: Agents) -> None:
    async with Relay() as relay:  # which answers no list_room
        relay.answers["client:get_desktop"] = {"desktops": ["w"]}
        client = await joined(agent, relay.url, "o")
        events = client.events()
        await relay.tell("notify:update_desktop", {"computer": "c"})
        assert await anext(events) == OfficeEvent("update_desktop", "c", {"desktop": ["w"]})
        assert client.office.computers["c"].desktop == ["w"]


async def test_a_class_derived_from_the_client_is_told_of_a_changed_finder(
    ready: Running, office: str, computer: Computers
) -> None:
    answerer = Scripted(get_tools={"tools": []}, get_finder={"documents": [], "total_count": 7})
    there = await computer(answerer, ready.url, office)
    told: asyncio.Queue[tuple[str, int]] = asyncio.Queue()

    class Follower(AsyncSMCPAgentClient):
        async def _on_finder_changed(self, computer: str, finder: Any) -> None:
            await told.put((computer, finder["total_count"]))

    async with Follower(ready.url, name="a", office_id=office) as client:
        await client.settled()
        await there.emit_update("finder")
        assert await asyncio.wait_for(told.get(), CAP) == ("c", 7)


async def test_a_class_derived_from_the_blocking_client_is_told_of_a_changed_finder(
    ready: Running, office: str, computer: Computers
) -> None:
    answerer = Scripted(get_tools={"tools": []}, get_finder={"documents": [], "total_count": 7})
    there = await computer(answerer, ready.url, office)
    told: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()

    class Follower(SMCPAgentClient):
        def _on_finder_changed(self, computer: str, finder: Any) -> None:
            told.put((computer, finder["total_count"]))

    client = Follower(ready.url, name="a", office_id=office)
    await asyncio.to_thread(client.connect)
    try:
        await there.emit_update("finder")
        assert await asyncio.to_thread(told.get, timeout=CAP) == ("c", 7)
    finally:
        await asyncio.to_thread(client.close)
