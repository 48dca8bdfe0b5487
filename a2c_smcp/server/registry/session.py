"""A node's time at Redis, from a connection to its end: the lease, the seats, and putting right what differs."""

import asyncio
import itertools
import logging
import time
from collections.abc import Iterator
from typing import Any, Final, Protocol

from a2c_smcp.server.registry.directory import Changes, Directory, Held
from a2c_smcp.server.registry.link import Link, LinkLost, Then
from a2c_smcp.server.registry.resp import Part, Reply, encode_start
from a2c_smcp.server.registry.scripts import (
    BEAT,
    CLEAR,
    REAP,
    RELEASE,
    SCRIPTS,
    SEAT,
    Script,
    computer_field,
    field_of,
    pack,
    unpack,
    unpack_all,
)
from a2c_smcp.server.rooms import Seat

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


class Lease:
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


class Events(Protocol):
    """Who is told of what a comparison with Redis brings to light."""

    def entered(self, seat: Seat) -> None:
        """A member of another node came while nobody could tell."""

    def left(self, seat: Seat) -> None:
        """A member of another node went while nobody could tell."""

    def ousted(self, seat: Seat) -> None:
        """Another node gave a seat of this one to somebody else."""

    def awaited(self) -> set[str]:
        """The nodes that are to answer something."""

    def retry(self) -> None:
        """Requests that wait for a node to come back may be tried again."""

    def silent(self, node: str) -> None:
        """A node that is to answer does not listen any more."""


