"""One tool call, from the request to its outcome.

The first of result, timeout and cancellation decides the outcome. Callers get it at once, even if the MCP server
is slow to stop.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.ports import Json, McpSessions, ServerState
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.completed_calls import CallKey, CallOutcome
from a2c_smcp.computer.tools.confirmation import ConsentPolicy, refusal, with_request_meta
from a2c_smcp.computer.tools.definition import runs_as
from a2c_smcp.computer.tools.history import CallHistory
from a2c_smcp.computer.tools.journal import CallJournal
from a2c_smcp.computer.tools.progress import CallEvent, CallObserver, CallStage, ProgressReports, advance
from a2c_smcp.computer.tools.results import cancelled, failed, from_mcp, interrupted, timed_out
from a2c_smcp.computer.tools.shaping import Shaper
from a2c_smcp.computer.tools.tool_cache import ToolCache
from a2c_smcp.errors import InternalError, SMCPError, ToolFailed, ToolTimeout
from a2c_smcp.messages import ProgressData, ToolCallReq

logger = logging.getLogger(__name__)

ASKING: Final = "waiting for the owner of the Computer to allow this call"
"""The progress message while the owner is asked."""

CallPhase: TypeAlias = Literal["resolving", "asking", "running", "shaping", "ended"]


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of tool calls. Times are in seconds.

    Attributes:
        confirm: The timeout for the owner's decision; never longer than the request's own timeout.
        extension: The most times its timeout that a call may take while it reports progress.
        longest: The maximum of such an extension.
        keep: How long an outcome is kept for a repeated request.
        keep_entries: The most outcomes that are kept.
        keep_weight: Their total weight limit, in characters.
        early_cancel: How long a cancellation that arrives before its call is remembered.
        running: The most concurrent calls.
    """

    confirm: float = 120.0
    extension: float = 10.0
    longest: float = 3600.0
    keep: float = 300.0
    keep_entries: int = 4000
    keep_weight: int = 64 << 20
    early_cancel: float = 10.0
    running: int = 1000


@dataclass(frozen=True, slots=True)
class CallServices:
    """The parts of the Computer that a call uses."""

    sessions: McpSessions
    tool_cache: ToolCache
    consent: ConsentPolicy
    shaper: Shaper
    history: CallHistory
    limits: CallLimits
    observer: CallObserver | None
    reports: ProgressReports | None = None
    journal: CallJournal | None = None


