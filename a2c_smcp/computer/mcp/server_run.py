"""One life of an MCP server: from opening its link to leaving it, in one task."""

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
"""How often a process is looked at within the time of its start."""

# How the SDK's errors begin that stand for an answer which did not come over HTTP.
_SDK_WORDS: Final = ("SSE stream", "Server returned an error response", "Session terminated")
_CLIENT: Final = Implementation(name="a2c-smcp-computer", version=__version__)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long what may take, in seconds.

    Attributes:
        startup: From the start of a server to the end of its handshake, unless its configuration has `start_timeout`.
            While the process is visibly at work, as when it downloads, it is waited for again so long.
        slowest: What such a start may take at most.
        request: One request, tool calls apart: their time is the caller's.
        probe: A server on HTTP that was silent for so long is asked whether it is there.
        answer: How long it may take to say so.
        hang: The same for a process, which may be busy: one that says nothing for so long is started anew.
        grace: What a process gets to end by itself, and again after SIGTERM.
        era: How long a server may think about a question of the newer protocol era before the older one is tried.
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
    """A session with a server and everything that lives and dies with it.

    Attributes:
        session: The SDK's session; there from the moment the server runs.
        over: Whether it has ended, or is about to.
        started_at: When the server began to run, by the loop's clock.
        on_left_out: Called with the entries of its lists that are not offered.
    """

    session: ClientSession
    subscriptions: ServerSubscriptions

    def __init__(
        self,
        server: SERVER_NAME,
        link: McpTransport,
        news: ServerNotifications,
        memory: NegotiationMemory,
        timing: Timing,
        start_timeout: float | None = None,
    ) -> None:
        self.link = link
        self.over = False
        self.started_at = math.inf
        self.on_left_out: Callable[[list[RejectedEntry]], None] = lambda _: None
        self._server = server
        self._news = news
        self._memory = memory
        self.timing = timing
        self._start_timeout = start_timeout
        self._allowed = start_timeout or timing.startup
        self._intake: NotificationFilter
        self._tasks: anyio.abc.TaskGroup
        self._left = False
        self._doubtful = False
        self._probing = False
        self._verdict: ServerFailure | None = None
        self._wake = asyncio.Event()
        self._requests: dict[object, float] = {}
        link.on_doubt = self.doubt

    async def run(self, on_running: Callable[[], None]) -> ServerFailure | None:
        """Live; return why it ended, or None if it was left."""
        outcome: ServerFailure | None = None
        starting = anyio.move_on_after(self._allowed)
        # A limit that its owner set is kept to the letter.
        extending = None if self._start_timeout else asyncio.create_task(self._extend(starting))
        try:
            with starting:
                async with AsyncExitStack() as stack:
                    outcome = await self._live(stack, starting, on_running)
        except ExceptionGroup as group:
            # The SDK's own tasks failed under us.
            outcome = self.link.explain(running=self.running) or diagnosis.refused_handshake(_first(group), None)
        finally:
            self.over = True
            if extending is not None:
                extending.cancel()
        if starting.cancelled_caught:
            self._memory.asking = False
            return diagnosis.no_response(self._allowed, self.link.output)
        return outcome

    @property
    def running(self) -> bool:
        """Whether the handshake has been done."""
        return self.started_at < math.inf

    def leave(self) -> None:
        """End it, orderly."""
        self.over = self._left = True
        self._wake.set()

    def soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something that ends with this life."""
        self._tasks.start_soon(work)

    def cut(self, error: MCPError) -> bool:
        """Whether a request failed because the server was lost, rather than because it said so."""
        if self.over or self._intake.ended or self.link.lost is not None or _is_closed(error):
            return True
        return self.link.probed and (error.data == NO_REPLY or error.message.startswith(_SDK_WORDS))

    def begin(self) -> object:
        """A request sets out; give the token back to `end`."""
        token = object()
        self._requests[token] = self._now()
        return token

    def end(self, token: object, *, abandoned: bool = False) -> None:
        """A request is done, or nobody waits for it any more."""
        del self._requests[token]
        if abandoned:
            self.doubt()

    def doubt(self) -> None:
        """Something happened that makes it worth asking whether the server is still there."""
        self._doubtful = True
        self._wake.set()

    async def _extend(self, starting: anyio.CancelScope) -> None:
        """Move the limit of a start while the process is visibly at work."""
        began = anyio.current_time()
        interval = self.timing.startup / ACTIVITY_CHECKS
        before = await asyncio.to_thread(self.link.work)
        while not self.running:
            await asyncio.sleep(interval)
            work = await asyncio.to_thread(self.link.work)
            if work is not None and work.exceeds(before, interval) and not self.running:
                starting.deadline = min(anyio.current_time() + self.timing.startup, began + self.timing.slowest)
                self._allowed = max(self._allowed, float(round(starting.deadline - began)))
            before = work

    async def _live(
        self, stack: AsyncExitStack, starting: anyio.CancelScope, on_running: Callable[[], None]
    ) -> ServerFailure | None:
        try:
            read, write = await stack.enter_async_context(self.link)
        except TransportOpenError as error:
            return error.failure
        self._intake = NotificationFilter(read, self._news, self._wake.set)
        self._intake.on_left_out = self.on_left_out
        session = await stack.enter_async_context(ClientSession(self._intake, write, client_info=_CLIENT))
        try:
            await negotiate(session, self._memory, patience=self.timing.era)
        except (MCPError, ValidationError, RuntimeError) as error:
            await self._settle()
            # Only one that went away can have died of the question.
            self._memory.asking &= self._intake.ended
            return self.link.explain(running=False) or diagnosis.refused_handshake(_words(error), self.link.output)
        starting.deadline = math.inf
        self._intake.version = session.protocol_version
        self.session = session
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self.subscriptions = ServerSubscriptions(self._server, session, self._news, tasks)
            self.started_at = self._now()
            self._doubtful = False
            on_running()
            outcome = await self._watch()
            self.over = True
            tasks.cancel_scope.cancel()
        return outcome

    async def _settle(self) -> None:
        # A process that went away in the handshake is told apart from one that refused it by its end, a moment later.
        if self.link.probed:
            return
        with anyio.move_on_after(0.3):
            while not self._intake.ended:
                self._wake.clear()
                await self._wake.wait()

    async def _watch(self) -> ServerFailure | None:
        while True:
            with anyio.move_on_after(self._until_probe()):
                await self._wake.wait()
            self._wake.clear()
            if self._left:
                return None
            if (failure := self._verdict or self.link.lost) is not None:
                return failure
            if self._intake.ended:
                return self.link.explain(running=True) or diagnosis.stream_lost()
            if not self._probing and (self._doubtful or self._until_probe() <= 0):
                self._probing, self._doubtful = True, False
                self._tasks.start_soon(self._probe)

    def _until_probe(self) -> float:
        if not self.link.probed or self._probing or self._requests:
            return math.inf
        return max(0.0, max(self._intake.heard_at, self.started_at) + self.timing.probe - self._now())

    async def _probe(self) -> None:
        """Ask whether the server is there. One sign of life, be it an error, is enough; twice none is not."""
        began = self._now()
        patience = self.timing.answer if self.link.probed else self.timing.hang
        for _ in range(2):
            with anyio.move_on_after(patience / 2):
                await self._ask()
            if self._intake.heard_at > began and not self._unwell():
                break
            if self.link.lost is not None or self._intake.ended:
                break
            await anyio.sleep(min(RETRY_SECONDS, patience / 2))
        else:
            failure = self.link.explain(running=True)
            if failure is None and any(asked < began for asked in self._requests.values()):
                # It may be busy with what it was asked before; that has a time-out of its own.
                self._doubtful = True
            else:
                self._verdict = failure or diagnosis.no_response(patience, self.link.output, running=True)
        self._probing = False
        self._wake.set()

    async def _ask(self) -> None:
        try:
            if is_modern(self.session):
                await self.session.send_discover(str(self.session.protocol_version))
            else:
                await self.session.send_ping()
        except (MCPError, ValidationError):
            return

    def _unwell(self) -> bool:
        return self.link.probed and self.link.explain(running=True) is not None

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _is_closed(error: MCPError) -> bool:
    # What the SDK says of a link that takes no more messages, a moment before its end is known.
    return (error.code, error.message, error.data) == (CONNECTION_CLOSED, "Connection closed", None)


def _words(error: Exception) -> str:
    return error.message if isinstance(error, MCPError) else "its answer is not one of the protocol"


def _first(group: ExceptionGroup[Exception]) -> str:
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
