"""Whatever happens, in whatever order: when it is over, Redis and every node agree on who sits where."""

import asyncio
import random
from secrets import token_hex
from typing import Any

import pytest

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.registry.redis_connection import RedisConnection, connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from a2c_smcp.types import Role
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.bare_nodes import BareNode
from tests.interaction.server.cluster.steps import until

OFFICES = ("o1", "o2", "o3")
STEPS = 400


class Chaos:
    """Three nodes, whose members come and go while connections break and Redis forgets."""

    def __init__(self, redis: RedisServer, dice: random.Random) -> None:
        prefix = f"chaos-{token_hex(4)}"
        self.nodes = [BareNode(redis.url, prefix, lease_seconds=1.0, deadline=CAP) for _ in range(3)]
        self.prefix = prefix
        self.dice = dice
        self.tasks: set[asyncio.Task[Any]] = set()
        self.admin: RedisConnection

    async def run(self, redis: RedisServer) -> None:
        self.admin = await connect_redis(parse_endpoint(redis.url), CAP, lambda _: None, name="chaos")
        for node in self.nodes:
            await node.registry.start(node.router)
        steps = [self.join] * 12 + [self.leave] * 6 + [self.give_up_joining] * 2 + [self.cut] + [self.forget]
        for _ in range(STEPS):
            node = self.dice.choice(self.nodes)
            task = asyncio.create_task(self.dice.choice(steps)(node))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            await asyncio.sleep(self.dice.choice((0, 0, 0.002)))
        await asyncio.gather(*self.tasks)

    async def join(self, node: BareNode) -> None:
        role: Role = self.dice.choice(("agent", "computer"))
        name, office = self.dice.choice("abc"), self.dice.choice(OFFICES)
        member = Member(office, role, name, token_hex(8), node.registry.node)
        try:
            await node.registry.add_member(member)
        except SMCPError:
            return
        connection = node.router.connect(member.sid, Identity(), address="", version=None)
        node.router.add_member(connection, member)

    async def leave(self, node: BareNode) -> None:
        members = [member for office in node.router.offices.values() for member in office]
        if members:
            await self.hang_up(node, self.dice.choice(members).sid)

    async def hang_up(self, node: BareNode, sid: str) -> None:
        connection = node.router.disconnect(sid)
        member = node.router.remove_member(connection) if connection is not None else None
        if member is not None:
            await node.registry.remove_member(member)

    async def give_up_joining(self, node: BareNode) -> None:
        joining = asyncio.create_task(self.join(node))
        await asyncio.sleep(0)
        joining.cancel()

    async def cut(self, node: BareNode) -> None:
        if node.registry._session is not None:
            node.registry._session.connection.fail("cut")

    async def forget(self, _: BareNode) -> None:
        everything = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end"
        await self.admin.ask("EVAL", everything, 0, f"{self.prefix}:*")

    async def agreed(self) -> bool:
        """Whether Redis has what the nodes hold, and each node knows of the others."""
        for node in self.nodes:
            for sid in node.port.hung_up:
                await self.hang_up(node, sid)
        if any(node.registry.problem() for node in self.nodes):
            return False
        for office in OFFICES:
            there = {member.sid: member for member in await self.nodes[0].registry.members(office)}
            here = {member.sid: member for node in self.nodes for member in node.router.offices.get(office, ())}
            if there != here:
                return False
            for node in self.nodes:
                room = node.registry._directory._rooms.get(office)
                others = {member.sid for member in here.values() if member.node != node.registry.node}
                if room is not None and {member.sid for member in room.others} != others:
                    return False
        return True

    async def stop(self) -> list[bytes]:
        for node in self.nodes:
            await node.registry.stop()
        left: list[bytes] = await self.admin.ask("KEYS", f"{self.prefix}:*")
        self.admin.fail("done")
        return left


@pytest.mark.rule("1.3.agent", "1.3.names")
@pytest.mark.parametrize("seed", range(4))
async def test_redis_and_all_nodes_agree_in_the_end(shared_redis: RedisServer, seed: int) -> None:
    chaos = Chaos(shared_redis, random.Random(seed))
    await chaos.run(shared_redis)
    await until(chaos.agreed)
    assert await chaos.stop() == []
