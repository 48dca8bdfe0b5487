"""Whatever happens, in whatever order: when it is over, Redis and every node agree on who sits where."""

import asyncio
import random
from secrets import token_hex
from typing import Any

import pytest

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.registry.endpoint import parse_endpoint
from a2c_smcp.server.registry.link import Link, dial
from a2c_smcp.server.rooms import Identity, Seat
from a2c_smcp.types import Role
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.members import Member
from tests.interaction.server.cluster.steps import until

OFFICES = ("o1", "o2", "o3")
STEPS = 400


class Chaos:
    """Three nodes, whose members come and go while connections break and Redis forgets."""

    def __init__(self, redis: RedisServer, dice: random.Random) -> None:
        prefix = f"chaos-{token_hex(4)}"
        self.nodes = [Member(redis.url, prefix, lease_seconds=1.0, deadline=CAP) for _ in range(3)]
        self.prefix = prefix
        self.dice = dice
        self.tasks: set[asyncio.Task[Any]] = set()
        self.admin: Link

    async def run(self, redis: RedisServer) -> None:
        self.admin = await dial(parse_endpoint(redis.url), CAP, lambda _: None, name="chaos")
        for node in self.nodes:
            await node.registry.start(node.board)
        steps = [self.join] * 12 + [self.leave] * 6 + [self.give_up_joining] * 2 + [self.cut] + [self.forget]
        for _ in range(STEPS):
            node = self.dice.choice(self.nodes)
            task = asyncio.create_task(self.dice.choice(steps)(node))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            await asyncio.sleep(self.dice.choice((0, 0, 0.002)))
        await asyncio.gather(*self.tasks)

    async def join(self, node: Member) -> None:
        role: Role = self.dice.choice(("agent", "computer"))
        name, office = self.dice.choice("abc"), self.dice.choice(OFFICES)
        seat = Seat(office, role, name, token_hex(8), node.registry.node)
        try:
            await node.registry.seat(seat)
        except SMCPError:
            return
        connection = node.board.connect(seat.sid, Identity(), address="", version=None)
        node.board.sit(connection, seat)

    async def leave(self, node: Member) -> None:
        seats = [seat for office in node.board.offices.values() for seat in office]
        if seats:
            await self.hang_up(node, self.dice.choice(seats).sid)

    async def hang_up(self, node: Member, sid: str) -> None:
        connection = node.board.disconnect(sid)
        seat = node.board.stand_up(connection) if connection is not None else None
        if seat is not None:
            await node.registry.release(seat)

    async def give_up_joining(self, node: Member) -> None:
        joining = asyncio.create_task(self.join(node))
        await asyncio.sleep(0)
        joining.cancel()

    async def cut(self, node: Member) -> None:
        if node.registry._session is not None:
            node.registry._session.link.fail("cut")

    async def forget(self, _: Member) -> None:
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
            there = {seat.sid: seat for seat in await self.nodes[0].registry.members(office)}
            here = {seat.sid: seat for node in self.nodes for seat in node.board.offices.get(office, ())}
            if there != here:
                return False
            for node in self.nodes:
                room = node.registry._directory._rooms.get(office)
                others = {seat.sid for seat in here.values() if seat.node != node.registry.node}
                if room is not None and {seat.sid for seat in room.others} != others:
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
