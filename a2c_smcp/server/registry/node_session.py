"""A node's time at Redis, from a connection to its end: the lease, the seats, and putting right what differs."""

import asyncio
import itertools
import logging
import time
from collections.abc import Iterator
from typing import Any, Final, Protocol

from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.directory import MembershipChanges, OfficeDirectory, OwnedMember
from a2c_smcp.server.registry.redis_connection import RedisCallback, RedisConnection, RedisLost
from a2c_smcp.server.registry.resp import CommandPart, RespValue, encode_start
from a2c_smcp.server.registry.scripts import (
    CLEAR,
    JOIN,
    REAP,
    RELEASE,
    RENEW,
    SCRIPTS,
    LuaScript,
    computer_field,
    field_of,
    pack_member,
    unpack_member,
    unpack_members,
)

log = logging.getLogger(__name__)

BATCH: Final = 200
"""How many commands of one kind wait for their replies at a time."""

MAX_CHANNELS: Final = 10_000
PROBE_SECONDS: Final = 1.0

LEASE_MARGIN: Final = 0.2
"""The part of a lease by which a node ends it earlier than Redis does: for clocks that run at different speeds."""

_stamps: Final = itertools.count(1)
_boot_clock: Final = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Seconds that go on while the machine sleeps, where the system has such a clock."""
    return time.monotonic() if _boot_clock is None else time.clock_gettime(_boot_clock)


class NodeLease:
    """How long this node may serve its Agents, by its own clock.

    It counts from the moment at which the renewal was *sent*, and ends with a margin before Redis lets another node
    have the seats. So no two nodes serve an Agent of one office, whatever happens to Redis or to the network.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.epoch = ""
        self._until = float("-inf")

    def renewed(self, sent: float) -> None:
        """Redis renewed it on a command that was sent at that time."""
        self._until = max(self._until, sent + self.seconds * (1 - LEASE_MARGIN))

    def left(self) -> float:
        """Seconds until it may be over."""
        return self._until - lease_clock()

    def is_over(self) -> bool:
        """Whether another node may have the seats of this one by now."""
        return lease_clock() >= self._until


class ClusterEvents(Protocol):
    """Who is told of what a comparison with Redis brings to light."""

    def entered(self, member: Member) -> None:
        """A member of another node came while nobody could tell."""

    def left(self, member: Member) -> None:
        """A member of another node went while nobody could tell."""

    def evicted(self, member: Member) -> None:
        """Another node gave a seat of this one to somebody else."""

    def awaited_nodes(self) -> set[str]:
        """The nodes that are to answer something."""

    def retry(self) -> None:
        """Requests that wait for a node to come back may be tried again."""

    def node_lost(self, node: str) -> None:
        """A node that is to answer does not listen any more."""


