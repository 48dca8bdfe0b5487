"""Reports about running calls: events for observers, and progress for the Agents that requested it.

A tool may report progress thousands of times a second. Each call, and all calls together, have a rate limit, so that
progress does not use up the Computer's budget at the server. A delayed report is replaced by the next one. A result can
overtake reports that are still on their way, so it repeats the latest ones (`CallOutcome.reports`) and has the final
one (`CallOutcome.progress`); the Agent skips those that it already has.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias

from a2c_smcp.common.rate_limit import TokenBucket
from a2c_smcp.computer.tools.completed_calls import CallKey
from a2c_smcp.messages import ProgressData
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

LONGEST: Final = 1_000
"""The most characters of a progress message."""

RATE: Final = 10.0
BURST: Final = 5
"""Reports of one call a second, and the allowed burst, so that all reports of a short call arrive."""

RECENT: Final = 2 * BURST
"""Reports of one call that its result repeats: as many as can be on their way."""

RATE_OF_ALL: Final = 200.0
"""Reports of all calls a second: a small part of the rate that a server allows one connection."""


def advance(
    before: ProgressData | None, done: float, total: float | None = None, message: str | None = None
) -> ProgressData | None:
    """Return the next report for the Agent; None if nothing changed or `done` is not finite.

    Progress never decreases: if a tool restarts counting at each step, the number stays and the message changes.
    """
    if not math.isfinite(done):
        return None
    report: ProgressData = {"progress": done if before is None else max(done, before["progress"])}
    if total is not None and math.isfinite(total):
        report["total"] = total
    if message:
        report["message"] = message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
    return report if report != before else None


class ProgressSender(Protocol):
    """Sends progress reports to an office."""

    async def send_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Send a report to the Agent of a call, if the Computer is in that office at the moment."""


@dataclass(slots=True)
class _CallProgress:
    """The reports of one call: latest, recent, ready to send, and the timer of the next."""

    latest: ProgressData
    sent: int = 0
    recent: deque[ProgressData] = field(default_factory=lambda: deque(maxlen=RECENT))
    ready: deque[ProgressData] = field(default_factory=lambda: deque(maxlen=BURST))
    timer: asyncio.TimerHandle | None = None
    rate: TokenBucket = field(default_factory=lambda: TokenBucket(RATE, BURST))


class ProgressReports:
    """Sends the progress reports of all calls, rate-limited.

    Args:
        sender: Returns the current sender, or None if there is no connection.
    """

    def __init__(self, sender: Callable[[], ProgressSender | None]) -> None:
        self._get_sender = sender
        self._calls: dict[CallKey, _CallProgress] = {}
        self._due: deque[CallKey] = deque()
        self._total_rate = TokenBucket(RATE_OF_ALL, RATE_OF_ALL)
        self._task: asyncio.Task[None] | None = None

    def report(self, key: CallKey, report: ProgressData) -> None:
        """Send a report now, or soon unless a later one replaces it."""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _CallProgress(report)
        call.latest = report
        if call.timer is not None:
            return
        loop = asyncio.get_running_loop()
        if pause := call.rate.reserve(loop.time()):
            call.timer = loop.call_later(pause, self._queue, key, call)
        else:
            self._queue(key, call)

    def end(self, key: CallKey) -> list[ProgressData]:
        """Stop sending for a call that has ended; return its latest reports, for its result to repeat."""
        call = self._calls.pop(key, None)
        if call is None:
            return []
        if call.timer is not None:
            call.timer.cancel()
        return list(call.recent)

    async def aclose(self) -> None:
        """Stop sending."""
        for key in list(self._calls):
            self.end(key)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _queue(self, key: CallKey, call: _CallProgress) -> None:
        call.timer = None
        if len(call.ready) < BURST:
            self._due.append(key)
        call.sent += 1
        report: ProgressData = {**call.latest, "number": call.sent}
        call.recent.append(report)
        call.ready.append(report)  # drops the oldest one if sending is slow
        if self._task is None:
            self._task = asyncio.create_task(self._send(), name="a2c-progress")

    async def _send(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._due:
                key = self._due.popleft()
                if key in self._calls and (pause := self._total_rate.reserve(clock())):
                    await asyncio.sleep(pause)
                call, sender = self._calls.get(key), self._get_sender()
                if call is None or not call.ready:
                    continue
                report = {"agent": key.agent, "req_id": key.req_id, **call.ready.popleft()}
                if sender is not None:
                    # No await between the check and the write, so that no reply can come between.
                    await sender.send_progress(key.office, report)
        finally:
            self._task = None


class CallStage(StrEnum):
    """The stage of a call."""

    ASKED = "asked"
    """The owner is being asked."""
    STARTED = "started"
    PROGRESS = "progress"
    DONE = "done"
    """The tool returned a result that is not an error."""
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """It ended before the tool ran: unknown, forbidden or not confirmed."""


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One step of a call. `server` and `tool` are None if the name is unknown.

    Attributes:
        listed_name: The name that the Agent used.
        seconds: Since the request arrived.
        error: Why it failed or was refused.
        progress: Progress, total and message.
        arguments: The arguments of the call; do not modify them.
        result: The result, once the call has ended.
    """

    stage: CallStage
    agent: str
    req_id: str
    listed_name: str
    server: SERVER_NAME | None
    tool: TOOL_NAME | None
    seconds: float
    error: str | None = None
    progress: tuple[float, float | None, str | None] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    result: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


CallObserver: TypeAlias = Callable[[CallEvent], None]
"""Called at every step of every call; must not block."""
