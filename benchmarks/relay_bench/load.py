"""Load on a server: many offices of one agent and one computer each, and tool calls between them."""

import asyncio
import statistics
from dataclasses import dataclass
from typing import Any

import orjson

from a2c_smcp.smcp import TOOL_CALL_EVENT
from benchmarks.relay_bench.client import Caller, Client, connect
from benchmarks.relay_bench.servers import Server

WARM_UP = 0.25


@dataclass(frozen=True, slots=True)
class Cost:
    """What one relay took.

    Attributes:
        cpu: Microseconds of the server's CPU time.
        latency: Milliseconds from request to reply, as the agent sees it; half of them took less.
        rate: Relays a second.
    """

    cpu: float
    latency: float
    rate: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """Tool calls of one kind: the event as the agent sends it, and the computer's reply."""

    request: bytes
    reply: bytes


def traffic(size: int, words: str = "Annual report") -> Traffic:
    """Tool calls with about `size` bytes of arguments and as much in their result: a list of documents."""
    value = _documents(size, words)
    request = {
        "agent": "agent",
        "req_id": "0123456789abcdef0123456789abcdef",
        "computer": "computer",
        "tool_name": "example",
        "params": value,
        "timeout": 30,
    }
    reply = {"content": [], "structuredContent": value, "isError": False}
    return Traffic(orjson.dumps([TOOL_CALL_EVENT, request]), orjson.dumps(reply))


def _documents(size: int, words: str) -> dict[str, Any]:
    documents: list[dict[str, Any]] = []
    while len(orjson.dumps(documents)) < size:
        number = len(documents)
        document = {
            "doc_ref": f"rpt-{number}",
            "uri": f"dpe://com.example.docs/rpt-{number}",
            "file_type": "xlsx",
            "title": f"{words} {number}",
            "page_count": number % 50,
            "keywords": ["annual", "report"],
            "last_modified": "2026-01-15T08:30:00Z",
        }
        documents.append(document)
    return {"documents": documents}


class Load:
    """Offices on one server, each with an agent and a computer that answers at once."""

    def __init__(self, server: Server, agents: list[Client], computers: list[Client]) -> None:
        self._server = server
        self._agents = agents
        self._computers = computers

    @classmethod
    async def on(cls, server: Server, offices: int) -> "Load":
        """Connect and join everybody."""
        agents, computers = [], []
        for number in range(offices):
            computers.append(await seated(server.port, "computer", number))
            agents.append(await seated(server.port, "agent", number))
        return cls(server, agents, computers)

    def close(self) -> None:
        """Leave at once."""
        for client in (*self._agents, *self._computers):
            client.transport.abort()

    async def measure(self, calls: Traffic, *, depth: int, seconds: float) -> Cost:
        """Keep `depth` calls of every agent under way for so long."""
        for computer in self._computers:
            computer.reply = calls.reply
        callers = [Caller(agent, calls.request, calls.reply, depth) for agent in self._agents]
        for caller in callers:
            caller.start()
        await asyncio.sleep(WARM_UP)
        for caller in callers:
            caller.seconds.clear()
        loop = asyncio.get_running_loop()
        before, start = self._server.state(), loop.time()
        await asyncio.sleep(seconds)
        took = [each for caller in callers for each in caller.seconds]
        after, end = self._server.state(), loop.time()
        await asyncio.gather(*(caller.stop() for caller in callers))
        if not took:
            raise RuntimeError("no call was answered")
        return Cost(
            cpu=(after.cpu - before.cpu) / len(took) * 1e6,
            latency=statistics.median(took) * 1e3,
            rate=len(took) / (end - start),
        )


async def seated(port: int, role: str, office: int) -> Client:
    """A client that has joined its office."""
    client = await connect(port)
    await client.join(role, role, f"office-{office}")
    return client
