"""The registry alone, on a real Redis: who gets a name, who frees it, and who is notified."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from secrets import token_hex
from typing import Any

import pytest

from a2c_smcp.errors import Forbidden, InternalError, InvalidConfig, OfficeFull, SMCPError
from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.redis_connection import RedisConnection, connect_redis
from a2c_smcp.server.registry.redis_registry import RedisRegistry
from a2c_smcp.server.registry.redis_url import parse_endpoint
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.bare_nodes import OFFICE, BareNode
from tests.interaction.server.cluster.steps import until

Nodes = Callable[..., Awaitable[list[BareNode]]]


@pytest.fixture
def prefix() -> str:
    return f"test-{token_hex(4)}"


@pytest.fixture
async def bare_nodes(shared_redis: RedisServer, prefix: str) -> AsyncIterator[Nodes]:
    started: list[BareNode] = []

    async def start(number: int, **options: Any) -> list[BareNode]:
        new = [BareNode(shared_redis.url, prefix, **{"deadline": CAP} | options) for _ in range(number)]
        started.extend(new)
        for bare in new:
            await bare.registry.start(bare.router)
        return new

    yield start
    for bare in started:
        await bare.registry.stop()


@pytest.fixture
async def admin(shared_redis: RedisServer) -> AsyncIterator[RedisConnection]:
    connection = await connect_redis(parse_endpoint(shared_redis.url), CAP, lambda _: None, name="admin")
    yield connection
    connection.fail("done")


@pytest.mark.rule("1.3.agent")
async def test_of_three_hundred_joins_at_once_on_three_nodes_one_wins(bare_nodes: Nodes) -> None:
    nodes = await bare_nodes(3)

    async def join(number: int) -> bool:
        try:
            await nodes[number % 3].registry.add_member(nodes[number % 3].member("agent", f"a{number}"))
        except OfficeFull:
            return False
        return True

    assert sum(await asyncio.gather(*map(join, range(300)))) == 1


@pytest.mark.rule("1.3.names")
async def test_a_taken_name_is_refused_and_another_is_not(bare_nodes: Nodes) -> None:
    here, there = await bare_nodes(2)
    await here.join("computer", "c")
    with pytest.raises(Forbidden):
        await there.join("computer", "c")
    await there.join("computer", "d")
    await there.join("agent", "c")


@pytest.mark.rule("1.3.rejoin")
async def test_taking_again_ones_own_name_succeeds(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1)
    member = await node.join("agent", "a")
    await node.registry.add_member(member)
    assert await node.registry.members(OFFICE) == [member]


async def test_a_late_leave_never_frees_the_successors_name(bare_nodes: Nodes) -> None:
    here, there = await bare_nodes(2)
    old = await here.join("agent", "a")
    await here.registry.remove_member(old)
    await here.registry.members(OFFICE)  # Redis has done what came before
    new = await there.join("agent", "a")
    here.registry._directory.take(old, 1)
    await here.registry.remove_member(old)
    assert await here.registry.members(OFFICE) == [new]


async def test_a_leave_that_was_sent_before_the_name_was_taken_again_is_too_late(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1)
    member = await node.join("agent", "a")
    owned = node.registry._directory.remove_own(member)
    assert owned is not None
    assert node.registry._session is not None
    await node.registry.add_member(member)
    node.registry._session.release(owned)
    assert await node.registry.members(OFFICE) == [member]


async def test_members_come_agent_first_and_then_by_name_with_all_they_joined_with(bare_nodes: Nodes) -> None:
    here, there = await bare_nodes(2)
    members = [here.member("computer", "z|z"), there.member("computer", "b")]
    members += [Member(OFFICE, "agent", "a", "sid-a", there.registry.node, "0.4.0")]
    for node, member in zip((here, there, there), members, strict=True):
        await node.registry.add_member(member)
    assert await here.registry.members(OFFICE) == [members[2], members[1], members[0]]
    assert await there.registry.members("another") == []


@pytest.mark.rule("1.6.told")
async def test_a_dead_node_is_reaped_once_however_many_see_it(bare_nodes: Nodes) -> None:
    nodes = await bare_nodes(5, lease_seconds=3.0)
    witnesses = [await node.join("computer", f"w{n}") for n, node in enumerate(nodes[1:])]
    dead = [await nodes[0].join("computer", f"c{n}") for n in range(500)]
    await nodes[0].vanish()
    await until(lambda: all(len(told_leaves(node)) >= 500 for node in nodes[1:]))
    expected = sorted(member.notification()["computer"] for member in dead)
    assert [sorted(told_leaves(node)) for node in nodes[1:]] == [expected] * 4
    assert await nodes[1].registry.members(OFFICE) == witnesses


def told_leaves(node: BareNode) -> list[str]:
    return [data["computer"] for _, event, data in node.port.told if event == "notify:leave_office"]


async def test_whoever_wants_the_name_of_a_node_whose_lease_is_over_gets_it_at_once(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str
) -> None:
    here, there = await bare_nodes(2, lease_seconds=60)
    await there.join("agent", "a")
    await there.vanish()
    await admin.ask("ZADD", f"{prefix}:nodes", 1, there.registry.node)
    member = here.member("agent", "b")
    with pytest.raises(OfficeFull):  # a node that has just come judges nobody
        await here.registry.add_member(member)
    assert here.registry._session is not None
    here.registry._session._steady -= 60
    await here.registry.add_member(member)
    assert await here.registry.members(OFFICE) == [member]


async def test_a_name_that_redis_holds_and_the_node_does_not_is_freed(bare_nodes: Nodes) -> None:
    here, there = await bare_nodes(2, lease_seconds=1.0)
    witness = await there.join("agent", "a")
    await here.join("computer", "c")
    phantom = await here.join("computer", "phantom")
    here.registry._directory.remove_own(phantom)  # as if the join had been given up before Redis did it

    async def listed() -> bool:
        return [member.name for member in await there.registry.members(OFFICE)] == ["a", "c"]

    await until(listed)
    assert witness.sid in there.router.connections


async def test_a_name_that_the_node_holds_and_redis_does_not_is_taken_again(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str
) -> None:
    (node,) = await bare_nodes(1, lease_seconds=1.0)
    members = [await node.join("computer", f"c{n:03}") for n in range(300)]
    await admin.ask("DEL", f"{prefix}:n:{node.registry.node}", f"{prefix}:o:{OFFICE}", f"{prefix}:w:{OFFICE}")

    async def restored() -> bool:
        return await node.registry.members(OFFICE) == members

    await until(restored)


async def test_stopping_frees_every_name_and_leaves_nothing_behind(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str
) -> None:
    nodes = await bare_nodes(2)
    members = [nodes[0].member("computer", f"c{number}", office=f"office {number % 7}") for number in range(4_000)]
    await asyncio.gather(*(nodes[0].registry.add_member(member) for member in members))
    for node in nodes:
        await node.registry.stop()
    assert await admin.ask("KEYS", f"{prefix}:*") == []
    assert nodes[0].registry.problem() == "the node is stopped"


async def test_leaving_leaves_nothing_behind_but_lease_and_epoch(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str
) -> None:
    (node,) = await bare_nodes(1)
    await node.registry.remove_member(await node.join("agent", "a"))
    await node.registry.members(OFFICE)
    assert sorted(await admin.ask("KEYS", f"{prefix}:*")) == [f"{prefix}:nodes".encode(), f"{prefix}:state".encode()]


async def test_clusters_with_different_prefixes_do_not_see_each_other(shared_redis: RedisServer) -> None:
    one, two = BareNode(shared_redis.url, "one"), BareNode(shared_redis.url, "two")
    for bare in (one, two):
        await bare.registry.start(bare.router)
        await bare.join("agent", "a")
    assert [len(await bare.registry.members(OFFICE)) for bare in (one, two)] == [1, 1]
    for bare in (one, two):
        await bare.registry.stop()


async def test_a_message_of_another_release_is_logged_and_ignored(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    (node,) = await bare_nodes(1)
    for text in (b"\xff\xfe", b"[]", b'["hello",1]', b'["ask",1]\n{}', b'["tell","o","e","s"]\nnot json'):
        assert await admin.ask("PUBLISH", f"{prefix}:bus:{node.registry.node}", text) == 1
    await node.registry.members(OFFICE)
    assert len([record for record in caplog.records if record.levelname == "ERROR"]) == 5
    await node.join("agent", "a")


async def test_what_is_not_started_says_so_and_refuses() -> None:
    registry = RedisRegistry("redis://127.0.0.1:1")
    assert registry.problem() == "the node has not been started"
    with pytest.raises(InternalError):
        await registry.add_member(Member(OFFICE, "agent", "a", "sid", registry.node))
    await registry.stop()


@pytest.mark.parametrize(
    "options", [{"node": ""}, {"node": "a|b"}, {"node": "x" * 65}, {"lease_seconds": 0}, {"deadline": -1}]
)
def test_settings_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        RedisRegistry("redis://localhost", **options)


def test_every_start_is_a_node_of_its_own() -> None:
    one, two = RedisRegistry("redis://localhost", node="a"), RedisRegistry("redis://localhost", node="a")
    assert one.node.startswith("a-")
    assert one.node != two.node


async def test_refusals_are_errors_of_the_protocol(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1)
    await node.registry.add_member(node.member("agent", "a"))
    with pytest.raises(SMCPError) as refusal:
        await node.registry.add_member(node.member("agent", "b"))
    assert refusal.value.code == 4101


# Between two commands


async def test_an_office_that_was_forgotten_while_a_name_was_taken_is_listed_again(bare_nodes: Nodes) -> None:
    here, there = await bare_nodes(2)
    far = await there.join("computer", "far")
    last = await here.join("computer", "last")
    taking = asyncio.create_task(here.registry.add_member(here.member("agent", "a")))
    await asyncio.sleep(0)  # the command is on its way
    await here.registry.remove_member(last)
    await taking
    await here.registry.members(OFFICE)
    assert here.registry._directory.find(OFFICE, "far") == far


async def test_a_stray_name_that_is_taken_again_meanwhile_is_kept(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1, lease_seconds=60)
    member = await node.join("computer", "c")
    node.registry._directory.remove_own(member)
    session = node.registry._session
    assert session is not None
    restoring = asyncio.create_task(session.restore())
    await asyncio.sleep(0)  # what Redis holds has been asked for
    await asyncio.gather(restoring, node.registry.add_member(member))
    assert await node.registry.members(OFFICE) == [member]


async def test_many_joins_right_after_redis_forgot_everything_all_succeed(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str
) -> None:
    (node,) = await bare_nodes(1, lease_seconds=2.0)
    old = await node.join("agent", "a")
    await admin.ask("DEL", *(await admin.ask("KEYS", f"{prefix}:*")))
    members = [node.member("computer", f"c{n:02}") for n in range(50)]
    await asyncio.gather(*(node.registry.add_member(member) for member in members))
    assert await node.registry.members(OFFICE) == [old, *members]


async def test_a_join_while_the_node_registers_waits_for_it(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1)
    first = node.registry._session
    assert first is not None
    first.connection.fail("cut")
    async with asyncio.timeout(CAP):
        while node.registry._session in (None, first):
            await asyncio.sleep(0)
    assert not node.registry._ready.is_set()
    await node.join("agent", "a")


async def test_what_stands_in_redis_and_cannot_be_read_is_told_and_the_node_recovers(
    bare_nodes: Nodes, admin: RedisConnection, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    (node,) = await bare_nodes(1)
    await node.join("agent", "a")
    await admin.ask("HSET", f"{prefix}:o:{OFFICE}", "c:broken", "nonsense")
    assert node.registry._session is not None
    node.registry._session.connection.fail("cut")
    await until(lambda: node.registry.problem() == "the registry cannot be reached: ValueError")
    await admin.ask("HDEL", f"{prefix}:o:{OFFICE}", "c:broken")
    await until(lambda: node.registry.problem() is None)
    assert "registry failed" in caplog.messages


# Words for the operator


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://nowhere.invalid", "unknown host name"),
        ("redis://127.0.0.1:1", "connection refused"),
        ("unix:///nowhere/redis.sock", "no such file or directory"),
    ],
)
async def test_readiness_says_why_redis_cannot_be_reached(url: str, why: str) -> None:
    bare = BareNode(url, "a2c", deadline=CAP)
    await bare.registry.start(bare.router)
    assert bare.registry.problem() == f"the registry cannot be reached: {why}"
    await bare.registry.stop()


async def test_readiness_says_that_the_password_is_wrong(redis: RedisServer, admin: RedisConnection) -> None:
    connection = await connect_redis(parse_endpoint(redis.url), CAP, lambda _: None, name="admin")
    await connection.ask("CONFIG", "SET", "requirepass", "right")
    bare = BareNode(f"unix://:wrong@{redis.path}", "a2c")
    await bare.registry.start(bare.router)
    assert bare.registry.problem() == "the registry cannot be reached: Redis refused (WRONGPASS)"
    await bare.registry.stop()
    connection.fail("done")


async def test_a_node_stops_in_time_while_redis_hangs(redis: RedisServer) -> None:
    bare = BareNode(redis.url, "a2c", deadline=2.0)
    await bare.registry.start(bare.router)
    await bare.join("agent", "a")
    redis.pause()
    await asyncio.wait_for(bare.registry.stop(), CAP)
    assert bare.registry.problem() == "the node is stopped"


async def test_a_node_that_was_stopped_can_be_started_again(bare_nodes: Nodes) -> None:
    (node,) = await bare_nodes(1)
    await node.registry.add_member(node.member("agent", "a"))
    await node.registry.stop()
    await node.registry.start(node.router)
    member = await node.join("agent", "b")
    assert await node.registry.members(OFFICE) == [member]
