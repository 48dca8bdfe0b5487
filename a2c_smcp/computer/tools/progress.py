"""A running tool's own words of how far it is, on their way to the Agent that asked to hear them.

A tool may speak thousands of times a second. Each call has an allowance of its own, and all together have another, so
that whatever a tool says leaves the Computer's budget at the server untouched. What is held back is replaced by what
comes after it. A result can overtake reports that are still to be sent, here or on the way: it repeats the last ones
(`Outcome.reports`) and has the very last word (`Outcome.progress`), and the Agent passes over what it has heard.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias

from a2c_smcp.common.token_bucket import TokenBucket
from a2c_smcp.computer.tools.completed_calls import CallKey
from a2c_smcp.messages import ProgressData
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

LONGEST: Final = 1_000
"""Characters of a message; the rest is cut off."""

RATE: Final = 10.0
BURST: Final = 5
"""Reports of one call a second, and how many may go out at once: the few of a short call all arrive."""

RECENT: Final = 2 * BURST
"""Reports of one call that its result repeats: so many can be on their way when it overtakes them."""

RATE_OF_ALL: Final = 200.0
"""Reports of all calls a second: a small part of what a server takes from one connection."""


def advance(
    before: ProgressData | None, done: float, total: float | None = None, message: str | None = None
) -> ProgressData | None:
    """Return what an Agent is told next; None where the tool has said nothing new, or no number.

    Progress never goes back: a tool that counts anew at each of its steps stays where it was, with its new words.
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
    """The way to the office."""

    async def tell_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Tell the Agent of a call, if the Computer is in that office at the moment."""


@dataclass(slots=True)
class _CallProgress:
    """A call: what it says, which of it may go out now, and when the next may."""

    latest: ProgressData
    sent: int = 0
    recent: deque[ProgressData] = field(default_factory=lambda: deque(maxlen=RECENT))
    ready: deque[ProgressData] = field(default_factory=lambda: deque(maxlen=BURST))
    timer: asyncio.TimerHandle | None = None
    meter: TokenBucket = field(default_factory=lambda: TokenBucket(RATE, BURST))


class ProgressReports:
    """Sends what calls report, each seldom enough, over whatever line there is.

    Args:
        line: Returns the line, where there is one.
    """

    def __init__(self, line: Callable[[], ProgressSender | None]) -> None:
        self._line = line
        self._lanes: dict[CallKey, _CallProgress] = {}
        self._due: deque[CallKey] = deque()
        self._all = TokenBucket(RATE_OF_ALL, RATE_OF_ALL)
        self._sender: asyncio.Task[None] | None = None

    def tell(self, key: CallKey, report: ProgressData) -> None:
        """A call is so far: it is sent now, or soon unless another comes in its place."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _CallProgress(report)
        lane.latest = report
        if lane.timer is not None:
            return
        loop = asyncio.get_running_loop()
        if pause := lane.meter.wait(loop.time()):
            lane.timer = loop.call_later(pause, self._send_soon, key, lane)
        else:
            self._send_soon(key, lane)

    def end(self, key: CallKey) -> list[ProgressData]:
        """A call has ended: nothing more is sent of it. Returns its last reports, for its result to repeat."""
        lane = self._lanes.pop(key, None)
        if lane is None:
            return []
        if lane.timer is not None:
            lane.timer.cancel()
        return list(lane.recent)

    async def aclose(self) -> None:
        """Send nothing more."""
        for key in list(self._lanes):
            self.end(key)
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)

    def _send_soon(self, key: CallKey, lane: _CallProgress) -> None:
        lane.timer = None
        if len(lane.ready) < BURST:
            self._due.append(key)
        lane.sent += 1
        report: ProgressData = {**lane.latest, "number": lane.sent}
        lane.recent.append(report)
        lane.ready.append(report)  # where the line is slow, in place of the oldest
        if self._sender is None:
            self._sender = asyncio.create_task(self._send(), name="a2c-progress")

    async def _send(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._due:
                key = self._due.popleft()
                if key in self._lanes and (pause := self._all.wait(clock())):
                    await asyncio.sleep(pause)
                lane, line = self._lanes.get(key), self._line()
                if lane is None or not lane.ready:
                    continue
                told = {"agent": key.agent, "req_id": key.req_id, **lane.ready.popleft()}
                if line is not None:
                    # Nothing waits between the look at the lane and the writing, so that no answer can come between.
                    await line.tell_progress(key.office, told)
        finally:
            self._sender = None


class CallStage(StrEnum):
    """Where a call is."""

    ASKED = "asked"
    """The owner is being asked."""
    STARTED = "started"
    PROGRESS = "progress"
    DONE = "done"
    """The tool gave a result that is not an error."""
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """It ended before the tool ran: unknown, forbidden, or not confirmed."""


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One step of a call. `server` and `tool` are None where the name led nowhere.

    Attributes:
        listed_name: What the Agent called.
        seconds: Since the request came.
        error: Why it failed or was refused, in words.
        progress: How far, of how much, in which words.
        arguments: What the tool was called with; the call's own, not to be changed.
        result: What it gave, once it has ended.
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
"""Told of every step; must not wait."""