class Session:
    """One connection to Redis at work.

    Attributes:
        wait: Seconds after which somebody who came too `early` may try again.

    Args:
        directory: What the node knows; it outlives the connection.
        lease: How long it may serve its Agents; it outlives the connection too.
    """

    def __init__(self, link: Link, directory: Directory, events: Events, *, prefix: str, lease: Lease) -> None:
        self.link = link
        self.wait = 0.0
        self._directory = directory
        self._events = events
        self._prefix = prefix
        self._lease = lease.seconds
        self._own = lease
        self._sent = lease_clock()
        self._whole = False
        self._unseated = False
        self._node = directory.node
        self._clock = asyncio.get_running_loop().time
        self._beaten = self._steady = self._clock()
        self._released = 0
        self._restoring = asyncio.Lock()
        self._doubts: dict[str, float] = {}
        self._channels: dict[str, bytes] = {}
        self._asked: set[str] = set()
        self._missed: set[str] = set()

    async def open(self) -> None:
        """Listen, take the lease, and register what the node holds."""
        await self.link.subscribe(self._key("bus", self._node))
        await asyncio.gather(*(self.link.ask("SCRIPT", "LOAD", script.source) for script in SCRIPTS))
        await self._beat()
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
                beat = self._beaten + self._lease / 3
                wait = min(beat, probe) - self._clock()
                await asyncio.wait(ends, timeout=max(0, wait), return_when="FIRST_COMPLETED")
                if self.link.lost.done():
                    raise LinkLost(self.link.lost.result())
                if self._clock() >= probe:
                    probe = self._clock() + PROBE_SECONDS
                    self._events.retry()
                    await self._probe()
                if self._clock() >= beat:
                    await self._tend()
        finally:
            stop.cancel()

    async def _tend(self) -> None:
        same, dead = await self._beat()
        if not same:
            await self.restore()
        if dead and self.steady():
            await self.reap()
        await self._settle_doubts()

    async def _probe(self) -> None:
        """Find out whether the nodes that are to answer still listen; two misses in a row and they do not.

        A node that is killed keeps its seats until its lease is over, but whoever waits for it need not wait so long.
        One miss may be a node that has lost its connection and is about to come back.
        """
        awaited = list(self._events.awaited())
        if not awaited:
            self._missed = set()
            return
        found: list[Any] = await self.link.ask("PUBSUB", "NUMSUB", *(self._key("bus", node) for node in awaited))
        missed = {node for node, number in zip(awaited, found[1::2], strict=True) if number == 0}
        for node in missed & self._missed:
            log.warning("a node that is to answer does not listen any more", extra={"node": node})
            self._events.silent(node)
        self._missed = missed - self._missed

    async def close(self) -> None:
        """Give up every seat, then the lease."""
        while await self._run(CLEAR, self._node, next(_stamps)):
            pass

    # Seats

    async def take(self, seat: Seat) -> str:
        """Take a seat: `ok`, or why not (see `SEAT`)."""
        office_id, stamp = seat.office_id, next(_stamps)
        # Of many that join an office that is new to this node, the first asks who is there.
        first = office_id not in self._directory and office_id not in self._asked
        if first:
            self._asked.add(office_id)

        def read(reply: Reply) -> str:
            if first:
                self._asked.discard(office_id)
            if reply[0] == b"early":
                self.wait = reply[1] / 1000
            if reply[0] == b"ok":
                known = office_id in self._directory
                self._directory.take(seat, stamp)
                if len(reply) > 1:
                    self._directory.compare(office_id, unpack_all(office_id, reply[1]), final=True)
                elif not known:  # the first was refused, or the last member left and with it went what was known
                    self._send_list(office_id)
            return str(reply[0].decode())

        return await self.link.ask(*self._seating(seat, stamp, announce=False, members=first), read=read)

    def release(self, held: Held) -> None:
        """Free a seat; nobody waits for it."""
        seat = held.seat
        self._released += 1
        self.link.send(*self._call(RELEASE, self._node, seat.office_id, field_of(seat), seat.sid, held.stamp))

    async def settled(self) -> None:
        """Wait for the answer to everything sent so far: Redis answers in order."""
        await self.link.ask("PING")

    async def members(self, office_id: str) -> list[Seat]:
        """Everybody in an office, the Agent first, then Computers by name."""
        return unpack_all(office_id, await self.link.ask("HGETALL", self._key("o", office_id)))

    async def holder(self, seat: Seat) -> Seat | None:
        """Who has the seat that `seat` asks for."""
        field = field_of(seat)
        found: Reply = await self.link.ask("HGET", self._key("o", seat.office_id), field)
        return None if found is None else unpack(seat.office_id, field, found.decode())

    def look_up(self, office_id: str, computer: str, then: Then) -> None:
        """Ask for the seat of a Computer."""
        self.link.send("HGET", self._key("o", office_id), computer_field(computer), then=then)

    def publish(self, node: str, frame: bytes, then: Then) -> None:
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
            self._unseated = False
            stamp = next(_stamps)
            strays = await self.link.ask("HGETALL", self._key("n", self._node), read=self._strays)
            for batch in _batches(strays):
                await self._run(CLEAR, self._node, stamp, *batch)
            for held in _batches(list(self._directory.mine())):
                await asyncio.gather(*(self._seat_again(one) for one in held))
                await self._stay_alive()
            # Whatever the node holds for its Agents is in Redis again: from here on the lease counts.
            if not self._unseated:
                self._whole = True
                self._own.renewed(self._sent)
            for offices in _batches(self._directory.offices()):
                await asyncio.gather(*(self._list(office_id, final=False) for office_id in offices))
                await self._stay_alive()

    async def _stay_alive(self) -> None:
        if self._clock() - self._beaten >= self._lease / 3:
            await self._beat()

    async def renew(self) -> None:
        """Redis lost the lease of this node: take it again, with everything that goes with it."""
        await self._beat()
        await self.restore()

    def _strays(self, found: dict[bytes, bytes]) -> list[str]:
        mine = {f"{held.seat.sid}|{held.seat.office_id}" for held in self._directory.mine()}
        return [stray for stray in map(bytes.decode, found) if stray not in mine]

    async def _seat_again(self, held: Held) -> None:
        def read(reply: Reply) -> None:
            # A seat that a dead node holds is tried again when the count does not agree at the next beat.
            if reply[0] == b"dead" and held.seat.role == "agent":
                self._unseated = True
            if reply[0] == b"taken" and self._directory.give_up(held.seat) is not None:
                self._events.ousted(held.seat)

        await self.link.ask(*self._seating(held.seat, held.stamp, announce=True, members=False), read=read)

    async def _list(self, office_id: str, *, final: bool) -> None:
        def read(found: Reply) -> None:
            self._compare(office_id, found, final=final)

        await self.link.ask("HGETALL", self._key("o", office_id), read=read)

    def _send_list(self, office_id: str) -> None:
        def read(found: Any) -> None:
            if isinstance(found, dict):
                self._directory.compare(office_id, unpack_all(office_id, found), final=True)

        self.link.send("HGETALL", self._key("o", office_id), then=read)

    def _compare(self, office_id: str, found: dict[bytes, bytes], *, final: bool) -> None:
        changes = self._directory.compare(office_id, unpack_all(office_id, found), final=final)
        self.tell(changes)
        if changes.doubtful:
            self._doubts[office_id] = self._clock() + self._lease

    def tell(self, changes: Changes) -> None:
        """Say who came and went."""
        for seat in changes.gone:
            self._events.left(seat)
        for seat in changes.entered:
            self._events.entered(seat)

    async def _settle_doubts(self) -> None:
        # Members that were not listed when Redis had just come back have had their time to register again.
        now = self._clock()
        for office_id in [office_id for office_id, due in self._doubts.items() if due <= now]:
            del self._doubts[office_id]
            await self._list(office_id, final=True)

    async def _beat(self) -> tuple[bool, int]:
        """Renew the lease; return whether Redis has what the node holds, and how many nodes are dead."""
        released, sent = self._released, lease_clock()

        def read(reply: Reply) -> tuple[bool, int]:
            known, alive, count, dead, epoch = reply
            self._own.epoch = epoch.decode()
            self._sent = sent
            # Once the lease was over, others may have the seats: it counts again when they are taken again.
            self._whole = self._whole and bool(alive)
            if self._whole:
                self._own.renewed(sent)
            # Seats that are freed after the command was sent are counted there and not here.
            agreed = count == self._directory.size or released != self._released
            now = self._clock()
            if not known or now - self._beaten > self._lease:
                self._steady = now
            self._beaten = now
            return bool(alive) and agreed, dead

        command = self._call(BEAT, self._node, int(self._lease * 1000), self._own.epoch)
        return await self.link.ask(*command, read=read)

    # Commands

    def _key(self, kind: str, name: str) -> str:
        return f"{self._prefix}:{kind}:{name}"

    def _call(self, script: Script, *arguments: Part) -> tuple[Part, ...]:
        return "EVALSHA", script.sha, 0, self._prefix, *arguments

    async def _run(self, script: Script, *arguments: Part) -> Reply:
        return await self.link.ask(*self._call(script, *arguments))

    def _seating(self, seat: Seat, stamp: int, *, announce: bool, members: bool) -> tuple[Part, ...]:
        where = (self._node, seat.office_id, field_of(seat), seat.sid, stamp, pack(seat, stamp))
        return self._call(SEAT, *where, int(announce), int(members))


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))
