"""Offices that reach over several nodes: they look like those of a single server."""

import asyncio
from typing import Any

import pytest

from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import Client
from tests.interaction.server.cluster.conftest import MakeNodes
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.cluster.steps import joined_client, listed
from tests.interaction.server.conftest import Connect


async def sessions(agent: Client, office: str) -> list[dict[str, Any]]:
    reply = await agent.call("server:list_room", {"agent": agent.name, "req_id": "l", "office_id": office})
    return list(reply["sessions"])


@pytest.mark.rule("2.join", "2.notify")
async def test_members_on_other_nodes_are_told_of_a_joiner(pair: list[Node], connect: Connect, office: str) -> None:
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    near = await joined_client(connect, pair[0], "computer", "near", office)
    far = await joined_client(connect, pair[1], "computer", "far", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "near"})
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "far"})
    assert await near.next() == ("notify:enter_office", {"office_id": office, "computer": "far"})
    await far.hears_nothing_before(listed(agent, office))


async def test_a_listing_shows_the_members_of_all_nodes(pair: list[Node], connect: Connect, office: str) -> None:
    far = await connect(pair[1], transports=["websocket"])
    await far.join("computer", "far", office)
    near = await joined_client(connect, pair[0], "computer", "near", office)
    agent = await joined_client(connect, pair[1], "agent", "a", office)
    assert await sessions(agent, office) == [
        {"sid": agent.sio.get_sid("/smcp"), "name": "a", "role": "agent", "office_id": office},
        {"sid": far.sio.get_sid("/smcp"), "name": "far", "role": "computer", "office_id": office},
        {"sid": near.sio.get_sid("/smcp"), "name": "near", "role": "computer", "office_id": office},
    ]


