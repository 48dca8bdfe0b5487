"""The registry in Redis, with which many nodes form one Server.

A node has one connection (`redis_connection`), on which it adds and removes members, renews its lease, publishes to the
channels of other nodes and subscribes to its own. Replies are applied in order, so the `directory` stays consistent.

During a Redis outage the node continues until its lease ends: members stay, local requests and notifications work, and
joins fail with an error. When the lease ends, another node may add another Agent to an office of this one, so the node
disconnects its Agents and refuses their requests. After the outage, even if Redis lost its data, the node reconciles
its members with Redis (`node_session`).
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
    """Stores members in Redis, shared by every node with the same Redis and prefix.

    Args:
        url: The URL of Redis; `redis_url` lists the forms.
        node: A name for logs. Each start is a new node, whatever its name; other nodes remove the members of a killed
            one.
        lease_seconds: How long a node that disappeared keeps its members.
        prefix: The prefix of keys and channels.
        deadline: Seconds within which Redis must reply.

    Raises:
        InvalidConfig: An argument cannot be used.
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

    # Registry

    async def start(self, router: CallRouter) -> None:
        """Connect and register; if Redis is not available, keep trying in the background."""
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
        """Remove every member of this node, which notifies the others, and stop."""
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
        """Add a member, atomically."""
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
            log.info("join failed: reason=%s", problem)
        raise registry_unavailable_error()

    async def _refuse_lookalike(self, member: Member) -> None:
        # Checked afterwards: of two similar names that join at once, the later one sees the other.
        try:
            check_lookalike(self._directory.others(member.office_id), member)
        except Forbidden:
            await self.remove_member(member)
            raise

    async def holder(self, member: Member) -> Member | None:
        """Return the member that has the role or name which `member` asks for."""
        try:
            session = await self._ready_session()
            found = await session.holder(member)
        except (RedisLost, RedisErrorReply):
            raise registry_unavailable_error() from None
        return found

    async def evict(self, holder: Member, *, challenge: bool) -> None:
        """Ask another node to close a member's connection."""
        self.publish(holder.node, pack_frame(EvictFrame(holder.sid, holder.office_id, self.node, challenge)), _nothing)

    async def remove_member(self, member: Member) -> None:
        """Remove a member, without waiting for Redis; during an outage it is removed afterwards."""
        owned = self._directory.remove_own(member)
        if owned is not None and self._session is not None and self._ready.is_set():
            self._session.release(owned)

    async def wait_released(self) -> None:
        """Wait until Redis has removed the members; not during an outage."""
        if self._session is not None and self._ready.is_set():
            with suppress(RedisLost, RedisErrorReply):
                await self._session.completed()

    async def members(self, office_id: str) -> list[Member]:
        """Return the members of an office, the Agent first, then Computers by name."""
        try:
            return await (await self._ready_session()).members(office_id)
        except (RedisLost, RedisErrorReply):
            raise registry_unavailable_error() from None

    async def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Notify the members of an office on other nodes; the removal of a member notifies them of a leave itself."""
        nodes = self._directory.nodes(office_id)
        if not nodes or event == LEAVE_OFFICE_NOTIFICATION:
            return
        frame = pack_frame(NotifyFrame(office_id, event, skip), orjson.dumps(data, default=str))
        for node in nodes:
            self.publish(node, frame, _nothing)

    def remote_member_count(self, office_id: str) -> int:
        """Return how many members of an office are on other nodes."""
        return self._directory.remote_member_count(office_id)

    def problem(self) -> str | None:
        """Return why this node is not ready, or None."""
        return self._problem

    async def _ready_session(self) -> NodeSession:
        # Wait for a session that is being opened, but not for a Redis that cannot be reached.
        if self._session is not None and not self._ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), self._deadline)
        if self._session is None or not self._ready.is_set():
            raise RedisLost(self._problem)
        return self._session

    # The connection

    async def _run(self, remote_calls: RemoteCalls, listener: BusListener) -> None:
        backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while not self._stopping.is_set():
            pause = FIRST_RETRY_SECONDS
            try:
                await self._run_session(remote_calls, listener)
            except (OSError, RedisErrorReply) as problem:
                if self._problem is None:
                    backoff.reset()
                pause = backoff.exact()
                self._report_unavailable(_reason(problem))
            except Exception as problem:
                log.exception("registry failed")
                pause = MAX_RETRY_SECONDS
                self._report_unavailable(type(problem).__name__)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
        self._problem = STOPPED

    async def _run_session(self, remote_calls: RemoteCalls, listener: BusListener) -> None:
        connection = await connect_redis(self._endpoint, self._deadline, listener.handle, name=self.node)
        loop = asyncio.get_running_loop()
        session = self._session = NodeSession(
            connection, self._directory, listener, prefix=self._prefix, lease=self._lease
        )
        try:
            await session.open()
            log.info("node registered", extra={"node": self.node})
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
            connection.fail(STOPPED)
            if self._stopping.is_set():
                remote_calls.abandon(registry_unavailable_error())

    async def _watch_lease(self, router: CallRouter) -> None:
        """Disconnect the Agents of this node as soon as its lease is over."""
        while True:
            if self._lease.is_over():
                if number := router.disconnect_agents():
                    log.warning("lease of this node expired: agents_disconnected=%d", number)
                await asyncio.sleep(LEASE_POLL_SECONDS)
            else:
                await asyncio.sleep(min(max(self._lease.left(), LEASE_POLL_SECONDS), MAX_RETRY_SECONDS))

    def _report_unavailable(self, why: str) -> None:
        problem = f"the registry cannot be reached: {why}"
        if problem != self._problem:
            log.warning(problem, extra={"node": self.node})
        self._problem = problem
        self._tried.set()

    # NodeBus

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        """Send a frame to a node; call `then` with the number of receivers, or an exception."""
        if self._session is None:
            then(CommandNotSent(self._problem))
        else:
            self._session.publish(node, frame, then)

    def is_stable(self) -> bool:
        """Return whether every node has had time to reconnect after an outage."""
        return asyncio.get_running_loop().time() >= self._stable_at

    def look_up(self, office_id: str, computer: str, then: Callable[[Member | Exception | None], None]) -> None:
        """Ask Redis for a Computer."""
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
    # Shown by /readyz, so without addresses.
    if isinstance(problem, RedisLost):
        return str(problem)
    if isinstance(problem, RedisErrorReply):
        return f"Redis refused ({str(problem).partition(' ')[0]})"
    if isinstance(problem, TimeoutError):
        return "no reply in time"
    if isinstance(problem, socket.gaierror):
        return "unknown host name"
    if isinstance(problem, OSError) and problem.errno:
        return os.strerror(problem.errno).lower()
    return "no connection"
