"""A Redis that hangs, dies or forgets: what was local goes on, and everything comes right again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.registry.redis_connection import RedisConnection, connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.conftest import MakeNodes
from tests.interaction.server.cluster.steps import away, joined_client, listed, ready, until
from tests.interaction.server.conftest import Connect

FAST = {"lease_seconds": 3.0, "deadline": 2.0}
PATIENT = {"lease_seconds": 12.0, "deadline": 2.0}
AWAY = "500: The registry cannot be reached; try again"


@pytest.fixture
async def admin(redis: RedisServer) -> AsyncIterator[Callable[[], Awaitable[RedisConnection]]]:
    connections: list[RedisConnection] = []

    async def connect() -> RedisConnection:
        connections.append(await connect_redis(parse_endpoint(redis.url), CAP, lambda _: None, name="admin"))
        return connections[-1]

    yield connect
    for connection in connections:
        connection.fail("done")


# A Redis that hangs


async def test_local_traffic_goes_on_while_redis_hangs(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, lease_seconds=600)
    agent = await joined_client(connect, here, "agent", "a", office)
    near = await joined_client(connect, here, "computer", "near", office)
    leaver = await joined_client(connect, here, "computer", "leaver", office)
    await joined_client(connect, there, "computer", "far", office)
    for _ in range(3):
        await agent.next()
    redis.pause()

    async with asyncio.timeout(CAP / 2):  # nothing of this waits for Redis
        assert await agent.tool("near") == {"from": "near"}
        await near.emit("server:update_tool_list", {"computer": "near"})
        assert await agent.next() == ("notify:update_tool_list", {"computer": "near"})
        await leaver.close()
        assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "leaver"})

    redis.resume()
    await until(ready(here, there))


@pytest.mark.rule("1.3.names")
async def test_who_leaves_is_answered_when_the_name_is_free_for_every_node(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, lease_seconds=90.0)
    agent = await joined_client(connect, here, "agent", "a", office)
    leaver = await joined_client(connect, here, "computer", "c", office)
    await agent.next()
    follower = await connect(there)
    redis.pause()
    leaving = asyncio.create_task(leaver.call("server:leave_office", {"office_id": office}))
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    assert await agent.call("server:update_config", {"computer": "c"})  # refused; what matters is that it came later
    assert not leaving.done()
    redis.resume()
    assert await leaving == (True, None)
    assert await follower.join("computer", "c", office) == (True, None)


@pytest.mark.rule("1.3.names")
async def test_who_leaves_while_redis_is_away_is_answered_all_the_same(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, _ = await nodes(2, redis, **FAST)
    leaver = await joined_client(connect, here, "computer", "c", office)
    redis.pause()
    assert await leaver.call("server:leave_office", {"office_id": office}) == (True, None)


async def test_what_needs_a_hung_redis_fails_quickly_and_readiness_says_why(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, there, "computer", "far", office)
    await agent.next()
    newcomer = await connect(here)
    redis.pause()
    started = asyncio.get_running_loop().time()
    assert await newcomer.join("computer", "new", office) == (False, AWAY)
    assert (await agent.call("server:list_room", {"agent": "a", "req_id": "l", "office_id": office}))["error"][
        "code"
    ] == 500
    assert asyncio.get_running_loop().time() - started < CAP / 2
    await until(away(here, there))
    problem = here.registry.problem()
    assert problem is not None
    assert problem.startswith("the registry cannot be reached: no reply")


async def test_when_a_hung_redis_goes_on_every_computer_is_where_it_was(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    # By the time a node notices that Redis hangs, every lease is over: the Agent is disconnected and comes back.
    here, there = await nodes(2, redis, lease_seconds=1.5, deadline=2.0)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, there, "computer", "far", office)
    leaver = await joined_client(connect, there, "computer", "leaver", office)
    for _ in range(2):
        await agent.next()
    redis.pause()
    await until(away(here, there))
    await leaver.close()
    late = await connect(there)
    assert await late.join("computer", "late", office) == (False, AWAY)
    await asyncio.wait_for(agent.gone.wait(), CAP)
    redis.resume()
    await until(ready(here, there))
    agent = await joined_client(connect, here, "agent", "a", office)
    assert await agent.tool("far") == {"from": "far"}
    assert await late.join("computer", "late", office) == (True, None)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "late"})
    assert await listed(agent, office) == [("agent", "a"), ("computer", "far"), ("computer", "late")]


# A Redis that dies or forgets


async def test_a_request_under_way_gets_its_answer_when_redis_is_back(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    computer = await joined_client(connect, there, "computer", "c", office)
    await agent.next()
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_: str, __: object) -> object:
        asked.set()
        await may_answer.wait()
        return {"from": "c", "large": "x" * 200_000}

    computer.answers["*"] = answer
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asyncio.wait_for(asked.wait(), CAP)
    redis.kill()
    await until(away(here, there))
    may_answer.set()
    redis.start()
    assert (await asyncio.wait_for(call, CAP))["from"] == "c"


async def test_a_request_to_another_node_that_begins_while_redis_is_away_waits_for_it(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, there, "computer", "far", office)
    await agent.next()
    redis.kill()
    await until(away(here, there))
    call = asyncio.create_task(agent.tool("far", timeout=60))
    await agent.call("server:update_config", {"computer": "far"})  # refused; the call has been taken before
    assert not call.done()
    redis.start()
    assert await asyncio.wait_for(call, CAP) == {"from": "far"}


async def test_a_request_whose_time_is_over_before_redis_is_back_says_why(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, limits=ServerLimits(timeout_margin=0.1, joins_per_second=1_000), **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, there, "computer", "far", office)
    redis.kill()
    await until(away(here, there))
    started = asyncio.get_running_loop().time()
    reply = await agent.tool("far", timeout=1)
    assert asyncio.get_running_loop().time() - started >= 1
    assert reply["error"]["message"] == "The registry cannot be reached; try again"


async def test_nodes_register_again_with_a_redis_that_comes_back_empty(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    near = await joined_client(connect, here, "computer", "near", office)
    await joined_client(connect, there, "computer", "far", office)
    for _ in range(2):
        await agent.next()
    redis.kill()
    await until(away(here, there))
    assert await agent.tool("near") == {"from": "near"}
    newcomer = await connect(there)
    assert await newcomer.join("computer", "new", office) == (False, AWAY)
    redis.start()
    await until(ready(here, there))
    assert await listed(agent, office) == [("agent", "a"), ("computer", "far"), ("computer", "near")]
    assert await agent.tool("far") == {"from": "far"}
    assert await newcomer.join("computer", "far", office) == (
        False,
        "403: The computer name 'far' is taken in this office; choose another name",
    )
    await near.call("server:update_config", {"computer": "near"})
    assert await agent.next() == ("notify:update_config", {"computer": "near"})  # nobody was told of a coming or going


@pytest.mark.parametrize("how", ["FLUSHALL", "SCRIPT FLUSH"])
async def test_nodes_notice_that_redis_was_emptied_under_them(
    nodes: MakeNodes,
    redis: RedisServer,
    connect: Connect,
    office: str,
    admin: Callable[[], Awaitable[RedisConnection]],
    how: str,
) -> None:
    here, there = await nodes(2, redis, **FAST)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, there, "computer", "c", office)
    await agent.next()
    await (await admin()).ask(*how.split())

    async def registered() -> bool:
        return await listed(agent, office) == [("agent", "a"), ("computer", "c")] and ready(here, there)()

    await until(registered)
    assert await agent.tool("c") == {"from": "c"}
    newcomer = await connect(here)
    assert (await newcomer.join("computer", "c", office))[0] is False


async def test_a_join_right_after_redis_was_emptied_does_not_take_a_local_name(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str, admin: Callable[[], Awaitable[RedisConnection]]
) -> None:
    (node,) = await nodes(1, redis, lease_seconds=2.0)
    await joined_client(connect, node, "agent", "a", office)
    await (await admin()).ask("FLUSHALL")
    newcomer = await connect(node)
    accepted, why = await newcomer.join("agent", "b", office)
    assert (accepted, why[:6]) == (False, "4101: ")
    other = await joined_client(connect, node, "computer", "c", office)
    assert await other.call("server:leave_office", {"office_id": office}) == (True, None)


async def test_whoever_lost_its_name_while_redis_was_away_is_hung_up(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, prefix="p", **FAST)
    agent = await joined_client(connect, here, "agent", "a", office)
    loser = await joined_client(connect, there, "computer", "c", office)
    await agent.next()
    there.registry._endpoint = parse_endpoint(f"unix://{redis.folder}/nowhere.sock")
    session = there.registry._session
    assert session is not None
    session.connection.fail("the network is cut")
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
    await joined_client(connect, here, "computer", "c", office)
    await agent.next()
    there.registry._endpoint = parse_endpoint(redis.url)
    await asyncio.wait_for(loser.gone.wait(), CAP)
    await until(ready(there))
    again = await connect(there)
    assert (await again.join("computer", "c", office))[0] is False
    assert await agent.tool("c") == {"from": "c"}


async def test_a_node_cut_off_alone_learns_what_it_missed(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, prefix="p", **PATIENT)
    agent = await joined_client(connect, here, "agent", "a", office)
    goer = await joined_client(connect, there, "computer", "goer", office)
    await agent.next()
    here.registry._endpoint = parse_endpoint(f"unix://{redis.folder}/nowhere.sock")
    session = here.registry._session
    assert session is not None
    session.connection.fail("the network is cut")
    await until(away(here))
    await goer.close()
    await joined_client(connect, there, "computer", "comer", office)
    here.registry._endpoint = parse_endpoint(redis.url)
    assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "comer"})
    assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "goer"})
    assert await agent.tool("comer") == {"from": "comer"}


async def test_a_node_starts_without_redis_and_is_ready_when_it_comes(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    redis.kill()
    (node,) = await nodes(1, redis, **FAST)
    assert node.registry.problem() == "the registry cannot be reached: connection refused"
    agent = await connect(node)
    assert await agent.join("agent", "a", office) == (False, AWAY)
    redis.start()
    await until(ready(node))
    assert await agent.join("agent", "a", office) == (True, None)
