"""An office has one Agent, also while a node cannot reach Redis, stands still, or Redis forgets everything."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest

from a2c_smcp.server.registry.node_session import LEASE_MARGIN, NodeLease, lease_clock
from a2c_smcp.server.registry.redis_connection import connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from tests.bare_server import bare_server
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.cluster.conftest import MakeNodes, NodeProcess
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.cluster.steps import away, joined_client, ready, until
from tests.interaction.server.conftest import Connect

FAST: dict[str, Any] = {"lease_seconds": 3.0, "deadline": 1.0, "prefix": "p"}
FULL = "4101: The office has an agent already; an office has one agent at a time"


class Wire:
    """A line to Redis that can be cut: what is sent goes nowhere, and nobody notices."""

    def __init__(self, redis: RedisServer) -> None:
        self._redis = redis
        self._complete = asyncio.Event()
        self._complete.set()
        self.url = ""

    def cut(self) -> None:
        self._complete.clear()

    def mend(self) -> None:
        self._complete.set()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on until both sides have closed."""
        far_reader, far_writer = await asyncio.open_unix_connection(str(self._redis.path))
        try:
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                await self._complete.wait()
                writer.write(data)
        except OSError:
            pass
        finally:
            with suppress(OSError):
                writer.close()


@pytest.fixture
async def wire(redis: RedisServer) -> AsyncIterator[Wire]:
    line = Wire(redis)
    async with bare_server(line.connect) as port:
        line.url = f"redis://127.0.0.1:{port}"
        yield line


class Caller:
    """An Agent that calls without a pause, and remembers when it was last served."""

    def __init__(self, agent: Client) -> None:
        self.served = 0
        self.last = 0.0
        self.refusals: list[dict[str, Any]] = []
        self._agent = agent
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while not self._agent.gone.is_set():
            began = time.monotonic()
            with suppress(Exception):  # the line is closed at some time
                reply = await self._agent.call("client:tool_call", self._payload(), within=5)
                if "error" in reply:
                    self.refusals.append(reply["error"])
                else:
                    self.served, self.last = self.served + 1, began
            await asyncio.sleep(0)

    def _payload(self) -> dict[str, Any]:
        return {
            "agent": self._agent.name,
            "req_id": f"r-{self.served}",
            "computer": "c",
            "tool_name": "echo",
            "params": {},
            "timeout": 30,
        }

    async def end(self) -> None:
        await asyncio.wait_for(self._agent.gone.wait(), CAP)
        self._task.cancel()


async def join_another(connect: Connect, node: Node, office: str) -> float:
    """Seat another Agent as soon as that is possible; return when it was."""
    rival = await connect(node)
    async with asyncio.timeout(CAP):
        while (await rival.join("agent", "b", office))[0] is not True:
            await asyncio.sleep(0.02)
    return time.monotonic()


def last_words(agent: Client) -> dict[str, Any]:
    heard = [agent.heard.get_nowait() for _ in range(agent.heard.qsize())]
    (words,) = [data for event, data in heard if event == "notify:disconnect"]
    return dict(words)


@pytest.mark.rule("1.3.agent")
@pytest.mark.parametrize("stock", [False, True])
async def test_a_node_cut_off_from_redis_stops_serving_its_agent_before_another_is_seated(
    nodes: MakeNodes, redis: RedisServer, wire: Wire, connect: Connect, office: str, stock: bool
) -> None:
    (there,) = await nodes(1, redis, **FAST)
    here = await Node(wire.url, stock=stock, **FAST).start()
    agent = await joined_client(connect, here, "agent", "a", office)
    computer = await joined_client(connect, here, "computer", "c", office)
    calling = Caller(agent)
    await until(lambda: calling.served > 3)
    wire.cut()
    joined_at = await join_another(connect, there, office)
    await calling.end()
    assert calling.last < joined_at
    assert agent.gone.is_set()
    assert last_words(agent)["code"] == 500
    assert not computer.gone.is_set()
    wire.mend()
    await until(ready(here))
    again = await connect(here)
    assert await again.join("agent", "a", office) == (False, FULL)
    await here.stop()