class RunningCall:
    """A running call.

    Args:
        on_end: Called once, when the outcome is known.
        on_gone: Called when its task has ended, which can be later if a server is slow to stop.
    """

    def __init__(
        self,
        request: ToolCallReq,
        key: CallKey,
        fingerprint: str,
        services: CallServices,
        on_end: Callable[["RunningCall", CallOutcome], None],
        on_gone: Callable[["RunningCall"], None],
    ) -> None:
        self.key = key
        self.fingerprint = fingerprint
        self._name, self._arguments = request["tool_name"], request["params"]
        self._meta = request.get("meta")
        self._seconds: float = request["timeout"]
        self._services, self._on_end, self._on_gone = services, on_end, on_gone
        self._loop = asyncio.get_running_loop()
        self._received_at = self._loop.time()
        self._started: float | None = None
        self._timestamp = ""
        self._route: Route | None = None
        self._phase: CallPhase = "resolving"
        self._followed = False
        self._reported: ProgressData | None = None
        self._waiters: list[asyncio.Future[CallOutcome]] = []
        self._deadline = self._received_at + self._seconds
        self._timer = self._loop.call_at(self._deadline, self._on_timeout)
        self.task = asyncio.create_task(self._main(), name=f"call {self._name}")
        self.task.add_done_callback(self._on_task_done)

    async def outcome(self) -> CallOutcome:
        """Wait for the outcome. Cancelling the wait does not cancel the call."""
        waiter: asyncio.Future[CallOutcome] = self._loop.create_future()
        self._waiters.append(waiter)
        return await waiter

    def follow(self) -> None:
        """Send progress to the Agent from now on."""
        self._followed = True

    def cancel(self) -> bool:
        """Cancel it at the MCP server; return False if the tool has finished."""
        if self._phase in ("shaping", "ended"):
            return False
        self._end(CallOutcome(cancelled(self._name)), CallStage.CANCELLED)
        self.task.cancel()
        return True

    def interrupt(self) -> None:
        """Stop it because the Computer stops."""
        self._end(CallOutcome(interrupted(self._name)), CallStage.FAILED)
        self.task.cancel()

    async def _main(self) -> None:
        try:
            outcome = await self._work()
        except SMCPError as error:
            # A refusal is final; any other error before the tool ran may be retried.
            outcome = CallOutcome(error=error, final=(error.details or {}).get("reason") == "refused")
        except Exception:
            # The outermost handler of a call: the Agent gets an error with a code.
            logger.exception("tool call failed: req_id=%s", self.key.req_id, extra={"req_id": self.key.req_id})
            broken = InternalError("The call failed because of an internal error of the Computer; see its log")
            outcome = CallOutcome(failed(broken)) if self._started else CallOutcome(error=broken, final=False)
        self._end(outcome, _stage(outcome))

    async def _work(self) -> CallOutcome:
        services = self._services
        self._route = route = await services.tool_cache.resolve(self._name)
        session = services.sessions.get(route.server)
        if session is None or session.status.state is not ServerState.RUNNING:
            # Check before asking the owner about a call that cannot run.
            if session is not None and session.status.state is ServerState.STARTING:
                raise services.tool_cache.starting(route.server)
            return CallOutcome(failed(ToolFailed(f"The MCP server {route.server!r} is not running")), final=False)
        if not services.consent.is_allowed(route, self.key):
            if services.journal is not None:
                services.journal.accepted(self.key, self.fingerprint)
            await self._ask(route)
            self._route = route = await self._resolved_again(route)
        if self._phase == "ended":
            # A callee swallowed the cancellation: do not run a tool whose outcome is decided.
            raise asyncio.CancelledError
        recorded = None
        if services.journal is not None:
            repeatable = route.definition.repeatable
            recorded = services.journal.started(self.key, self.fingerprint, repeatable=repeatable)
        self._start(route)
        if recorded is not None:
            await recorded
        try:
            raw = await session.call_tool(route.tool, self._arguments, progress=self._progress, meta=self._meta)
        except SMCPError as error:
            return CallOutcome(failed(error))
        # The tool has finished: neither the timeout nor a cancellation discards its result.
        self._phase = "shaping"
        self._timer.cancel()
        result = from_mcp(raw)
        if services.shaper.concerns(route):
            result = await services.shaper.shape(result, route, self._arguments)
        return CallOutcome(result)

    async def _ask(self, route: Route) -> None:
        seconds = min(self._services.limits.confirm, self._deadline - self._loop.time())
        self._phase = "asking"
        self._set_timeout(seconds)
        self._notify(CallStage.ASKED)
        self._report(0.0, None, ASKING)
        shown = with_request_meta(self._arguments, self._meta)
        await self._services.consent.ask(route, self.key, shown, seconds, lambda: self._phase == "asking")

    async def _resolved_again(self, asked: Route) -> Route:
        """Resolve the name again after the owner's decision; it must be the tool that the owner was asked about.

        Raises:
            ToolDisabled: The tool was forbidden meanwhile.
            ToolNotFound: The tool is gone.
            ConfirmationRequired: The name means another tool now, or its definition changed.
        """
        route = await self._services.tool_cache.resolve(self._name)
        before, now = ((one.server, one.tool, runs_as(one.config), one.definition.digest) for one in (asked, route))
        if before != now:
            raise refusal(asked, "changed", 0)
        return route

    def _start(self, route: Route) -> None:
        self._phase = "running"
        self._started = self._loop.time()
        self._timestamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._set_timeout(self._seconds)
        self._services.history.touch(route.server)
        self._notify(CallStage.STARTED)

    def _progress(self, done: float, total: float | None, message: str | None) -> None:
        if self._phase != "running" or self._started is None:
            return
        limits = self._services.limits
        most = self._started + max(self._seconds, min(self._seconds * limits.extension, limits.longest))
        self._deadline = min(self._loop.time() + self._seconds, most)
        self._notify(CallStage.PROGRESS, progress=(done, total, message))
        self._report(done, total, message)

    def _report(self, done: float, total: float | None, message: str | None) -> None:
        if self._followed and (report := advance(self._reported, done, total, message)) is not None:
            self._reported = report
            if self._services.reports is not None:
                self._services.reports.report(self.key, report)

    def _set_timeout(self, seconds: float) -> None:
        self._deadline = self._loop.time() + seconds
        # A timer that fires too early is set again.
        if self._deadline < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(self._deadline, self._on_timeout)

    def _on_timeout(self) -> None:
        now = self._loop.time()
        if now < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._on_timeout)
            return
        if self._started is not None:
            allowed = round(self._deadline - self._started, 1)
            self._end(CallOutcome(timed_out(self._name, allowed)), CallStage.TIMED_OUT)
        elif self._phase == "asking" and self._route is not None:
            change = self._services.consent.changes(self._route, self.key)
            expired = refusal(self._route, "expired", now - self._received_at, change, self._services.consent.console)
            self._end(CallOutcome(error=expired, final=False), CallStage.REFUSED)
        else:
            late = ToolTimeout(f"The tool {self._name!r} could not be resolved within {seconds_text(self._seconds)}")
            self._end(CallOutcome(error=late, final=False), CallStage.REFUSED)
        self.task.cancel()

    def _on_task_done(self, _: asyncio.Task[None]) -> None:
        if self._phase != "ended":
            # The task was cancelled from outside, for example at the end of the event loop.
            self._end(CallOutcome(interrupted(self._name)), CallStage.FAILED)
        self._on_gone(self)

    def _end(self, outcome: CallOutcome, stage: CallStage) -> None:
        if self._phase == "ended":
            return
        self._phase = "ended"
        self._timer.cancel()
        if self._reported is not None:
            reports = self._services.reports.end(self.key) if self._services.reports is not None else ()
            outcome = replace(outcome, progress=self._reported, reports=reports)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(outcome)
        error = _error_of(outcome)
        if self._started is not None and self._route is not None:
            self._services.history.add(
                {
                    "timestamp": self._timestamp,
                    "req_id": self.key.req_id,
                    "server": self._route.server,
                    "tool": self._route.tool,
                    "parameters": self._arguments,
                    "timeout": self._seconds,
                    "success": error is None,
                    "error": error,
                }
            )
        self._on_end(self, outcome)
        self._notify(stage, error=error, result=outcome.result)

    def _notify(
        self,
        stage: CallStage,
        *,
        error: str | None = None,
        progress: tuple[float, float | None, str | None] | None = None,
        result: Json | None = None,
    ) -> None:
        if self._services.observer is None:
            return
        route, key = self._route, self.key
        server, tool = (route.server, route.tool) if route else (None, None)
        seconds = self._loop.time() - self._received_at
        event = CallEvent(
            stage,
            key.agent,
            key.req_id,
            self._name,
            server,
            tool,
            seconds,
            error,
            progress,
            self._arguments,
            result,
        )
        notify_guarded(logger, "an observer of tool calls", self._services.observer, event, req_id=key.req_id)


def _stage(outcome: CallOutcome) -> CallStage:
    if outcome.result is None:
        return CallStage.REFUSED
    return CallStage.FAILED if outcome.result["isError"] else CallStage.DONE


def _error_of(outcome: CallOutcome) -> str | None:
    if outcome.error is not None:
        return outcome.error.message
    result = outcome.result or {}
    if not result.get("isError"):
        return None
    texts = (item.get("text") for item in result["content"] if isinstance(item, dict))
    return next((text for text in texts if isinstance(text, str) and text), "The tool failed")
