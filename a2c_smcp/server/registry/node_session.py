"""A node's session at Redis, for one connection: the lease, the members, and their reconciliation with Redis."""

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
"""Commands of one kind that wait for their replies at the same time."""

MAX_CHANNELS: Final = 10_000
PROBE_SECONDS: Final = 1.0

LEASE_MARGIN: Final = 0.2
"""The part of a lease by which a node ends it earlier than Redis, for clocks of different speed."""

_stamps: Final = itertools.count(1)
_boot_clock: Final = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Return seconds of a clock that also runs while the machine sleeps, if the system has one."""
    return time.monotonic() if _boot_clock is None else time.clock_gettime(_boot_clock)


class NodeLease:
    """The time in which this node may serve its Agents, by its own clock.

    It starts when the renewal was *sent* and ends before Redis lets another node have the names. So no two nodes ever
    serve an Agent of the same office, whatever happens to Redis or the network.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.epoch = ""
        self._until = float("-inf")

    def renewed(self, sent: float) -> None:
        """Record a renewal by a command that was sent at `sent`."""
        self._until = max(self._until, sent + self.seconds * (1 - LEASE_MARGIN))

    def left(self) -> float:
        """Return the seconds until the lease ends."""
        return self._until - lease_clock()

    def is_over(self) -> bool:
        """Return whether other nodes may have taken over this node's members."""
        return lease_clock() >= self._until


class ClusterEvents(Protocol):
    """Callbacks for changes that a session finds."""

    def entered(self, member: Member) -> None:
        """A member joined on another node during an outage."""

    def left(self, member: Member) -> None:
        """A member of another node left during an outage."""

    def evicted(self, member: Member) -> None:
        """Another node has the name of a member of this node."""

    def awaited_nodes(self) -> set[str]:
        """Return the nodes that owe a reply."""

    def retry(self) -> None:
        """Send the requests again that wait for a node."""

    def node_lost(self, node: str) -> None:
        """A node that owes a reply no longer listens."""