@pytest.mark.rule("1.3.agent")
async def test_a_node_that_is_cut_off_for_less_than_its_lease_disturbs_nobody(
    nodes: MakeNodes, redis: RedisServer, wire: Wire, connect: Connect, office: str
) -> None:
    here = await Node(wire.url, lease_seconds=60.0, deadline=0.5, prefix="p").start()
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, here, "computer", "c", office)
    wire.cut()
    assert (await (await connect(here)).join("computer", "new", office))[0] is False  # so the node notices
    await until(away(here))
    assert await agent.tool("c") == {"from": "c"}
    wire.mend()
    await until(ready(here))
    assert await agent.tool("c") == {"from": "c"}
    await here.stop()


@pytest.mark.rule("1.3.agent")
async def test_calls_that_waited_for_a_node_that_stood_still_reach_no_computer(
    nodes: MakeNodes, node_process: Callable[..., NodeProcess], redis: RedisServer, connect: Connect, office: str
) -> None:
    (here,) = await nodes(1, redis, **FAST)
    sleeper = node_process(redis, **FAST)
    agent = await joined_client(connect, sleeper, "agent", "a", office)
    computer = await joined_client(connect, sleeper, "computer", "c", office)
    assert await agent.tool("c") == {"from": "c"}
    reached: list[Any] = []

    async def remember(_: str, data: Any) -> Any:
        reached.append(data)
        return {"from": "c"}

    computer.answers["*"] = remember
    sleeper.process.send_signal(signal.SIGSTOP)
    await agent.next()  # the Computer entered
    buffered = [asyncio.create_task(agent.tool("c", req_id=f"r-{number}")) for number in range(20)]
    await join_another(connect, here, office)
    sleeper.process.send_signal(signal.SIGCONT)
    await asyncio.wait_for(agent.gone.wait(), CAP)
    for task in buffered:
        task.cancel()
    replies = await asyncio.gather(*buffered, return_exceptions=True)
    assert reached == []
    assert all(reply["error"]["code"] == 500 for reply in replies if isinstance(reply, dict))


@pytest.mark.rule("1.3.agent")
async def test_a_redis_that_forgot_everything_gives_no_name_of_a_living_agent_away(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, **(FAST | {"deadline": CAP}))
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, here, "computer", "c", office)
    rival = await connect(there)
    admin = await connect_redis(parse_endpoint(redis.url), CAP, lambda _: None, name="admin")
    for _ in range(3):
        await admin.ask("FLUSHALL")
        assert await rival.join("agent", "b", office) == (False, FULL)
        assert await agent.tool("c") == {"from": "c"}
    admin.fail("done")


@pytest.mark.rule("1.3.agent")
async def test_a_redis_that_starts_again_empty_gives_no_name_of_a_living_agent_away(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    slow = FAST | {"lease_seconds": 20.0, "deadline": CAP}
    here, there = await nodes(2, redis, **slow)
    agent = await joined_client(connect, here, "agent", "a", office)
    await joined_client(connect, here, "computer", "c", office)
    rival = await connect(there)
    here.registry._endpoint = parse_endpoint(f"unix://{redis.folder}/nowhere.sock")  # it comes back later
    redis.kill()
    await until(away(here, there))
    redis.start()
    await until(ready(there))
    joining = asyncio.create_task(rival.join("agent", "b", office))
    assert await agent.tool("c") == {"from": "c"}
    here.registry._endpoint = parse_endpoint(redis.url)
    await until(ready(here))
    assert await joining == (False, FULL)
    assert await agent.tool("c") == {"from": "c"}


async def test_whoever_joins_a_new_cluster_does_not_wait(
    nodes: MakeNodes, redis: RedisServer, connect: Connect, office: str
) -> None:
    here, there = await nodes(2, redis, lease_seconds=600, prefix="p")
    async with asyncio.timeout(CAP / 2):
        await joined_client(connect, here, "agent", "a", office)
        await joined_client(connect, there, "computer", "c", office)


def test_a_lease_counts_from_the_moment_its_renewal_was_sent() -> None:
    lease = NodeLease(100.0)
    assert lease.is_over()
    lease.renewed(lease_clock() - 60)
    assert 0 < lease.left() <= 100 * (1 - LEASE_MARGIN) - 60
    lease.renewed(lease_clock() - 90)  # a late answer takes nothing back
    assert not lease.is_over()
