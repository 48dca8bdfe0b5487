"""One run of an MCP server in one task: from opening the transport to closing it."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import anyio.abc
from mcp import ClientSession, Implementation, MCPError
from mcp.types import CONNECTION_CLOSED
from pydantic import ValidationError

from a2c_smcp import __version__
from a2c_smcp.computer.mcp import diagnosis
from a2c_smcp.computer.mcp.diagnosis import ServerFailure
from a2c_smcp.computer.mcp.http import NO_REPLY
from a2c_smcp.computer.mcp.list_repair import RejectedEntry
from a2c_smcp.computer.mcp.negotiation import PATIENCE, NegotiationMemory, is_modern, negotiate
from a2c_smcp.computer.mcp.notifications import NotificationFilter, ServerNotifications
from a2c_smcp.computer.mcp.restarts import RestartPolicy
from a2c_smcp.computer.mcp.stdio import GRACE_SECONDS
from a2c_smcp.computer.mcp.subscriptions import ServerSubscriptions
from a2c_smcp.computer.mcp.transport import McpTransport, TransportOpenError
from a2c_smcp.types import SERVER_NAME

RETRY_SECONDS: Final = 0.25
ACTIVITY_CHECKS: Final = 6
"""How often the activity of a starting process is checked within its start timeout."""

# The beginnings of the SDK's errors for a reply that did not arrive over HTTP.
_SDK_NO_REPLY: Final = ("SSE stream", "Server returned an error response", "Session terminated")
_CLIENT: Final = Implementation(name="a2c-smcp-computer", version=__version__)


@dataclass(frozen=True, slots=True)
class Timing:
    """Timeouts in seconds.

    Attributes:
        startup: From the start of a server to the end of its handshake, unless its configuration has `start_timeout`.
            A process that is visibly active, for example downloading, gets the same time again.
        slowest: The maximum for such an extended start.
        request: One request; tool calls have the timeout of their caller.
        probe: An HTTP server that was silent for this long is pinged.
        answer: The timeout of that ping.
        hang: The timeout of the ping of a process, which may be busy; then it is restarted.
        grace: The time for a process to exit by itself, and again after SIGTERM.
        era: How long to wait for a reply of the newer protocol era before the older one is tried.
    """

    startup: float = 60.0
    slowest: float = 900.0
    request: float = 60.0
    probe: float = 30.0
    answer: float = 10.0
    hang: float = 30.0
    grace: float = GRACE_SECONDS
    era: float = PATIENCE
    restarts: RestartPolicy = field(default_factory=RestartPolicy)


class ServerRun:
    """A session with a server, and everything with the same lifetime.

    Attributes:
        session: The SDK's session; set once the server runs.
        over: Whether it has ended or is about to.
        started_at: When the handshake was done, by the loop's clock.
        on_rejected: Called with the entries of its lists that are not offered.
    """

    session: ClientSession
    subscriptions: ServerSubscriptions

    def __init__(
        self,
        server: SERVER_NAME,
        transport: McpTransport,
        notifications: ServerNotifications,
        memory: NegotiationMemory,
        timing: Timing,
        start_timeout: float | None = None,
    ) -> None:
        self.transport = transport
        self.over = False
        self.started_at = math.inf
        self.on_rejected: Callable[[list[RejectedEntry]], None] = lambda _: None
        self._server = server
        self._notifications = notifications
        self._memory = memory
        self.timing = timing
        self._start_timeout = start_timeout
        self._allowed = start_timeout or timing.startup
        self._filter: NotificationFilter
        self._tasks: anyio.abc.TaskGroup
        self._stopping = False
        self._doubtful = False
        self._probing = False
        self._verdict: ServerFailure | None = None
        self._wake = asyncio.Event()
        self._requests: dict[object, float] = {}
        transport.on_doubt = self.doubt

    async def run(self, on_running: Callable[[], None]) -> ServerFailure | None:
        """Run until the end; return why it ended, or None after `stop`."""
        outcome: ServerFailure | None = None
        starting = anyio.move_on_after(self._allowed)
        # A configured start timeout is not extended.
        extending = None if self._start_timeout else asyncio.create_task(self._extend(starting))
        try:
            with starting:
                async with AsyncExitStack() as stack:
                    outcome = await self._run(stack, starting, on_running)
        except ExceptionGroup as group:
            # A task of the SDK failed.
            outcome = self.transport.explain(running=self.running) or diagnosis.refused_handshake(
                _first_name(group), None
            )
        finally:
            self.over = True
            if extending is not None:
                extending.cancel()
        if starting.cancelled_caught:
            self._memory.discovering = False
            return diagnosis.no_response(self._allowed, self.transport.output)
        return outcome

    @property
    def running(self) -> bool:
        """Whether the handshake is done."""
        return self.started_at < math.inf

    def stop(self) -> None:
        """End the run in an orderly way."""
        self.over = self._stopping = True
        self._wake.set()

    def start_task(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start a task that is cancelled when this run ends."""
        self._tasks.start_soon(work)

    def is_transport_failure(self, error: MCPError) -> bool:
        """Whether a request failed by a transport failure, not by an error reply."""
        if self.over or self._filter.ended or self.transport.lost is not None or _is_closed(error):
            return True
        return self.transport.needs_probe and (error.data == NO_REPLY or error.message.startswith(_SDK_NO_REPLY))

    def begin_request(self) -> object:
        """Record the start of a request; pass the returned token to `end_request`."""
        token = object()
        self._requests[token] = self._now()
        return token

    def end_request(self, token: object, *, abandoned: bool = False) -> None:
        """Record the end of a request.

        Args:
            abandoned: Whether its caller gave up waiting, which makes a probe worthwhile.
        """
        del self._requests[token]
        if abandoned:
            self.doubt()

    def doubt(self) -> None:
        """Request a probe: something suggests that the server may be gone."""
        self._doubtful = True
        self._wake.set()

    async def _extend(self, starting: anyio.CancelScope) -> None:
        """Extend the start timeout while the process is visibly active."""
        began = anyio.current_time()
        interval = self.timing.startup / ACTIVITY_CHECKS
        before = await asyncio.to_thread(self.transport.work)
        while not self.running:
            await asyncio.sleep(interval)
            work = await asyncio.to_thread(self.transport.work)
            if work is not None and work.exceeds(before, interval) and not self.running:
                starting.deadline = min(anyio.current_time() + self.timing.startup, began + self.timing.slowest)
                self._allowed = max(self._allowed, float(round(starting.deadline - began)))
            before = work

    async def _run(
        self, stack: AsyncExitStack, starting: anyio.CancelScope, on_running: Callable[[], None]
    ) -> ServerFailure | None:
        try:
            read, write = await stack.enter_async_context(self.transport)
        except TransportOpenError as error:
            return error.failure
        self._filter = NotificationFilter(read, self._notifications, self._wake.set)
        self._filter.on_rejected = self.on_rejected
        session = await stack.enter_async_context(ClientSession(self._filter, write, client_info=_CLIENT))
        try:
            await negotiate(session, self._memory, patience=self.timing.era)
        except (MCPError, ValidationError, RuntimeError) as error:
            await self._await_exit()
            # Only a server that closed the connection can have crashed on the request of the newer era.
            self._memory.discovering &= self._filter.ended
            return self.transport.explain(running=False) or diagnosis.refused_handshake(
                _message(error), self.transport.output
            )
        starting.deadline = math.inf
        self._filter.version = session.protocol_version
        self.session = session
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self.subscriptions = ServerSubscriptions(self._server, session, self._notifications, tasks)
            self.started_at = self._now()
            self._doubtful = False
            on_running()
            outcome = await self._watch()
            self.over = True
            tasks.cancel_scope.cancel()
        return outcome

    async def _await_exit(self) -> None:
        # Wait a moment for the end of the process, which distinguishes a crash from a refused handshake.
        if self.transport.needs_probe:
            return
        with anyio.move_on_after(0.3):
            while not self._filter.ended:
                self._wake.clear()
                await self._wake.wait()

    async def _watch(self) -> ServerFailure | None:
        while True:
            with anyio.move_on_after(self._until_probe()):
                await self._wake.wait()
            self._wake.clear()
            if self._stopping:
                return None
            if (failure := self._verdict or self.transport.lost) is not None:
                return failure
            if self._filter.ended:
                return self.transport.explain(running=True) or diagnosis.stream_lost()
            if not self._probing and (self._doubtful or self._until_probe() <= 0):
                self._probing, self._doubtful = True, False
                self._tasks.start_soon(self._probe)

    def _until_probe(self) -> float:
        if not self.transport.needs_probe or self._probing or self._requests:
            return math.inf
        return max(0.0, max(self._filter.received_at, self.started_at) + self.timing.probe - self._now())

    async def _probe(self) -> None:
        """Ping the server twice at most. Any reply, even an error, is a sign of life."""
        began = self._now()
        patience = self.timing.answer if self.transport.needs_probe else self.timing.hang
        for _ in range(2):
            with anyio.move_on_after(patience / 2):
                await self._ping()
            if self._filter.received_at > began and not self._is_failing():
                break
            if self.transport.lost is not None or self._filter.ended:
                break
            await anyio.sleep(min(RETRY_SECONDS, patience / 2))
        else:
            failure = self.transport.explain(running=True)
            if failure is None and any(asked < began for asked in self._requests.values()):
                # The server may be busy with an earlier request, which has its own timeout.
                self._doubtful = True
            else:
                self._verdict = failure or diagnosis.no_response(patience, self.transport.output, running=True)
        self._probing = False
        self._wake.set()

    async def _ping(self) -> None:
        try:
            if is_modern(self.session):
                await self.session.send_discover(str(self.session.protocol_version))
            else:
                await self.session.send_ping()
        except (MCPError, ValidationError):
            return

    def _is_failing(self) -> bool:
        return self.transport.needs_probe and self.transport.explain(running=True) is not None

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _is_closed(error: MCPError) -> bool:
    # The SDK's error for a closed stream, which may arrive just before the end of the stream is known.
    return (error.code, error.message, error.data) == (CONNECTION_CLOSED, "Connection closed", None)


def _message(error: Exception) -> str:
    return error.message if isinstance(error, MCPError) else "its answer is not one of the protocol"


def _first_name(group: ExceptionGroup[Exception]) -> str:
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
