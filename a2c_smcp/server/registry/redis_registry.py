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

from a2c_smcp.errors import Forbidden, InvalidConfig
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.offices import Member, check_join, check_lookalike, name_taken_error
from a2c_smcp.server.registry.bus_listener import BusListener
from a2c_smcp.server.registry.directory import OfficeDirectory
from a2c_smcp.server.registry.frames import EvictFrame, NotifyFrame, pack_frame
from a2c_smcp.server.registry.node_session import NodeLease, NodeSession
from a2c_smcp.server.registry.redis_connection import CommandNotSent, RedisLost, connect_redis
from a2c_smcp.server.registry.redis_url import parse_endpoint
from a2c_smcp.server.registry.remote_calls import RemoteCalls, registry_unavailable_error
from a2c_smcp.server.registry.resp import RedisErrorReply
from a2c_smcp.server.registry.scripts import computer_field, unpack_member
from a2c_smcp.smcp import LEAVE_OFFICE_NOTIFICATION

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)
JOIN_TRIES: Final = 3
FIRST_RETRY_SECONDS: Final = 0.05
MAX_RETRY_SECONDS: Final = 1.0
LEASE_POLL_SECONDS: Final = 0.05
EARLY_RETRY_SECONDS: Final = 0.5
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
        self._lease = NodeLease(lease_seconds)
        self._prefix = prefix
        self._deadline = deadline
        self._directory = OfficeDirectory(self.node)
        self._router: CallRouter | None = None
        self._session: NodeSession | None = None
        self._problem: str | None = "the node has not been started"
        self._tried = asyncio.Event()
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._lease_task: asyncio.Task[None] | None = None
        self._was_ready = False
        self._stable_at = 0.0

    # The Registry

    async def start(self, router: CallRouter) -> None:
        """Connect and register; if Redis is away, go on trying behind the scenes."""
        self._stopping.clear()
        self._tried.clear()
        self._router = router
        remote_calls = router.remote = RemoteCalls(router, self._directory, self)
        listener = BusListener(router, self._directory, remote_calls, self)
        router.lease = self._lease
        self._task = asyncio.create_task(self._run(remote_calls, listener), name="a2c-registry")
        self._lease_task = asyncio.create_task(self._watch_lease(router), name="a2c-registry-lease")
        await self._tried.wait()

    async def stop(self) -> None:
        """Give up every seat of this node, tell the others, and end."""
        self._stopping.set()
        try:
            if self._task is not None:
                await asyncio.wait([self._task], timeout=1.5 * self._deadline)
        finally:
            for task in (self._task, self._lease_task):
                if task is not None:
                    task.cancel()
            if self._router is not None:
                self._router.remote = self._router.lease = None
            self._directory.clear()

    async def add_member(self, member: Member) -> None:
        """Take a seat, atomically."""
        try:
            session = await self._ready_session()
            tries, patience = JOIN_TRIES, self._lease.seconds + self._deadline
            while tries:
                tries -= 1
                if self._router is not None:
                    check_join(self._router.offices.get(member.office_id), member)
                outcome = await session.take(member)
                if outcome == "ok":
                    await self._refuse_lookalike(member)
                    return
                if outcome == "early" and patience > 0:
                    pause = min(session.wait, EARLY_RETRY_SECONDS)
                    patience -= pause
                    await asyncio.sleep(pause)
                    tries = JOIN_TRIES
                elif outcome == "early":
                    break
                elif outcome == "lost":
                    await session.renew()
                elif outcome == "dead" and session.steady():
                    await session.reap()
                else:
                    raise name_taken_error(member)
        except (RedisLost, RedisErrorReply) as problem:
            log.info("a seat could not be taken: %s", problem)
        raise registry_unavailable_error()

    async def _refuse_lookalike(self, member: Member) -> None:
        # Only now: of two that look alike and come at once, the one that Redis seated later sees the other.
        try:
            check_lookalike(self._directory.others(member.office_id), member)
        except Forbidden:
            await self.remove_member(member)
            raise

    async def holder(self, member: Member) -> Member | None:
        """Return who has the seat that `member` asks for."""
        try:
            session = await self._ready_session()
            found = await session.holder(member)
        except (RedisLost, RedisErrorReply):
            raise registry_unavailable_error() from None
        return found

    async def evict(self, holder: Member, *, challenge: bool) -> None:
        """Have the other node end the connection of a member."""
        self.publish(holder.node, pack_frame(EvictFrame(holder.sid, holder.office_id, self.node, challenge)), _nothing)

    async def remove_member(self, member: Member) -> None:
        """Free a seat. Nobody waits for Redis: if it is away, the seat is freed when it returns."""
        owned = self._directory.remove_own(member)
        if owned is not None and self._session is not None and self._ready.is_set():
            self._session.release(owned)

    async def wait_released(self) -> None:
        """Wait until Redis has freed what was released; not when it is away."""
        if self._session is not None and self._ready.is_set():
            with suppress(RedisLost, RedisErrorReply):
                await self._session.completed()

    async def members(self, office_id: str) -> list[Member]:
        """Everybody in an office, the Agent first, then Computers by name."""
        try:
            return await (await self._ready_session()).members(office_id)
        except (RedisLost, RedisErrorReply):
            raise registry_unavailable_error() from None

    async def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Tell the members of an office on other nodes. Leaving is told by the freed seat itself, once."""
        nodes = self._directory.nodes(office_id)
        if not nodes or event == LEAVE_OFFICE_NOTIFICATION:
            return
        frame = pack_frame(NotifyFrame(office_id, event, skip), orjson.dumps(data, default=str))
        for node in nodes:
            self.publish(node, frame, _nothing)

    def remote_member_count(self, office_id: str) -> int:
        """How many members of an office are on other nodes."""
        return self._directory.remote_member_count(office_id)

    def problem(self) -> str | None:
        """Why this node is not ready to serve, or None."""
        return self._problem

    async def _ready_session(self) -> NodeSession:
        # A connection that is just being made is worth a moment's wait; one that cannot be made is not.
        if self._session is not None and not self._ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), self._deadline)
        if self._session is None or not self._ready.is_set():
            raise RedisLost(self._problem)
        return self._session

    # The connection

    async def _run(self, remote_calls: RemoteCalls, listener: BusListener) -> None:
        pause = FIRST_RETRY_SECONDS
        while not self._stopping.is_set():
            try:
                await self._run_session(remote_calls, listener)
            except (OSError, RedisErrorReply) as problem:
                pause = FIRST_RETRY_SECONDS if self._problem is None else min(2 * pause, MAX_RETRY_SECONDS)
                self._report_unavailable(_reason(problem))
            except Exception as problem:
                log.exception("the registry failed")
                pause = MAX_RETRY_SECONDS
                self._report_unavailable(type(problem).__name__)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
        self._problem = STOPPED

    async def _run_session(self, remote_calls: RemoteCalls, listener: BusListener) -> None:
        link = await connect_redis(self._endpoint, self._deadline, listener.handle, name=self.node)
        loop = asyncio.get_running_loop()
        session = self._session = NodeSession(link, self._directory, listener, prefix=self._prefix, lease=self._lease)
        try:
            await session.open()
            log.info("the node is registered", extra={"node": self.node})
            self._problem = None
            self._stable_at = loop.time() + self._lease.seconds if self._was_ready else loop.time()
            self._was_ready = True
            self._ready.set()
            self._tried.set()
            remote_calls.resume()
            await session.keep(self._stopping)
            self._problem = STOPPED
            await session.close()
        finally:
            self._session = None
            self._ready.clear()
            link.fail(STOPPED)
            if self._stopping.is_set():
                remote_calls.abandon(registry_unavailable_error())

    async def _watch_lease(self, router: CallRouter) -> None:
        """Disconnect the Agents of this node as soon as another node may have their seats."""
        while True:
            if self._lease.is_over():
                if number := router.disconnect_agents():
                    log.warning("the lease of this node may be over: %d agents were disconnected", number)
                await asyncio.sleep(LEASE_POLL_SECONDS)
            else:
                await asyncio.sleep(min(max(self._lease.left(), LEASE_POLL_SECONDS), MAX_RETRY_SECONDS))

    def _report_unavailable(self, why: str) -> None:
        problem = f"the registry cannot be reached: {why}"
        if problem != self._problem:
            log.warning(problem, extra={"node": self.node})
        self._problem = problem
        self._tried.set()

    # The bus

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        """Send a frame to a node; `then` is told how many listen there, or an exception."""
        if self._session is None:
            then(CommandNotSent(self._problem))
        else:
            self._session.publish(node, frame, then)

    def is_stable(self) -> bool:
        """Whether every node has had the time to come back to a Redis that was away."""
        return asyncio.get_running_loop().time() >= self._stable_at

    def look_up(self, office_id: str, computer: str, then: Callable[[Member | Exception | None], None]) -> None:
        """Ask Redis where a Computer is."""
        if self._session is None:
            then(CommandNotSent(self._problem))
            return

        def found(reply: Any) -> None:
            known = isinstance(reply, bytes)
            then(unpack_member(office_id, computer_field(computer), reply.decode()) if known else reply)

        self._session.look_up(office_id, computer, found)


def _nothing(_: object) -> None:
    pass


def _reason(problem: Exception) -> str:
    # Words for the operator, without addresses: they are shown where readiness is asked for.
    if isinstance(problem, RedisLost):
        return str(problem)
    if isinstance(problem, RedisErrorReply):
        return f"Redis refused ({str(problem).partition(' ')[0]})"
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, socket.gaierror):
        return "its name is not known"
    if isinstance(problem, OSError) and problem.errno:
        return os.strerror(problem.errno).lower()
    return "no connection"