class NodeSession:
    """One connection to Redis at work.

    Attributes:
        wait: Seconds after which somebody who came too `early` may try again.

    Args:
        directory: What the node knows; it outlives the connection.
        lease: How long it may serve its Agents; it outlives the connection too.
    """

    def __init__(
        self, link: RedisConnection, directory: OfficeDirectory, events: ClusterEvents, *, prefix: str, lease: NodeLease
    ) -> None:
        self.link = link
        self.wait = 0.0
        self._directory = directory
        self._events = events
        self._prefix = prefix
        self._lease = lease.seconds
        self._own = lease
        self._sent = lease_clock()
        self._complete = False
        self._incomplete = False
        self._node = directory.node
        self._clock = asyncio.get_running_loop().time
        self._renewed_at = self._steady = self._clock()
        self._released = 0
        self._restoring = asyncio.Lock()
        self._unconfirmed: dict[str, float] = {}
        self._channels: dict[str, bytes] = {}
        self._listing: set[str] = set()
        self._missed: set[str] = set()

    async def open(self) -> None:
        """Listen, take the lease, and register what the node holds."""
        await self.link.subscribe(self._key("bus", self._node))
        await asyncio.gather(*(self.link.ask("SCRIPT", "LOAD", script.source) for script in SCRIPTS))
        await self._renew()
        await self.restore()

    async def keep(self, stopping: asyncio.Event) -> None:
        """Renew the lease, free the seats of dead nodes, settle doubts; until the connection is lost or it is time.

        Raises:
            LinkLost: Redis is away.
            ErrorReply: It refused.
        """
        stop: asyncio.Future[Any] = asyncio.ensure_future(stopping.wait())
        ends: list[asyncio.Future[Any]] = [stop, self.link.lost]
        probe = self._clock() + PROBE_SECONDS
        try:
            while not stopping.is_set():
                beat = self._renewed_at + self._lease / 3
                wait = min(beat, probe) - self._clock()
                await asyncio.wait(ends, timeout=max(0, wait), return_when="FIRST_COMPLETED")
                if self.link.lost.done():
                    raise RedisLost(self.link.lost.result())
                if self._clock() >= probe:
                    probe = self._clock() + PROBE_SECONDS
                    self._events.retry()
                    await self._probe()
                if self._clock() >= beat:
                    await self._maintain()
        finally:
            stop.cancel()

    async def _maintain(self) -> None:
        same, dead = await self._renew()
        if not same:
            await self.restore()
        if dead and self.steady():
            await self.reap()
        await self._confirm_missing()

    async def _probe(self) -> None:
        """Find out whether the nodes that are to answer still listen; two misses in a row and they do not.

        A node that is killed keeps its seats until its lease is over, but whoever waits for it need not wait so long.
        One miss may be a node that has lost its connection and is about to come back.
        """
        awaited_nodes = list(self._events.awaited_nodes())
        if not awaited_nodes:
            self._missed = set()
            return
        found: list[Any] = await self.link.ask("PUBSUB", "NUMSUB", *(self._key("bus", node) for node in awaited_nodes))
        missed = {node for node, number in zip(awaited_nodes, found[1::2], strict=True) if number == 0}
        for node in missed & self._missed:
            log.warning("a node that is to answer does not listen any more", extra={"node": node})
            self._events.node_lost(node)
        self._missed = missed - self._missed

    async def close(self) -> None:
        """Give up every seat, then the lease."""
        while await self._run(CLEAR, self._node, next(_stamps)):
            pass

    # Seats

    async def take(self, member: Member) -> str:
        """Take a seat: `ok`, or why not (see `JOIN`)."""
        office_id, stamp = member.office_id, next(_stamps)
        # Of many that join an office that is new to this node, the first asks who is there.
        first = office_id not in self._directory and office_id not in self._listing
        if first:
            self._listing.add(office_id)

        def read(reply: RespValue) -> str:
            if first:
                self._listing.discard(office_id)
            if reply[0] == b"early":
                self.wait = reply[1] / 1000
            if reply[0] == b"ok":
                known = office_id in self._directory
                self._directory.take(member, stamp)
                if len(reply) > 1:
                    self._directory.compare(office_id, unpack_members(office_id, reply[1]), final=True)
                elif not known:  # the first was refused, or the last member left and with it went what was known
                    self._send_list(office_id)
            return str(reply[0].decode())

        return await self.link.ask(*self._join_command(member, stamp, announce=False, members=first), read=read)

    def release(self, owned: OwnedMember) -> None:
        """Free a seat; nobody waits for it."""
        member = owned.member
        self._released += 1
        self.link.send(*self._call(RELEASE, self._node, member.office_id, field_of(member), member.sid, owned.stamp))

    async def completed(self) -> None:
        """Wait for the answer to everything sent so far: Redis answers in order."""
        await self.link.ask("PING")

    async def members(self, office_id: str) -> list[Member]:
        """Everybody in an office, the Agent first, then Computers by name."""
        return unpack_members(office_id, await self.link.ask("HGETALL", self._key("o", office_id)))

    async def holder(self, member: Member) -> Member | None:
        """Who has the seat that `member` asks for."""
        field = field_of(member)
        found: RespValue = await self.link.ask("HGET", self._key("o", member.office_id), field)
        return None if found is None else unpack_member(member.office_id, field, found.decode())

    def look_up(self, office_id: str, computer: str, then: RedisCallback) -> None:
        """Ask for the seat of a Computer."""
        self.link.send("HGET", self._key("o", office_id), computer_field(computer), then=then)

    def publish(self, node: str, frame: bytes, then: RedisCallback) -> None:
        """Send a frame to a node; `then` is told how many listen there."""
        start = self._channels.get(node)
        if start is None:
            if len(self._channels) > MAX_CHANNELS:
                self._channels.clear()
            start = self._channels[node] = encode_start("PUBLISH", self._key("bus", node), parts=3)
        self.link.write(b"%b$%d\r\n%b\r\n" % (start, len(frame), frame), then)

    # Dead nodes

    def steady(self) -> bool:
        """Whether this node has held its lease for the length of a lease, so that it may judge others by theirs.

        When Redis was away, every lease is over; then the living need that time to come back.
        """
        return self._clock() - self._steady >= self._lease

    async def reap(self) -> None:
        """Free the seats of nodes whose lease is over. The offices are told by the freed seats, each once."""
        last = None
        while (dead := await self._run(REAP, self._node)) is not None:
            if dead != last:
                log.warning("the lease of a node is over, its seats are freed", extra={"node": dead.decode()})
            last = dead

    # The truth

    async def restore(self) -> None:
        """Make Redis hold what the node holds, no more and no less, and learn what happened meanwhile."""
        if self._restoring.locked():
            async with self._restoring:
                return
        async with self._restoring:
            self._incomplete = False
            stamp = next(_stamps)
            strays = await self.link.ask("HGETALL", self._key("n", self._node), read=self._find_strays)
            for batch in _batches(strays):
                await self._run(CLEAR, self._node, stamp, *batch)
            for owned in _batches(list(self._directory.own())):
                await asyncio.gather(*(self._join_again(one) for one in owned))
                await self._stay_alive()
            # Whatever the node holds for its Agents is in Redis again: from here on the lease counts.
            if not self._incomplete:
                self._complete = True
                self._own.renewed(self._sent)
            for offices in _batches(self._directory.offices()):
                await asyncio.gather(*(self._list(office_id, final=False) for office_id in offices))
                await self._stay_alive()

    async def _stay_alive(self) -> None:
        if self._clock() - self._renewed_at >= self._lease / 3:
            await self._renew()

    async def renew(self) -> None:
        """Redis lost the lease of this node: take it again, with everything that goes with it."""
        await self._renew()
        await self.restore()

    def _find_strays(self, found: dict[bytes, bytes]) -> list[str]:
        own = {f"{owned.member.sid}|{owned.member.office_id}" for owned in self._directory.own()}
        return [stray for stray in map(bytes.decode, found) if stray not in own]

    async def _join_again(self, owned: OwnedMember) -> None:
        def read(reply: RespValue) -> None:
            # A seat that a dead node holds is tried again when the count does not agree at the next beat.
            if reply[0] == b"dead" and owned.member.role == "agent":
                self._incomplete = True
            if reply[0] == b"taken" and self._directory.remove_own(owned.member) is not None:
                self._events.evicted(owned.member)

        await self.link.ask(*self._join_command(owned.member, owned.stamp, announce=True, members=False), read=read)

    async def _list(self, office_id: str, *, final: bool) -> None:
        def read(found: RespValue) -> None:
            self._compare(office_id, found, final=final)

        await self.link.ask("HGETALL", self._key("o", office_id), read=read)

    def _send_list(self, office_id: str) -> None:
        def read(found: Any) -> None:
            if isinstance(found, dict):
                self._directory.compare(office_id, unpack_members(office_id, found), final=True)

        self.link.send("HGETALL", self._key("o", office_id), then=read)

    def _compare(self, office_id: str, found: dict[bytes, bytes], *, final: bool) -> None:
        changes = self._directory.compare(office_id, unpack_members(office_id, found), final=final)
        self.report(changes)
        if changes.unconfirmed:
            self._unconfirmed[office_id] = self._clock() + self._lease

    def report(self, changes: MembershipChanges) -> None:
        """Say who came and went."""
        for member in changes.gone:
            self._events.left(member)
        for member in changes.entered:
            self._events.entered(member)

    async def _confirm_missing(self) -> None:
        # Members that were not listed when Redis had just come back have had their time to register again.
        now = self._clock()
        for office_id in [office_id for office_id, due in self._unconfirmed.items() if due <= now]:
            del self._unconfirmed[office_id]
            await self._list(office_id, final=True)

    async def _renew(self) -> tuple[bool, int]:
        """Renew the lease; return whether Redis has what the node holds, and how many nodes are dead."""
        released, sent = self._released, lease_clock()

        def read(reply: RespValue) -> tuple[bool, int]:
            known, alive, count, dead, epoch = reply
            self._own.epoch = epoch.decode()
            self._sent = sent
            # Once the lease was over, others may have the seats: it counts again when they are taken again.
            self._complete = self._complete and bool(alive)
            if self._complete:
                self._own.renewed(sent)
            # Seats that are freed after the command was sent are counted there and not here.
            agreed = count == self._directory.size or released != self._released
            now = self._clock()
            if not known or now - self._renewed_at > self._lease:
                self._steady = now
            self._renewed_at = now
            return bool(alive) and agreed, dead

        command = self._call(RENEW, self._node, int(self._lease * 1000), self._own.epoch)
        return await self.link.ask(*command, read=read)

    # Commands

    def _key(self, kind: str, name: str) -> str:
        return f"{self._prefix}:{kind}:{name}"

    def _call(self, script: LuaScript, *arguments: CommandPart) -> tuple[CommandPart, ...]:
        return "EVALSHA", script.sha, 0, self._prefix, *arguments

    async def _run(self, script: LuaScript, *arguments: CommandPart) -> RespValue:
        return await self.link.ask(*self._call(script, *arguments))

    def _join_command(self, member: Member, stamp: int, *, announce: bool, members: bool) -> tuple[CommandPart, ...]:
        where = (self._node, member.office_id, field_of(member), member.sid, stamp, pack_member(member, stamp))
        return self._call(JOIN, *where, int(announce), int(members))


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))
