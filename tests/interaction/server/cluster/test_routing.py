"""Requests to a Computer on another node: the same answers as on one node, without waiting and without detours."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.redis_connection import RedisConnection, connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.cluster.conftest import MakeNodes
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.cluster.steps import Asked, answering, until
from tests.interaction.server.conftest import Connect

RESULT = {"content": [{"type": "text", "text": 'hi 世界 \u2028 \\ " \U0001f600'}], "isError": False, "n": 1.5}


async def couple(connect: Connect, pair: list[Node], office: str) -> tuple[Client, Client]:
    """An Agent on the first node, a Computer `c` on the second."""
    agent, computer = await connect(pair[0]), await connect(pair[1])
    await agent.join("agent", "a", office)
    await computer.join("computer", "c", office)
    await agent.next()
    return agent, computer


@pytest.fixture
async def admin(shared_redis: RedisServer) -> AsyncIterator[RedisConnection]:
    connection = await connect_redis(parse_endpoint(shared_redis.url), CAP, lambda _: None, name="admin")
    yield connection
    connection.fail("done")


async def calls_of(admin: RedisConnection, command: str) -> int:
    """How many commands of a kind Redis has done so far."""
    text: str = (await admin.ask("INFO", "commandstats")).decode()
    lines = [line for line in text.splitlines() if line.startswith(f"cmdstat_{command}:calls=")]
    return int(lines[0].partition("=")[2].partition(",")[0]) if lines else 0


@pytest.mark.rule("2.1.forward")
async def test_a_request_passes_to_another_node_and_back_unchanged(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked: list[Any] = []

    async def answer(event: str, data: Any) -> Any:
        asked.append((event, data))
        return RESULT

    computer.answers["*"] = answer
    assert await agent.tool("c", text="x|y\n", nested={"deep": [1, None, True]}) == RESULT
    request = {"agent": "a", "req_id": "r-1", "computer": "c", "tool_name": "echo", "timeout": 60}
    assert asked == [("client:tool_call", request | {"params": {"text": "x|y\n", "nested": {"deep": [1, None, True]}}})]


@pytest.mark.rule("1.5")
async def test_a_request_in_another_name_reaches_another_node_under_the_joined_name(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked: list[Any] = []

    async def answer(_: str, data: Any) -> Any:
        asked.append(data["agent"])
        return RESULT

    computer.answers["*"] = answer
    agent.name = "somebody else"
    assert await agent.tool("c") == RESULT
    assert asked == ["a"]


@pytest.mark.rule("2.1.forward")
@pytest.mark.parametrize("stock", [False, True], ids=["ready", "stock"])
@pytest.mark.parametrize("event", ["client:get_tools", "client:from_the_future", 'client:with "quotes" and 中文'])
async def test_every_client_event_passes_between_nodes_of_any_kind(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str, event: str, stock: bool
) -> None:
    agent, computer = await couple(connect, await nodes(2, shared_redis, stock=stock), office)
    computer.answers[event] = answering({"said": event})
    assert await agent.ask(event, "c", extra=1) == {"said": event}


@pytest.mark.rule("2.1.forward")
@pytest.mark.parametrize("value", [0, False, "", [], {}, [None], "text", 12.5])
async def test_any_value_passes_as_an_answer(pair: list[Node], connect: Connect, office: str, value: Any) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering(value)
    assert await agent.ask("client:get_tools", "c") == value


async def test_many_requests_at_once_each_get_their_own_answer(pair: list[Node], connect: Connect, office: str) -> None:
    agent, computer = await couple(connect, pair, office)

    async def echo(_: str, data: Any) -> Any:
        return data["params"]["n"]

    computer.answers["*"] = echo
    answers = await asyncio.gather(*(agent.tool("c", req_id=f"r-{n}", n=n) for n in range(200)))
    assert answers == list(range(200))


@pytest.mark.rule("2.1.forward")
async def test_a_large_request_and_a_large_reply_pass(pair: list[Node], connect: Connect, office: str) -> None:
    agent, computer = await couple(connect, pair, office)

    async def echo(_: str, data: Any) -> Any:
        return data["params"]["text"]

    computer.answers["*"] = echo
    text = "长" * 1_000_000
    assert await agent.tool("c", text=text) == text


async def test_a_reply_over_the_limit_is_refused_and_everybody_lives(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str
) -> None:
    limits = ServerLimits(message_bytes=10_000)
    agent, computer = await couple(connect, await nodes(2, shared_redis, limits=limits), office)
    computer.answers["*"] = answering("x" * 20_000)
    reply = await agent.ask("client:get_tools", "c")
    assert (reply["code"], reply["error"]["details"]["limit"]) == (400, "message size")
    computer.answers["*"] = answering("small")
    assert await agent.ask("client:get_tools", "c") == "small"


async def test_binary_parts_are_refused_between_nodes_on_the_way_there(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering("never")
    reply = await agent.tool("c", blob=b"\x00\xff")
    assert reply["error"]["code"] == 400
    assert (reply["error"]["code"], reply["req_id"]) == (400, "r-1")


async def test_binary_parts_are_refused_between_nodes_on_the_way_back(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering({"blob": b"\x00\xff"})
    reply = await agent.tool("c")
    assert (reply["error"]["code"], reply["req_id"]) == (400, "r-1")


async def test_an_event_that_a_far_computer_does_not_know_is_an_error(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, _ = await couple(connect, pair, office)
    reply = await agent.ask("client:from_the_future", "c")
    assert reply["error"]["code"] == 400


@pytest.mark.rule("1.4.requests")
@pytest.mark.parametrize("exists", [True, False])
async def test_a_computer_of_another_office_on_another_node_looks_like_one_that_does_not_exist(
    pair: list[Node], connect: Connect, office: str, exists: bool
) -> None:
    agent, _ = await couple(connect, pair, office)
    if exists:
        other = await connect(pair[1])
        await other.join("computer", "elsewhere", office + "2")
    assert await agent.ask("client:get_tools", "elsewhere") == {
        "error": {
            "code": 404,
            "message": "No computer 'elsewhere' in this office",
            "kind": "computer_lost",
            "details": {"computer": "elsewhere"},
        },
        "code": 404,
        "message": "No computer 'elsewhere' in this office",
    }


@pytest.mark.rule("1.4.requests")
async def test_what_a_node_believes_wrongly_never_reaches_another_office(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, _ = await couple(connect, pair, office)
    victim = await connect(pair[1])
    await victim.join("computer", "victim", office + "2")
    asked = Asked()
    victim.answers["*"] = asked
    sid = victim.sio.get_sid("/smcp")
    pair[0].registry._directory.enter(Member(office, "computer", "victim", sid, pair[1].registry.node))
    reply = await agent.ask("client:get_tools", "victim")
    assert (reply["code"], asked.event.is_set()) == (404, False)


async def test_a_stale_entry_ends_in_a_fresh_look_up(pair: list[Node], connect: Connect, office: str) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering("here")
    pair[0].registry._directory.enter(Member(office, "computer", "c", "an old sid", pair[1].registry.node))
    assert await agent.ask("client:get_tools", "c") == "here"


async def test_a_node_that_nobody_listens_for_is_given_up_at_once(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering("here")
    pair[0].registry._directory.enter(Member(office, "computer", "c", "a sid", "a node that is gone"))
    assert await agent.ask("client:get_tools", "c") == "here"


@pytest.mark.rule("1.6.inflight")
async def test_a_far_computer_that_disconnects_fails_its_calls_at_once(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked = computer.answers["*"] = Asked()
    started = time.monotonic()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    await computer.close()
    reply = await asyncio.wait_for(call, CAP)
    assert (reply["error"]["code"], reply["error"]["details"]) == (404, {"computer": "c"})
    assert time.monotonic() - started < CAP / 2


@pytest.mark.rule("1.6.inflight")
async def test_a_far_computer_that_leaves_fails_its_calls_at_once(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked = computer.answers["*"] = Asked()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    await computer.call("server:leave_office", {"office_id": office})
    reply = await asyncio.wait_for(call, CAP)
    assert reply["error"]["code"] == 404


@pytest.mark.rule("1.6.inflight")
async def test_a_node_that_stops_fails_the_calls_to_its_computers(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked = computer.answers["*"] = Asked()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    await pair[1].stop()
    reply = await asyncio.wait_for(call, CAP)
    assert reply["error"]["code"] == 404


@pytest.mark.rule("2.1.timeout")
async def test_a_far_computer_that_does_not_answer_is_a_timeout(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str
) -> None:
    limits = ServerLimits(timeout_margin=0.1)
    agent, computer = await couple(connect, await nodes(2, shared_redis, limits=limits), office)
    computer.answers["*"] = Asked()
    reply = await agent.tool("c", timeout=1)
    assert (reply["error"]["code"], reply["error"]["details"]["computer"]) == (408, "c")


async def test_an_answer_for_an_agent_that_is_gone_is_dropped_quietly(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked, go = asyncio.Event(), asyncio.Event()

    async def slowly(_: str, __: Any) -> Any:
        asked.set()
        await go.wait()
        return "late"

    computer.answers["*"] = slowly
    await agent.emit("client:get_tools", {"agent": "a", "req_id": "r", "computer": "c"})
    await asyncio.wait_for(asked.wait(), CAP)
    await agent.close()
    assert await computer.next() == ("notify:leave_office", {"office_id": office, "agent": "a"})
    go.set()
    again = await connect(pair[0])
    assert await again.join("agent", "a", office) == (True, None)
    computer.answers["*"] = answering("in time")
    assert await again.ask("client:get_tools", "c") == "in time"
    assert [node.namespace.router.in_flight for node in pair] == [0, 0]


async def test_a_relay_between_nodes_costs_two_messages_and_no_look_up(
    pair: list[Node], connect: Connect, office: str, admin: RedisConnection
) -> None:
    agent, computer = await couple(connect, pair, office)
    computer.answers["*"] = answering("x")
    before = [await calls_of(admin, command) for command in ("publish", "hget", "hgetall")]
    for _ in range(10):
        await agent.ask("client:get_tools", "c")
    after = [await calls_of(admin, command) for command in ("publish", "hget", "hgetall")]
    assert [now - then for now, then in zip(after, before, strict=True)] == [20, 0, 0]


async def test_local_traffic_never_touches_redis(
    nodes: MakeNodes, shared_redis: RedisServer, connect: Connect, office: str, admin: RedisConnection
) -> None:
    (node,) = await nodes(1, shared_redis, lease_seconds=600)
    agent, computer = await couple(connect, [node, node], office)
    computer.answers["*"] = answering("x")
    before = await calls_of(admin, "publish"), await calls_of(admin, "evalsha"), await calls_of(admin, "hget")
    for _ in range(10):
        await agent.ask("client:get_tools", "c")
        await computer.call("server:update_tool_list", {"computer": "c"})
        assert await agent.next() == ("notify:update_tool_list", {"computer": "c"})
    after = await calls_of(admin, "publish"), await calls_of(admin, "evalsha"), await calls_of(admin, "hget")
    assert after == before


async def test_an_answer_that_could_not_be_sent_is_sent_when_redis_is_back(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, lease_seconds=60)
    agent, computer = await couple(connect, [here, there], office)
    asked, go, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly(_: str, __: Any) -> Any:
        asked.set()
        await go.wait()
        answered.set()
        return "late but there"

    computer.answers["*"] = slowly
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asyncio.wait_for(asked.wait(), CAP)
    assert there.registry._session is not None
    there.registry._endpoint = parse_endpoint(f"unix://{redis.folder}/nowhere.sock")
    there.registry._session.connection.fail("cut")
    go.set()
    await asyncio.wait_for(answered.wait(), CAP)
    await until(lambda: there.namespace.router.in_flight == 0)
    there.registry._endpoint = parse_endpoint(redis.url)
    assert await asyncio.wait_for(call, CAP) == "late but there"


async def test_a_computer_that_is_looked_for_while_redis_is_away_is_an_error_when_the_time_is_over(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    agent, _ = await couple(connect, await nodes(2, redis, deadline=1.0, lease_seconds=60), office)
    redis.pause()
    replies = await asyncio.gather(*(agent.tool(name, timeout=1) for name in ("unknown", "c")))
    assert [reply["error"]["code"] for reply in replies] == [500, 500]


@pytest.mark.rule("1.3.move", "1.6.inflight")
async def test_a_move_between_offices_fails_the_calls_of_the_first_office_alone(
    pair: list[Node], connect: Connect, office: str
) -> None:
    agent, computer = await couple(connect, pair, office)
    asked = computer.answers["*"] = Asked()
    call = asyncio.create_task(agent.tool("c", timeout=60))
    await asked.wait()
    other = await connect(pair[0])
    await other.join("agent", "b", office + "2")
    assert await computer.join("computer", "c", office + "2") == (True, None)
    computer.answers["*"] = answering("moved")
    assert await other.tool("c") == "moved"
    assert (await asyncio.wait_for(call, CAP))["error"]["code"] == 404
    assert (await agent.tool("c"))["error"]["code"] == 404
