"""The registry of many nodes, in Redis: together they are one Server.

A node has one connection (`link`), on which it takes and frees seats, renews its lease, publishes to the channels of
other nodes and hears its own. What Redis says is applied as it is read, so the `directory` follows the history.

When Redis is away the node goes on alone for as long as its lease cannot be over: members stay, local requests and
notifications pass, whoever wants to join is told to try again. When the lease may be over, another node may seat
another Agent in an office of this one: the node disconnects its Agents and refuses what they still send. When Redis is
back, whatever became of its data, the node compares what it holds with what Redis has and puts it right (`session`).
"""

import asyncio
import logging
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from secrets import token_hex
from typing import Any, Final

import orjson

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import Forbidden, InvalidConfig
from a2c_smcp.server.registry.directory import Directory
from a2c_smcp.server.registry.endpoint import parse_endpoint
from a2c_smcp.server.registry.frames import Oust, Tell, pack_frame
from a2c_smcp.server.registry.herald import Herald
from a2c_smcp.server.registry.link import LinkLost, NotSent, dial
from a2c_smcp.server.registry.resp import ErrorReply
from a2c_smcp.server.registry.scripts import computer_field, unpack
from a2c_smcp.server.registry.session import Lease, Session
from a2c_smcp.server.registry.trunk import Trunk, unreachable
from a2c_smcp.server.rooms import Seat, admit, refuse_lookalike, taken
from a2c_smcp.server.switchboard import Switchboard
from a2c_smcp.smcp import LEAVE_OFFICE_NOTIFICATION

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)
SEAT_TRIES: Final = 3
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
FENCE_PAUSE: Final = 0.05
EARLY_PAUSE: Final = 0.5
STOPPED: Final = "the node is stopped"


