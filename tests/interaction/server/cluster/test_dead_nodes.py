"""Nodes that die or stand still: their seats are freed, their offices told, and who comes back is put right."""

import asyncio
import signal
from collections.abc import Callable

import pytest

from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.conftest import MakeNodes, NodeProcess
from tests.interaction.server.cluster.steps import Asked, answering, joined_client, listed, until
from tests.interaction.server.conftest import Connect

FAST = {"lease_seconds": 3.0}


@pytest.mark.rule("1.6.told", "1.6.inflight", "1.3.names")
async def test_a_killed_node_is_told_and_its_names_are_free_within_seconds(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    (here,) = await nodes(1, redis, prefix="p", **FAST)
    doomed = node_process(redis, prefix="p", **FAST)
    agent = await joined_client(connect, here, "agent", "a", office)
    computer = await joined_client(connect, doomed, "computer", "c", office)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    asked = computer.answers["*"] = Asked()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    doomed.process.kill()

    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    assert (await asyncio.wait_for(call, CAP))["error"]["code"] == 404
    assert await listed(agent, office) == [("agent", "a")]
    await joined_client(connect, here, "computer", "c", office)


@pytest.mark.rule("1.6.inflight")
async def test_calls_under_way_at_a_node_that_is_killed_do_not_wait_for_its_lease(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    (here,) = await nodes(1, redis, prefix="p", lease_seconds=600)
    doomed = node_process(redis, prefix="p", lease_seconds=600)
    agent = await joined_client(connect, here, "agent", "a", office)
    computer = await joined_client(connect, doomed, "computer", "c", office)
    asked = computer.answers["*"] = Asked()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    doomed.process.kill()
    reply = await asyncio.wait_for(call, CAP)
    assert (reply["error"]["code"], reply["error"]["message"]) == (404, "The computer 'c' left before it replied")


async def test_a_request_to_a_node_that_was_just_killed_fails_at_once(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    (here,) = await nodes(1, redis, prefix="p", lease_seconds=60)
    doomed = node_process(redis, prefix="p", lease_seconds=60)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, doomed, "computer", "c", office)
    await agent.next()
    doomed.process.kill()
    doomed.process.wait()

    async def refused() -> bool:
        reply = await agent.tool("c", timeout=60)
        return bool(reply["error"]["code"] == 404)

    await until(refused)


@pytest.mark.rule("1.6.told")
async def test_the_death_of_a_node_is_told_once_to_each_member_on_each_node(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    alive = await nodes(3, redis, prefix="p", **FAST)
    doomed = node_process(redis, prefix="p", **FAST)
    witnesses = [await joined_client(connect, node, "computer", f"w{n}", office) for n, node in enumerate(alive)]
    agent = await joined_client(connect, doomed, "agent", "a", office)
    for witness in witnesses:
        while (await witness.next())[1] != {"office_id": office, "agent": "a"}:
            pass
    doomed.process.kill()
    for witness in witnesses:
        assert await witness.next() == ("notify:leave_office", {"office_id": office, "agent": "a"})
    assert agent is not None
    # Whatever else would be told has been told when a member that came later is known everywhere.
    await joined_client(connect, alive[0], "agent", "b", office)
    for witness in witnesses:
        assert await witness.next() == ("notify:enter_office", {"office_id": office, "agent": "b"})


async def test_a_node_that_stood_still_comes_back_by_itself(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    (here,) = await nodes(1, redis, prefix="p", **FAST)
    sleeper = node_process(redis, prefix="p", **FAST)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, sleeper, "computer", "c", office)
    await agent.next()
    sleeper.process.send_signal(signal.SIGSTOP)
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    sleeper.process.send_signal(signal.SIGCONT)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
    assert await agent.tool("c") == {"from": "c"}


async def test_whoever_lost_its_name_while_its_node_stood_still_is_hung_up(
    nodes: MakeNodes,
    node_process: Callable[..., NodeProcess],
    redis: RedisServer,
    connect: Connect,
    office: str,
) -> None:
    (here,) = await nodes(1, redis, prefix="p", **FAST)
    sleeper = node_process(redis, prefix="p", **FAST)
    agent = await joined_client(connect, here, "agent", "a", office)
    late = await joined_client(connect, sleeper, "computer", "c", office)
    await agent.next()
    sleeper.process.send_signal(signal.SIGSTOP)
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    successor = await joined_client(connect, here, "computer", "c", office)
    successor.answers["*"] = answering({"from": "the successor"})
    await agent.next()
    sleeper.process.send_signal(signal.SIGCONT)
    await asyncio.wait_for(late.gone.wait(), CAP)
    assert await agent.tool("c") == {"from": "the successor"}
    assert await listed(agent, office) == [("agent", "a"), ("computer", "c")]
    again = await connect(sleeper)
    accepted, why = await again.join("computer", "c", office)
    assert (accepted, why[:5]) == (False, "403: ")