class NodeSession:
    """The session of one connection to Redis.

    Attributes:
        wait: Seconds after which a join that was too `early` may be tried again.

    Args:
        directory: The members that the node knows; it outlives the session.
        lease: The lease of the node; it outlives the session.
    """

    def __init__(
        self,
        connection: RedisConnection,
        directory: OfficeDirectory,
        events: ClusterEvents,
        *,
        prefix: str,
        lease: NodeLease,
    ) -> None:
        self.connection = connection
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
        """Subscribe, take the lease, and register the members of this node."""
        await self.connection.subscribe(self._key("bus", self._node))
        await asyncio.gather(*(self.connection.ask("SCRIPT", "LOAD", script.source) for script in SCRIPTS))
        await self._renew()
        await self.restore()

    async def keep(self, stopping: asyncio.Event) -> None:
        """Renew the lease, remove members of dead nodes and confirm missing ones, until `stopping` is set.

        Raises:
            RedisLost: The connection was lost.
            RedisErrorReply: It refused.
        """
        stop: asyncio.Future[Any] = asyncio.ensure_future(stopping.wait())
        ends: list[asyncio.Future[Any]] = [stop, self.connection.lost]
        probe = self._clock() + PROBE_SECONDS
        try:
            while not stopping.is_set():
                beat = self._renewed_at + self._lease / 3
                wait = min(beat, probe) - self._clock()
                await asyncio.wait(ends, timeout=max(0, wait), return_when="FIRST_COMPLETED")
                if self.connection.lost.done():
                    raise RedisLost(self.connection.lost.result())
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
        """Check that the nodes that owe a reply still listen; after two misses in a row their calls fail.

        A killed node keeps its members until its lease ends, but callers need not wait so long. A single miss may be a
        node that is reconnecting.
        """
        awaited_nodes = list(self._events.awaited_nodes())
        if not awaited_nodes:
            self._missed = set()
            return
        found: list[Any] = await self.connection.ask(
            "PUBSUB", "NUMSUB", *(self._key("bus", node) for node in awaited_nodes)
        )
        missed = {node for node, number in zip(awaited_nodes, found[1::2], strict=True) if number == 0}
        for node in missed & self._missed:
            log.warning("node lost: calls to it fail", extra={"node": node})
            self._events.node_lost(node)
        self._missed = missed - self._missed

    async def close(self) -> None:
        """Remove every member of this node, then the lease."""
        while await self._run(CLEAR, self._node, next(_stamps)):
            pass

    # Members

    async def take(self, member: Member) -> str:
        """Add a member; return `ok`, or why not (see `JOIN`)."""
        office_id, stamp = member.office_id, next(_stamps)
        # Of several joins in an office that is new to this node, the first lists the office.
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
                elif not known:  # the first was refused, or the last own member left meanwhile
                    self._send_list(office_id)
            return str(reply[0].decode())

        return await self.connection.ask(*self._join_command(member, stamp, announce=False, members=first), read=read)

    def release(self, owned: OwnedMember) -> None:
        """Remove a member, without waiting."""
        member = owned.member
        self._released += 1
        self.connection.send(
            *self._call(RELEASE, self._node, member.office_id, field_of(member), member.sid, owned.stamp)
        )

    async def completed(self) -> None:
        """Wait for the replies to all earlier commands: Redis replies in order."""
        await self.connection.ask("PING")

    async def members(self, office_id: str) -> list[Member]:
        """Return the members of an office, the Agent first, then Computers by name."""
        return unpack_members(office_id, await self.connection.ask("HGETALL", self._key("o", office_id)))

    async def holder(self, member: Member) -> Member | None:
        """Return the member that has the role or name which `member` asks for."""
        field = field_of(member)
        found: RespValue = await self.connection.ask("HGET", self._key("o", member.office_id), field)
        return None if found is None else unpack_member(member.office_id, field, found.decode())

    def look_up(self, office_id: str, computer: str, then: RedisCallback) -> None:
        """Ask for a Computer."""
        self.connection.send("HGET", self._key("o", office_id), computer_field(computer), then=then)

    def publish(self, node: str, frame: bytes, then: RedisCallback) -> None:
        """Send a frame to a node; call `then` with the number of receivers."""
        start = self._channels.get(node)
        if start is None:
            if len(self._channels) > MAX_CHANNELS:
                self._channels.clear()
            start = self._channels[node] = encode_start("PUBLISH", self._key("bus", node), parts=3)
        self.connection.write(b"%b$%d\r\n%b\r\n" % (start, len(frame), frame), then)

    # Dead nodes

    def steady(self) -> bool:
        """Return whether this node has held its lease for the length of a lease, so that it may declare others dead.

        After an outage every lease is over, and the other nodes need that time to reconnect.
        """
        return self._clock() - self._steady >= self._lease

    async def reap(self) -> None:
        """Remove the members of nodes whose lease is over; each removal notifies its office once."""
        last = None
        while (dead := await self._run(REAP, self._node)) is not None:
            if dead != last:
                log.warning("lease of a node expired: its members are removed", extra={"node": dead.decode()})
            last = dead

    # Reconciliation

    async def restore(self) -> None:
        """Make Redis hold exactly the members of this node, and update the directory from Redis."""
        if self._restoring.locked():
            async with self._restoring:
                return
        async with self._restoring:
            self._incomplete = False
            stamp = next(_stamps)
            strays = await self.connection.ask("HGETALL", self._key("n", self._node), read=self._find_strays)
            for batch in _batches(strays):
                await self._run(CLEAR, self._node, stamp, *batch)
            for owned in _batches(list(self._directory.own())):
                await asyncio.gather(*(self._join_again(one) for one in owned))
                await self._stay_alive()
            # All members of this node are in Redis again: from here on the lease counts.
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
        """Take the lease and register the members again, after Redis lost them."""
        await self._renew()
        await self.restore()

    def _find_strays(self, found: dict[bytes, bytes]) -> list[str]:
        own = {f"{owned.member.sid}|{owned.member.office_id}" for owned in self._directory.own()}
        return [stray for stray in map(bytes.decode, found) if stray not in own]

    async def _join_again(self, owned: OwnedMember) -> None:
        def read(reply: RespValue) -> None:
            # A name that a dead node has is tried again when the counts differ at the next renewal.
            if reply[0] == b"dead" and owned.member.role == "agent":
                self._incomplete = True
            if reply[0] == b"taken" and self._directory.remove_own(owned.member) is not None:
                self._events.evicted(owned.member)

        await self.connection.ask(
            *self._join_command(owned.member, owned.stamp, announce=True, members=False), read=read
        )

    async def _list(self, office_id: str, *, final: bool) -> None:
        def read(found: RespValue) -> None:
            self._compare(office_id, found, final=final)

        await self.connection.ask("HGETALL", self._key("o", office_id), read=read)

    def _send_list(self, office_id: str) -> None:
        def read(found: Any) -> None:
            if isinstance(found, dict):
                self._directory.compare(office_id, unpack_members(office_id, found), final=True)

        self.connection.send("HGETALL", self._key("o", office_id), then=read)

    def _compare(self, office_id: str, found: dict[bytes, bytes], *, final: bool) -> None:
        changes = self._directory.compare(office_id, unpack_members(office_id, found), final=final)
        self.report(changes)
        if changes.unconfirmed:
            self._unconfirmed[office_id] = self._clock() + self._lease

    def report(self, changes: MembershipChanges) -> None:
        """Report joins and leaves."""
        for member in changes.gone:
            self._events.left(member)
        for member in changes.entered:
            self._events.entered(member)

    async def _confirm_missing(self) -> None:
        # Members that were missing right after an outage have had time to register again.
        now = self._clock()
        for office_id in [office_id for office_id, due in self._unconfirmed.items() if due <= now]:
            del self._unconfirmed[office_id]
            await self._list(office_id, final=True)

    async def _renew(self) -> tuple[bool, int]:
        """Renew the lease; return whether Redis has the members of this node, and how many nodes are dead."""
        released, sent = self._released, lease_clock()

        def read(reply: RespValue) -> tuple[bool, int]:
            known, alive, count, dead, epoch = reply
            self._own.epoch = epoch.decode()
            self._sent = sent
            # After the lease has expired, others may have the names: it counts again once all are taken again.
            self._complete = self._complete and bool(alive)
            if self._complete:
                self._own.renewed(sent)
            # Members that are freed after the command was sent are counted there and not here.
            agreed = count == self._directory.size or released != self._released
            now = self._clock()
            if not known or now - self._renewed_at > self._lease:
                self._steady = now
            self._renewed_at = now
            return bool(alive) and agreed, dead

        command = self._call(RENEW, self._node, int(self._lease * 1000), self._own.epoch)
        return await self.connection.ask(*command, read=read)

    # Commands

    def _key(self, kind: str, name: str) -> str:
        return f"{self._prefix}:{kind}:{name}"

    def _call(self, script: LuaScript, *arguments: CommandPart) -> tuple[CommandPart, ...]:
        return "EVALSHA", script.sha, 0, self._prefix, *arguments

    async def _run(self, script: LuaScript, *arguments: CommandPart) -> RespValue:
        return await self.connection.ask(*self._call(script, *arguments))

    def _join_command(self, member: Member, stamp: int, *, announce: bool, members: bool) -> tuple[CommandPart, ...]:
        where = (self._node, member.office_id, field_of(member), member.sid, stamp, pack_member(member, stamp))
        return self._call(JOIN, *where, int(announce), int(members))


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))