class RedisRegistry:
    """Seats in Redis, shared by every node that is given the same Redis and prefix.

    Args:
        url: Where Redis is; `endpoint` lists the forms.
        node: A name for logs. Each start is a node of its own, whatever its name: what it left behind when it was
            killed is freed by the others.
        lease_seconds: How long a node that is gone without a word keeps its seats.
        prefix: What the keys and channels begin with.
        deadline: Seconds within which Redis has to answer.

    Raises:
        InvalidConfig: One of them cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        node: str | None = None,
        lease_seconds: float = 5.0,
        prefix: str = "a2c",
        deadline: float = 2.0,
    ) -> None:
        if node is not None and not _NAME.fullmatch(node):
            raise InvalidConfig("The name of a node is up to 64 letters, digits, dots, dashes and underscores")
        if lease_seconds <= 0 or deadline <= 0:
            raise InvalidConfig("The lease and the deadline of the registry must be more than 0 seconds")
        self.node = f"{node or 'node'}-{token_hex(6)}"
        self._endpoint = parse_endpoint(url)
        self._lease = Lease(lease_seconds)
        self._prefix = prefix
        self._deadline = deadline
        self._directory = Directory(self.node)
        self._board: Switchboard | None = None
        self._session: Session | None = None
        self._problem: str | None = "the node has not been started"
        self._tried = asyncio.Event()
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._fence: asyncio.Task[None] | None = None
        self._served = False
        self._settled = 0.0

    # The Registry

    async def start(self, board: Switchboard) -> None:
        """Connect and register; if Redis is away, go on trying behind the scenes."""
        self._stopping.clear()
        self._tried.clear()
        self._board = board
        trunk = board.elsewhere = Trunk(board, self._directory, self)
        herald = Herald(board, self._directory, trunk, self)
        board.lease = self._lease
        self._task = asyncio.create_task(self._run(trunk, herald), name="a2c-registry")
        self._fence = asyncio.create_task(self._watch_lease(board), name="a2c-registry-lease")
        await self._tried.wait()

    async def stop(self) -> None:
        """Give up every seat of this node, tell the others, and end."""
        self._stopping.set()
        try:
            if self._task is not None:
                await asyncio.wait([self._task], timeout=1.5 * self._deadline)
        finally:
            for task in (self._task, self._fence):
                if task is not None:
                    task.cancel()
            if self._board is not None:
                self._board.elsewhere = self._board.lease = None
            self._directory.clear()

    async def seat(self, seat: Seat) -> None:
        """Take a seat, atomically."""
        try:
            session = await self._reached()
            tries, patience = SEAT_TRIES, self._lease.seconds + self._deadline
            while tries:
                tries -= 1
                if self._board is not None:
                    admit(self._board.offices.get(seat.office_id), seat)
                outcome = await session.take(seat)
                if outcome == "ok":
                    await self._refuse_lookalike(seat)
                    return
                if outcome == "early" and patience > 0:
                    pause = min(session.wait, EARLY_PAUSE)
                    patience -= pause
                    await asyncio.sleep(pause)
                    tries = SEAT_TRIES
                elif outcome == "early":
                    break
                elif outcome == "lost":
                    await session.renew()
                elif outcome == "dead" and session.steady():
                    await session.reap()
                else:
                    raise taken(seat)
        except (LinkLost, ErrorReply) as problem:
            log.info("a seat could not be taken: %s", problem)
        raise unreachable()

    async def _refuse_lookalike(self, seat: Seat) -> None:
        # Only now: of two that look alike and come at once, the one that Redis seated later sees the other.
        try:
            refuse_lookalike(self._directory.others(seat.office_id), seat)
        except Forbidden:
            await self.release(seat)
            raise

    async def holder(self, seat: Seat) -> Seat | None:
        """Return who has the seat that `seat` asks for."""
        try:
            session = await self._reached()
            found = await session.holder(seat)
        except (LinkLost, ErrorReply):
            raise unreachable() from None
        return found

    async def oust(self, holder: Seat, *, challenge: bool) -> None:
        """Have the other node end the connection of a member."""
        self.publish(holder.node, pack_frame(Oust(holder.sid, holder.office_id, self.node, challenge)), _nothing)

    async def release(self, seat: Seat) -> None:
        """Free a seat. Nobody waits for Redis: if it is away, the seat is freed when it returns."""
        held = self._directory.give_up(seat)
        if held is not None and self._session is not None and self._ready.is_set():
            self._session.release(held)

    async def settled(self) -> None:
        """Wait until Redis has freed what was released; not when it is away."""
        if self._session is not None and self._ready.is_set():
            with suppress(LinkLost, ErrorReply):
                await self._session.settled()

    async def members(self, office_id: str) -> list[Seat]:
        """Everybody in an office, the Agent first, then Computers by name."""
        try:
            return await (await self._reached()).members(office_id)
        except (LinkLost, ErrorReply):
            raise unreachable() from None

    async def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Tell the members of an office on other nodes. Leaving is told by the freed seat itself, once."""
        nodes = self._directory.nodes(office_id)
        if not nodes or event == LEAVE_OFFICE_NOTIFICATION:
            return
        frame = pack_frame(Tell(office_id, event, skip), orjson.dumps(data, default=str))
        for node in nodes:
            self.publish(node, frame, _nothing)

    def reach(self, office_id: str) -> int:
        """How many members of an office are on other nodes."""
        return self._directory.reach(office_id)

    def problem(self) -> str | None:
        """Why this node is not ready to serve, or None."""
        return self._problem

    async def _reached(self) -> Session:
        # A connection that is just being made is worth a moment's wait; one that cannot be made is not.
        if self._session is not None and not self._ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), self._deadline)
        if self._session is None or not self._ready.is_set():
            raise LinkLost(self._problem)
        return self._session

    # The connection

    async def _run(self, trunk: Trunk, herald: Herald) -> None:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while not self._stopping.is_set():
            pause = FIRST_PAUSE
            try:
                await self._work(trunk, herald)
            except (OSError, ErrorReply) as problem:
                if self._problem is None:
                    backoff.reset()
                pause = backoff.exact()
                self._away(_why(problem))
            except Exception as problem:
                log.exception("the registry failed")
                pause = LONGEST_PAUSE
                self._away(type(problem).__name__)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
        self._problem = STOPPED

    async def _work(self, trunk: Trunk, herald: Herald) -> None:
        link = await dial(self._endpoint, self._deadline, herald.hear, name=self.node)
        loop = asyncio.get_running_loop()
        session = self._session = Session(link, self._directory, herald, prefix=self._prefix, lease=self._lease)
        try:
            await session.open()
            log.info("the node is registered", extra={"node": self.node})
            self._problem = None
            self._settled = loop.time() + self._lease.seconds if self._served else loop.time()
            self._served = True
            self._ready.set()
            self._tried.set()
            trunk.resume()
            await session.keep(self._stopping)
            self._problem = STOPPED
            await session.close()
        finally:
            self._session = None
            self._ready.clear()
            link.fail(STOPPED)
            if self._stopping.is_set():
                trunk.abandon(unreachable())

    async def _watch_lease(self, board: Switchboard) -> None:
        """Disconnect the Agents of this node as soon as another node may have their seats."""
        while True:
            if self._lease.is_over():
                if number := board.dismiss_agents():
                    log.warning("the lease of this node may be over: %d agents were disconnected", number)
                await asyncio.sleep(FENCE_PAUSE)
            else:
                await asyncio.sleep(min(max(self._lease.left(), FENCE_PAUSE), LONGEST_PAUSE))

    def _away(self, why: str) -> None:
        problem = f"the registry cannot be reached: {why}"
        if problem != self._problem:
            log.warning(problem, extra={"node": self.node})
        self._problem = problem
        self._tried.set()

    # The bus

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        """Send a frame to a node; `then` is told how many listen there, or an exception."""
        if self._session is None:
            then(NotSent(self._problem))
        else:
            self._session.publish(node, frame, then)

    def is_settled(self) -> bool:
        """Whether every node has had the time to come back to a Redis that was away."""
        return asyncio.get_running_loop().time() >= self._settled

    def look_up(self, office_id: str, computer: str, then: Callable[[Seat | Exception | None], None]) -> None:
        """Ask Redis where a Computer is."""
        if self._session is None:
            then(NotSent(self._problem))
            return

        def found(reply: Any) -> None:
            known = isinstance(reply, bytes)
            then(unpack(office_id, computer_field(computer), reply.decode()) if known else reply)

        self._session.look_up(office_id, computer, found)


def _nothing(_: object) -> None:
    pass


def _why(problem: Exception) -> str:
    # Words for the operator, without addresses: they are shown where readiness is asked for.
    if isinstance(problem, LinkLost):
        return str(problem)
    if isinstance(problem, ErrorReply):
        return f"Redis refused ({str(problem).partition(' ')[0]})"
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, socket.gaierror):
        return "its name is not known"
    if isinstance(problem, OSError) and problem.errno:
        return os.strerror(problem.errno).lower()
    return "no connection"
