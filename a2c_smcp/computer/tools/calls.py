"""The tool calls of a Computer: each runs at most once for its `req_id`, with consent, a timeout and cancellation."""

import asyncio
import copy
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from a2c_smcp.computer.ports import Json, McpSessions
from a2c_smcp.computer.tools.call import CallLimits, CallServices, RunningCall
from a2c_smcp.computer.tools.completed_calls import CallKey, CallOutcome, CompletedCalls
from a2c_smcp.computer.tools.confirmation import Confirm, ConsentPolicy
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

MAX_EARLY_CANCELS: Final = 1000
STOP_SECONDS: Final = 5.0


class ToolCalls:
    """Runs tool calls. It survives reconnects: an Agent asks again with the same `req_id`.

    Args:
        confirm: Asks the owner about tools without `auto_apply`; without it their calls are refused.
        auto_apply: The tool definitions that `auto_apply` is valid for.
        observer: Called at every step of every call.
        reports: Sends the progress of calls to Agents that requested it.
        journal: Records calls, so that none runs twice across restarts; the caller opens and closes it.
    """

    def __init__(
        self,
        sessions: McpSessions,
        tool_cache: ToolCache,
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
        self.consent = ConsentPolicy(confirm, auto_apply)
        # Consent is bound to the first definition seen, even if the tool is not called.
        tool_cache.on_built = lambda catalogue: self.consent.auto_apply.see(catalogue.routes.values())
        tool_cache.on_built(tool_cache.catalogue)
        # Not `or`: an empty history is falsy.
        self.history = CallHistory() if history is None else history
        self._clock = clock
        self._services = CallServices(
            sessions,
            tool_cache,
            self.consent,
            shaper or Shaper(),
            self.history,
            self.limits,
            observer,
            reports,
            journal,
        )
        self._running: dict[CallKey, RunningCall] = {}
        self._unfinished: set[RunningCall] = set()
        self._completed = CompletedCalls(
            seconds=self.limits.keep, entries=self.limits.keep_entries, weight=self.limits.keep_weight
        )
        self._early_cancels: OrderedDict[CallKey, float] = OrderedDict()
        self._closed = False

    async def run(self, request: ToolCallReq, *, office: str = "") -> Json:
        """Return the result of a call: `content`, `structuredContent`, `isError`, `meta`.

        With `accept_progress` it also has `progress` if the tool reported any, and `progress_log` after several
        reports.

        A request whose `req_id` is running or ended recently gets the result of that call. A call that was interrupted
        by the end of an earlier Computer process gets a result with `meta.interrupted`. Cancelling this coroutine does
        not cancel the tool; its result is kept.

        Raises:
            ToolNotFound: No enabled server has the tool.
            ToolDisabled: The tool is forbidden.
            ConfirmationRequired: The owner refused, or could not be asked.
            BadRequest: The `req_id` belongs to a call of another tool or with other arguments.
            RateLimited: Too many calls are running.
        """
        key = CallKey(office, request["agent"], request["req_id"])
        mark = _mark(request)
        follows = request.get(ACCEPT_PROGRESS) is True
        call = self._running.get(key)
        if call is None:
            kept = self._completed.find(key, self._clock())
            if kept is not None:
                _check_same(kept[0] == mark, key)
                return _deliver(kept[1], key, follows=follows)
            if (recorded := await self._recorded(request, key, mark)) is not None:
                return _deliver(recorded, key, follows=follows)
            if self._was_cancelled(key):
                outcome = CallOutcome(cancelled(request["tool_name"]))
                self._completed.keep(key, mark, outcome, self._clock())
                return _deliver(outcome, key, follows=follows)
            call = self._start(request, key, mark)
        _check_same(call.fingerprint == mark, key)
        if follows:
            call.follow()
        return _deliver(await call.outcome(), key, follows=follows)

    def cancel(self, agent: str, req_id: str, *, office: str = "") -> bool:
        """Cancel a call of this Agent at its MCP server; return whether there was one to cancel.

        A completed call is not affected. A cancellation may overtake its call, so it is remembered for a short time.
        """
        key = CallKey(office, agent, req_id)
        call = self._running.get(key)
        if call is not None:
            return call.cancel()
        now = self._clock()
        if self._completed.find(key, now) is None:
            self._early_cancels[key] = now + self.limits.early_cancel
            self._early_cancels.move_to_end(key)
            if len(self._early_cancels) > MAX_EARLY_CANCELS:
                self._early_cancels.popitem(last=False)
        return False

    async def aclose(self) -> None:
        """Stop every call; its callers get a result with `meta.interrupted`."""
        self._closed = True
        for call in list(self._running.values()):
            call.interrupt()
        if self._unfinished:
            await asyncio.wait([call.task for call in self._unfinished], timeout=STOP_SECONDS)
        await self._services.shaper.aclose()

    def _start(self, request: ToolCallReq, key: CallKey, mark: str) -> RunningCall:
        if self._closed:
            raise ToolFailed("The Computer is stopping", req_id=key.req_id)
        if len(self._running) >= self.limits.running:
            raise RateLimited(f"{self.limits.running} tool calls are running already", req_id=key.req_id)
        call = RunningCall(request, key, mark, self._services, self._on_end, self._unfinished.discard)
        self._running[key] = call
        self._unfinished.add(call)
        return call

    def _on_end(self, call: RunningCall, outcome: CallOutcome) -> None:
        del self._running[call.key]
        if outcome.final:
            self._completed.keep(call.key, call.fingerprint, outcome, self._clock())
            if self._services.journal is not None:
                self._services.journal.ended(call.key, call.fingerprint, outcome)

    async def _recorded(self, request: ToolCallReq, key: CallKey, mark: str) -> CallOutcome | None:
        """Return the outcome of a call from the journal: of an earlier process, or older than the memory keeps."""
        journal = self._services.journal
        recorded = journal.find(key) if journal is not None else None
        if journal is None or recorded is None:
            return None
        _check_same(recorded.is_of(mark), key)
        if recorded.state == "accepted":
            return None
        outcome = await journal.outcome(recorded, request["tool_name"])
        self._completed.keep(key, mark, outcome, self._clock())
        return outcome

    def _was_cancelled(self, key: CallKey) -> bool:
        until = self._early_cancels.pop(key, None)
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
        # A copy for each caller, because raising sets the traceback.
        error = copy.copy(outcome.error)
        error.req_id = key.req_id
        raise error
    result = dict(outcome.result or {})
    if follows and outcome.progress is not None:
        result["progress"] = outcome.progress
        if len(outcome.reports) > 1:
            result["progress_log"] = list(outcome.reports)
    return result
