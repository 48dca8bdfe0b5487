"""Running tools: confirmed, timed, cancellable, and once for each `req_id`."""

import asyncio
import copy
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from a2c_smcp.computer.ports import Json, McpSessions
from a2c_smcp.computer.tools.call import CallLimits, CallServices, RunningCall
from a2c_smcp.computer.tools.completed_calls import CallKey, CallOutcome, CompletedCalls
from a2c_smcp.computer.tools.confirmation import Confirm, Gate
from a2c_smcp.computer.tools.consent import AutoApply
from a2c_smcp.computer.tools.definition import fingerprint
from a2c_smcp.computer.tools.history import CallHistory
from a2c_smcp.computer.tools.journal import CallJournal
from a2c_smcp.computer.tools.progress import CallObserver, ProgressReports
from a2c_smcp.computer.tools.results import cancelled
from a2c_smcp.computer.tools.shaping import Shaper
from a2c_smcp.computer.tools.tool_cache import ToolCache
from a2c_smcp.errors import BadRequest, RateLimited, ToolFailed
from a2c_smcp.messages import ACCEPT_PROGRESS, ToolCallReq

MAX_EARLY: Final = 1000
STOP_SECONDS: Final = 5.0


class ToolCalls:
    """The tool calls of a Computer. It outlives connections: who lost one asks again with the same `req_id`.

    Args:
        confirm: Asks the owner about tools without `auto_apply`; without it they are refused.
        auto_apply: The definitions that `auto_apply` holds for.
        observer: Told of every step of every call.
        reports: Where calls report their progress, for those who asked to hear it.
        journal: Where calls are recorded, so that none runs twice across restarts; opened and closed by its owner.
    """

    def __init__(
        self,
        sessions: McpSessions,
        box: ToolCache,
        *,
        confirm: Confirm | None = None,
        auto_apply: AutoApply | None = None,
        observer: CallObserver | None = None,
        reports: ProgressReports | None = None,
        journal: CallJournal | None = None,
        history: CallHistory | None = None,
        shaper: Shaper | None = None,
        limits: CallLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits or CallLimits()
        self.gate = Gate(confirm, auto_apply)
        # Consent holds for the definition that is seen first, whether the tool is called or not.
        box.on_built = lambda catalogue: self.gate.auto_apply.see(catalogue.routes.values())
        box.on_built(box.catalogue)
        # Not `or`: an empty history is somebody's all the same.
        self.history = CallHistory() if history is None else history
        self._clock = clock
        self._around = CallServices(
            sessions, box, self.gate, shaper or Shaper(), self.history, self.limits, observer, reports, journal
        )
        self._running: dict[CallKey, RunningCall] = {}
        self._alive: set[RunningCall] = set()
        self._kept = CompletedCalls(
            seconds=self.limits.keep, entries=self.limits.keep_entries, weight=self.limits.keep_weight
        )
        self._early: OrderedDict[CallKey, float] = OrderedDict()
        self._closed = False

    async def run(self, request: ToolCallReq, *, office: str = "") -> Json:
        """Return the result of a call: `content`, `structuredContent`, `isError`, `meta`.

        With `accept_progress` it has `progress` as well, if the tool said how far it was, and `progress_log`, if it did
        so several times.

        A request with a `req_id` that is running, or ended not long ago, gets that call's result. One that had started
        when an earlier run of the Computer ended gets a result that says so, with `meta.interrupted`. Whoever waits
        here may be cancelled; the tool goes on, and its result is kept.

        Raises:
            ToolNotFound: No enabled server has the tool.
            ToolDisabled: It is forbidden.
            ConfirmationRequired: The owner refused, or nobody was there to ask.
            BadRequest: The `req_id` belongs to a call of another tool or with other arguments.
            RateLimited: Too many calls are running.
        """
        key = CallKey(office, request["agent"], request["req_id"])
        mark = _mark(request)
        follows = request.get(ACCEPT_PROGRESS) is True
        call = self._running.get(key)
        if call is None:
            kept = self._kept.find(key, self._clock())
            if kept is not None:
                _check_same(kept[0] == mark, key)
                return _deliver(kept[1], key, follows=follows)
            if (recorded := await self._recorded(request, key, mark)) is not None:
                return _deliver(recorded, key, follows=follows)
            if self._was_cancelled(key):
                outcome = CallOutcome(cancelled(request["tool_name"]))
                self._kept.keep(key, mark, outcome, self._clock())
                return _deliver(outcome, key, follows=follows)
            call = self._start(request, key, mark)
        _check_same(call.fingerprint == mark, key)
        if follows:
            call.follow()
        return _deliver(await call.outcome(), key, follows=follows)

    def cancel(self, agent: str, req_id: str, *, office: str = "") -> bool:
        """Cancel a call of this Agent at its MCP server, and say whether there was one to cancel.

        A call that ended is left alone. A cancel may overtake its call: for a short while it also counts for one that
        is still to come.
        """
        key = CallKey(office, agent, req_id)
        call = self._running.get(key)
        if call is not None:
            return call.cancel()
        now = self._clock()
        if self._kept.find(key, now) is None:
            self._early[key] = now + self.limits.early_cancel
            self._early.move_to_end(key)
            if len(self._early) > MAX_EARLY:
                self._early.popitem(last=False)
        return False

    async def aclose(self) -> None:
        """Stop every call; those who wait get a result that says so."""
        self._closed = True
        for call in list(self._running.values()):
            call.interrupt()
        if self._alive:
            await asyncio.wait([call.task for call in self._alive], timeout=STOP_SECONDS)
        await self._around.shaper.aclose()

    def _start(self, request: ToolCallReq, key: CallKey, mark: str) -> RunningCall:
        if self._closed:
            raise ToolFailed("The Computer is stopping", req_id=key.req_id)
        if len(self._running) >= self.limits.running:
            raise RateLimited(f"{self.limits.running} tool calls are running already", req_id=key.req_id)
        call = RunningCall(request, key, mark, self._around, self._on_end, self._alive.discard)
        self._running[key] = call
        self._alive.add(call)
        return call

    def _on_end(self, call: RunningCall, outcome: CallOutcome) -> None:
        del self._running[call.key]
        if outcome.final:
            self._kept.keep(call.key, call.fingerprint, outcome, self._clock())
            if self._around.journal is not None:
                self._around.journal.ended(call.key, call.fingerprint, outcome)

    async def _recorded(self, request: ToolCallReq, key: CallKey, mark: str) -> CallOutcome | None:
        """Return the outcome of a call of an earlier run, or of longer ago than outcomes are kept in memory."""
        journal = self._around.journal
        recorded = journal.find(key) if journal is not None else None
        if journal is None or recorded is None:
            return None
        _check_same(recorded.is_of(mark), key)
        if recorded.state == "accepted":
            return None
        outcome = await journal.outcome(recorded, request["tool_name"])
        self._kept.keep(key, mark, outcome, self._clock())
        return outcome

    def _was_cancelled(self, key: CallKey) -> bool:
        until = self._early.pop(key, None)
        return until is not None and self._clock() < until


def _mark(request: ToolCallReq) -> str:
    try:
        return fingerprint(request["tool_name"], request["params"])
    except (TypeError, ValueError, RecursionError):
        raise BadRequest("The arguments of the call are not JSON", req_id=request["req_id"]) from None


def _check_same(same: bool, key: CallKey) -> None:  # noqa: FBT001
    if not same:
        raise BadRequest(
            f"The req_id {key.req_id!r} belongs to another call: give each call its own", req_id=key.req_id
        )


def _deliver(outcome: CallOutcome, key: CallKey, *, follows: bool) -> Json:
    if outcome.error is not None:
        # A copy: several may wait for one outcome, and each has a traceback of its own.
        error = copy.copy(outcome.error)
        error.req_id = key.req_id
        raise error
    result = dict(outcome.result or {})
    if follows and outcome.progress is not None:
        result["progress"] = outcome.progress
        if len(outcome.reports) > 1:
            result["progress_log"] = list(outcome.reports)
    return result