async def test_names_with_every_kind_of_character_reach_other_nodes(pair: list[Node], connect: Connect) -> None:
    office, name = 'a|b:c "d" {e} \\ 办公室 \U0001f600', 'pc|1 "x" \\ 电脑 \U0001f600'
    agent = await joined_client(connect, pair[0], "agent", "a|b", office)
    computer = await joined_client(connect, pair[1], "computer", name, office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": name})
    assert await listed(agent, office) == [("agent", "a|b"), ("computer", name)]
    await computer.close()
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": name})


@pytest.mark.rule("1.3.agent")
async def test_a_second_agent_is_refused_on_every_node(pair: list[Node], connect: Connect, office: str) -> None:
    await joined_client(connect, pair[0], "agent", "a", office)
    for node in pair:
        second = await connect(node)
        accepted, why = await second.join("agent", "b", office)
        assert (accepted, why[:6]) == (False, "4101: ")


@pytest.mark.rule("1.3.names")
async def test_a_computer_name_is_given_once_among_all_nodes(pair: list[Node], connect: Connect, office: str) -> None:
    first = await joined_client(connect, pair[0], "computer", "c", office)
    second = await connect(pair[1])
    accepted, why = await second.join("computer", "c", office)
    assert (accepted, why[:5]) == (False, "403: ")
    assert await first.call("server:leave_office", {"office_id": office}) == (True, None)
    assert await second.join("computer", "c", office) == (True, None)


@pytest.mark.rule("1.3.agent")
async def test_of_many_agents_that_join_at_once_on_two_nodes_one_is_seated(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agents = await asyncio.gather(*(connect(pair[number % 2]) for number in range(30)))
    answers = await asyncio.gather(*(agent.join("agent", f"a{n}", office) for n, agent in enumerate(agents)))
    assert sorted(accepted for accepted, _ in answers) == [False] * 29 + [True]


@pytest.mark.rule("1.3.rejoin")
async def test_joining_again_tells_nobody_on_other_nodes(pair: list[Node], connect: Connect, office: str) -> None:
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    await agent.next()
    assert await computer.join("computer", "c", office) == (True, None)
    await agent.hears_nothing_before(listed(agent, office))


@pytest.mark.rule("1.3.move", "2.notify")
async def test_a_computer_that_moves_leaves_its_first_office_on_every_node(
    pair: list[Node], connect: Connect, office: str
) -> None:
    here = await joined_client(connect, pair[0], "agent", "a", office)
    there = await joined_client(connect, pair[0], "agent", "a", office + "2")
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    await here.next()
    assert await computer.join("computer", "c", office + "2") == (True, None)
    assert await here.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    assert await there.next() == ("notify:enter_office", {"office_id": office + "2", "computer": "c"})
    assert await listed(here, office) == [("agent", "a")]


@pytest.mark.rule("1.6.told", "1.3.names")
async def test_disconnecting_is_told_to_other_nodes_and_frees_the_name(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    await agent.next()
    await computer.close()
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    await joined_client(connect, pair[0], "computer", "c", office)


@pytest.mark.rule("2.notify")
@pytest.mark.parametrize(
    "event", ["update_config", "update_tool_list", "update_desktop", "update_finder", "update_new"]
)
async def test_updates_reach_the_agent_on_another_node(
    pair: list[Node], connect: Connect, office: str, event: str
) -> None:
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    await agent.next()
    await computer.emit(f"server:{event}", {"computer": "c"})
    assert await agent.next() == (f"notify:{event}", {"computer": "c"})


async def test_progress_reaches_the_agent_on_another_node(pair: list[Node], connect: Connect, office: str) -> None:
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    assert (await computer.next())[0] == "notify:enter_office"
    report = {"agent": "a", "req_id": "r-9", "computer": "c", "progress": 1, "total": 2, "message": "half"}
    await computer.emit("server:update_progress", report)
    assert await agent.next() == ("notify:update_progress", report)


@pytest.mark.rule("2.notify")
async def test_a_cancel_reaches_computers_on_every_node(pair: list[Node], connect: Connect, office: str) -> None:
    near = await joined_client(connect, pair[0], "computer", "near", office)
    far = await joined_client(connect, pair[1], "computer", "far", office)
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    for computer in (near, far):
        while (await computer.next())[1] != {"office_id": office, "agent": "a"}:
            pass
    await agent.emit("server:tool_call_cancel", {"agent": "a", "req_id": "r-7"})
    for computer in (near, far):
        assert await computer.next() == ("notify:tool_call_cancel", {"agent": "a", "req_id": "r-7"})


@pytest.mark.rule("1.4.notify")
async def test_nothing_of_another_office_is_heard_on_any_node(pair: list[Node], connect: Connect, office: str) -> None:
    agent = await joined_client(connect, pair[0], "agent", "a", office)
    others = [await joined_client(connect, node, "agent", f"b{node.port}", f"{office} {node.port}") for node in pair]
    computer = await joined_client(connect, pair[1], "computer", "c", office)
    await computer.call("server:update_tool_list", {"computer": "c"})
    await computer.close()
    for _ in range(3):
        await agent.next()
    for node, other in zip(pair, others, strict=True):
        await other.hears_nothing_before(listed(other, f"{office} {node.port}"))


async def test_a_single_node_of_a_cluster_serves_alone(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str
) -> None:
    (node,) = await nodes(1, shared_redis)
    agent = await joined_client(connect, node, "agent", "a", office)
    computer = await joined_client(connect, node, "computer", "c", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    await computer.call("server:leave_office", {"office_id": office})
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})


@pytest.mark.rule("1.6.told")
async def test_a_node_that_stops_gives_up_its_names_at_once(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, shared_redis, lease_seconds=60)
    agent = await joined_client(connect, here, "agent", "a", office)
    for name in ("c1", "c2"):
        await joined_client(connect, there, "computer", name, office)
        await agent.next()
    await there.stop()
    told = sorted([await agent.next(), await agent.next()], key=str)
    assert told == [("notify:leave_office", {"office_id": office, "computer": name}) for name in ("c1", "c2")]
    await agent.hears_nothing_before(listed(agent, office))
    assert await listed(agent, office) == [("agent", "a")]
    await joined_client(connect, here, "computer", "c1", office)
