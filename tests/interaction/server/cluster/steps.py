"""Steps that the tests of a cluster share."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.interaction.server.client import CAP, Client
from tests.interaction.server.cluster.conftest import NodeProcess
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.conftest import Connect


async def until(settled: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(CAP):
        while True:
            result = settled()
            if result if isinstance(result, bool) else await result:
                return
            await asyncio.sleep(0.01)


def ready(*nodes: Node) -> Callable[[], bool]:
    return lambda: all(node.registry.problem() is None for node in nodes)


def away(*nodes: Node) -> Callable[[], bool]:
    return lambda: all(node.registry.problem() is not None for node in nodes)


async def joined_client(connect: Connect, node: Node | NodeProcess, role: str, name: str, office: str) -> Client:
    """A member that answers every request with its name."""
    client = await connect(node)
    assert await client.join(role, name, office) == (True, None)
    client.answers["*"] = answering({"from": name})
    return client


async def listed(agent: Client, office: str) -> list[tuple[str, str]]:
    """Who is in the office, as its Agent sees it."""
    reply = await agent.call("server:list_room", {"agent": agent.name, "req_id": "l", "office_id": office})
    return [(session["role"], session["name"]) for session in reply.get("sessions", ())]


def answering(value: Any) -> Any:
    async def answer(_: str, __: Any) -> Any:
        return value

    return answer


class Asked:
    """A Computer's handler that never answers, and says when it was asked."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def __call__(self, _: str, __: Any) -> Any:
        self.event.set()
        await asyncio.Event().wait()

    async def wait(self) -> None:
        await asyncio.wait_for(self.event.wait(), CAP)
