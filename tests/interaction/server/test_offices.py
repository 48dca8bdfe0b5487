"""Offices on live sockets, with every kind of server."""

import asyncio
from typing import Any

import pytest

from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Connect, Running


async def joined_client(connect: Connect, server: Running, role: str, name: str, office: str) -> Client:
    client = await connect(server)
    assert await client.join(role, name, office) == (True, None)
    return client


async def listed(agent: Client, office: str) -> list[tuple[str, str]]:
    reply = await agent.call("server:list_room", {"agent": agent.name, "req_id": "l", "office_id": office})
    assert reply["req_id"] == "l"
    return [(session["role"], session["name"]) for session in reply["sessions"]]


@pytest.mark.rule("2.join", "2.notify")
async def test_joining_tells_the_office_and_not_the_joiner(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    await computer.hears_nothing_before(listed(agent, office))


@pytest.mark.rule("1.3.agent", "2.join")
async def test_a_second_agent_is_refused_and_hears_nothing(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    second = await connect(server)
    accepted, why = await second.join("agent", "b", office)
    assert (accepted, why[:6]) == (False, "4101: ")
    computer = await joined_client(connect, server, "computer", "c", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    await computer.call("server:update_tool_list", {"computer": "c"})
    assert await agent.next() == ("notify:update_tool_list", {"computer": "c"})
    await second.hears_nothing_before(listed(agent, office))


@pytest.mark.rule("1.3.names")
async def test_a_computer_name_is_given_once_and_freed_by_leaving(
    server: Running, connect: Connect, office: str
) -> None:
    first = await joined_client(connect, server, "computer", "c", office)
    second = await connect(server)
    accepted, why = await second.join("computer", "c", office)
    assert (accepted, why[:5]) == (False, "403: ")
    assert await first.call("server:leave_office", {"office_id": office}) == (True, None)
    assert await second.join("computer", "c", office) == (True, None)


@pytest.mark.rule("1.3.rejoin")
async def test_joining_again_changes_nothing_and_tells_nobody(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    await agent.next()
    assert await computer.join("computer", "c", office) == (True, None)
    assert await agent.join("agent", "a", office) == (True, None)
    await agent.hears_nothing_before(listed(agent, office))


@pytest.mark.rule("1.3.move", "2.notify")
async def test_a_computer_that_moves_leaves_its_first_office(server: Running, connect: Connect, office: str) -> None:
    here = await joined_client(connect, server, "agent", "a", office)
    there = await joined_client(connect, server, "agent", "a", office + "2")
    computer = await joined_client(connect, server, "computer", "c", office)
    await here.next()
    assert await computer.join("computer", "c", office + "2") == (True, None)
    assert await here.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    assert await there.next() == ("notify:enter_office", {"office_id": office + "2", "computer": "c"})
    assert await listed(here, office) == [("agent", "a")]


async def test_a_move_that_is_refused_keeps_the_old_name(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    await joined_client(connect, server, "computer", "c", office + "2")
    await agent.next()
    assert (await computer.join("computer", "c", office + "2"))[0] is False
    assert await listed(agent, office) == [("agent", "a"), ("computer", "c")]


@pytest.mark.rule("1.5")
async def test_a_seated_connection_cannot_change_its_role_or_name(
    server: Running, connect: Connect, office: str
) -> None:
    computer = await joined_client(connect, server, "computer", "c", office)
    for role, name in (("agent", "c"), ("computer", "d")):
        accepted, why = await computer.join(role, name, office)
        assert (accepted, why[:5]) == (False, "403: ")


@pytest.mark.rule("2.join")
@pytest.mark.parametrize(("wrong", "code"), [("elsewhere", "4104"), (None, "4103")])
async def test_leaving_an_office_one_is_not_in_is_refused(
    server: Running, connect: Connect, office: str, wrong: str | None, code: str
) -> None:
    client = await connect(server)
    if wrong:
        await client.join("computer", "c", office)
    accepted, why = await client.call("server:leave_office", {"office_id": wrong or office})
    assert (accepted, why[:4]) == (False, code)


@pytest.mark.rule("1.6.told", "1.3.names")
async def test_disconnecting_is_leaving_and_frees_the_name_at_once(
    server: Running, connect: Connect, office: str
) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    await agent.next()
    await computer.close()
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    again = await connect(server)
    assert await again.join("computer", "c", office) == (True, None)


@pytest.mark.rule("1.6.told", "2.notify")
async def test_computers_are_told_when_their_agent_comes_and_goes(
    server: Running, connect: Connect, office: str
) -> None:
    computer = await joined_client(connect, server, "computer", "c", office)
    agent = await joined_client(connect, server, "agent", "a", office)
    assert await computer.next() == ("notify:enter_office", {"office_id": office, "agent": "a"})
    await agent.call("server:leave_office", {"office_id": office})
    assert await computer.next() == ("notify:leave_office", {"office_id": office, "agent": "a"})


@pytest.mark.rule("1.4.notify")
async def test_listing_shows_the_own_office_only(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    for name in ("c2", "c1"):
        await joined_client(connect, server, "computer", name, office)
    await joined_client(connect, server, "computer", "other", office + "2")
    assert await listed(agent, office) == [("agent", "a"), ("computer", "c1"), ("computer", "c2")]


@pytest.mark.rule("1.4.payload")
@pytest.mark.parametrize("exists", [True, False])
async def test_naming_another_office_is_4104_whether_it_exists_or_not(
    server: Running, connect: Connect, office: str, exists: bool
) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    if exists:
        await joined_client(connect, server, "computer", "c", office + "2")
    reply = await agent.call("server:list_room", {"agent": "a", "req_id": "l", "office_id": office + "2"})
    assert (reply["error"]["code"], reply["code"], "req_id" in reply) == (4104, 4104, False)


@pytest.mark.rule("2.notify")
@pytest.mark.parametrize("what", ["config", "tool_list", "desktop", "finder", "something_newer"])
async def test_updates_reach_the_office_without_their_sender(
    server: Running, connect: Connect, office: str, what: str
) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    other = await joined_client(connect, server, "computer", "d", office)
    assert (await agent.next(), await agent.next(), await computer.next()) == (
        ("notify:enter_office", {"office_id": office, "computer": "c"}),
        ("notify:enter_office", {"office_id": office, "computer": "d"}),
        ("notify:enter_office", {"office_id": office, "computer": "d"}),
    )
    await computer.emit(f"server:update_{what}", {"computer": "c", "secret": "not passed on"})
    for member in (agent, other):
        assert await member.next() == (f"notify:update_{what}", {"computer": "c"})
    await computer.hears_nothing_before(listed(agent, office))


async def test_the_progress_of_a_call_reaches_the_agent_that_made_it_alone(
    server: Running, connect: Connect, office: str
) -> None:
    other = await joined_client(connect, server, "computer", "d", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    agent = await joined_client(connect, server, "agent", "a", office)
    assert [(await other.next())[0] for _ in range(2)] == ["notify:enter_office"] * 2
    report = {"agent": "a", "req_id": "r-9", "computer": "c", "progress": 1, "total": 2, "message": "half"}
    await computer.emit("server:update_progress", report | {"agent": "one who sat there before"})
    await computer.emit("server:update_progress", report | {"secret": "not passed on"})
    assert await agent.next() == ("notify:update_progress", report)
    await other.hears_nothing_before(listed(agent, office))


@pytest.mark.rule("2.notify")
async def test_cancelling_reaches_the_computers(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    computer = await joined_client(connect, server, "computer", "c", office)
    await agent.emit("server:tool_call_cancel", {"agent": "a", "req_id": "r-9"})
    assert await computer.next() == ("notify:tool_call_cancel", {"agent": "a", "req_id": "r-9"})


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    ("role", "event", "claimed"),
    [
        ("computer", "server:update_config", {"computer": "w"}),
        ("computer", "server:update_tool_list", {"computer": "other"}),
        ("computer", "server:update_something_newer", {"computer": "other"}),
        ("computer", "server:update_progress", {"computer": "w", "agent": "w", "req_id": "r", "progress": 1}),
        ("agent", "server:tool_call_cancel", {"agent": "other", "req_id": "r"}),
    ],
)
async def test_a_notification_in_another_name_is_passed_on_under_the_joined_name(
    server: Running, connect: Connect, office: str, role: str, event: str, claimed: dict[str, Any]
) -> None:
    client = await joined_client(connect, server, role, "me", office)
    witness = await joined_client(connect, server, "agent" if role == "computer" else "computer", "w", office)
    assert await client.call(event, claimed) is None
    assert await witness.next() == (event.replace("server:", "notify:"), claimed | {role: "me"})


@pytest.mark.rule("1.5")
async def test_an_agent_lists_its_office_under_any_name(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    agent.name = "an id of its own"
    assert await listed(agent, office) == [("agent", "a")]


@pytest.mark.parametrize(
    ("role", "event", "payload"),
    [
        ("agent", "server:update_config", {"computer": "me"}),
        ("computer", "server:list_room", {"agent": "me", "req_id": "r", "office_id": "o"}),
        ("computer", "server:tool_call_cancel", {"agent": "me", "req_id": "r"}),
    ],
)
async def test_an_event_of_the_other_role_is_refused(
    server: Running, connect: Connect, office: str, role: str, event: str, payload: dict[str, Any]
) -> None:
    client = await joined_client(connect, server, role, "me", office)
    witness = await joined_client(connect, server, "agent" if role == "computer" else "computer", "w", office)
    reply = await client.call(event, payload)
    assert reply["error"]["code"] == 403
    again = client.join(role, "me", office)
    await witness.hears_nothing_before(again)


async def test_before_joining_only_joining_is_answered(server: Running, connect: Connect) -> None:
    client = await connect(server)
    reply = await client.call("server:update_config", {"computer": "c"})
    assert reply["error"]["code"] == 4103


@pytest.mark.rule("1.4.notify")
async def test_an_office_named_like_a_connection_hears_nothing_of_it(
    server: Running, connect: Connect, office: str
) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    reply = await agent.call("server:list_room", {"agent": "a", "req_id": "l", "office_id": office})
    victim = reply["sessions"][0]["sid"]
    spy = await joined_client(connect, server, "computer", "spy", victim)
    await joined_client(connect, server, "computer", "c", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    await spy.hears_nothing_before(listed(agent, office))


async def test_events_named_like_the_libraries_own_do_no_harm(server: Running, connect: Connect, office: str) -> None:
    agent = await joined_client(connect, server, "agent", "a", office)
    for name in ("disconnect", "connect", "notify:leave_office", "message", "*", ""):
        reply = await agent.call(name, {"office_id": office})
        assert reply is None or reply["error"]["code"] == 400, name
    assert await listed(agent, office) == [("agent", "a")]


async def test_of_racing_agents_one_wins(server: Running, connect: Connect, office: str) -> None:
    clients = await asyncio.gather(*(connect(server) for _ in range(10)))
    answers = await asyncio.gather(*(c.join("agent", f"a{i}", office) for i, c in enumerate(clients)))
    assert sorted(accepted for accepted, _ in answers) == [False] * 9 + [True]


async def test_what_follows_a_join_without_waiting_finds_the_name(
    server: Running, connect: Connect, office: str
) -> None:
    agent = await connect(server)
    await agent.emit("server:join_office", {"role": "agent", "name": "a", "office_id": office})
    agent.name = "a"
    assert await listed(agent, office) == [("agent", "a")]
