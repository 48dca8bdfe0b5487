"""How far the tools are that an Agent calls: each call's own reports, in order, to whoever made the call."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from a2c_smcp.agent.serial_handler import SerialHandler
from a2c_smcp.messages import CallToolResult

BUFFER: Final = 100
"""Reports that wait for a handler that is slow; over that, the oldest are dropped."""

HANDLER_SECONDS: Final = 1.0
"""Seconds for which the result waits until the handler has heard what came before it."""


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """How far a running tool is, in its own words.

    Attributes:
        progress: It never goes back; what is counted is the tool's choice.
        total: Where it ends, if the tool knows.
        message: What the tool is doing, for people.
    """

    progress: float
    total: float | None = None
    message: str | None = None


ProgressHandler: TypeAlias = Callable[[ToolProgress], Awaitable[None] | None]


class ProgressReceiver:
    """One call whose progress is wanted."""

    def __init__(self, handler: ProgressHandler) -> None:
        self._turns = SerialHandler(handler, BUFFER, lambda _: "progress")
        self._last: ToolProgress | None = None
        self._number = 0

    def hear(self, payload: object) -> None:
        """Take a report; what is malformed, behind the one before, or heard already, is ignored."""
        report = progress_of(payload)
        number = payload.get("number") if isinstance(payload, Mapping) else None
        if isinstance(number, int):
            if number <= self._number:
                return
            self._number = number
        if report is None or (self._last is not None and report.progress < self._last.progress):
            return
        if report != self._last:
            self._last = report
            self._turns.put(report)

    def end(self, result: CallToolResult) -> CallToolResult:
        """Take the tool's last words out of its result, those included that the result overtook."""
        log = result.pop("progress_log", None)
        for report in log if isinstance(log, list) else ():
            self.hear(report)
        self.hear(result.pop("progress", None))
        return result

    async def heard(self) -> None:
        """Wait until the handler has been told everything; one that takes too long is not told the rest."""
        if self._turns.task is not None:
            await asyncio.wait([self._turns.task], timeout=HANDLER_SECONDS)

    def close(self) -> None:
        """Call the handler no more."""
        if self._turns.task is not None:
            self._turns.task.cancel()


class ProgressRouter:
    """The calls whose progress is wanted, by Computer and `req_id`."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[ProgressReceiver]] = {}

    @asynccontextmanager
    async def of(self, computer: str, req_id: str, handler: ProgressHandler) -> AsyncIterator[ProgressReceiver]:
        """Tell `handler` of the progress of a call, from here to the end of the block."""
        hearing = ProgressReceiver(handler)
        key = (computer, req_id)
        self._calls.setdefault(key, []).append(hearing)
        try:
            yield hearing
            await hearing.heard()
        finally:
            hearing.close()
            self._calls[key].remove(hearing)
            if not self._calls[key]:
                del self._calls[key]

    def hear(self, payload: object) -> None:
        """Take a notification; that of a call that nobody listens to, any more or at all, is ignored."""
        if not self._calls or not isinstance(payload, Mapping):
            return
        computer, req_id = payload.get("computer"), payload.get("req_id")
        if isinstance(computer, str) and isinstance(req_id, str):
            for hearing in self._calls.get((computer, req_id), ()):
                hearing.hear(payload)


def progress_of(payload: object) -> ToolProgress | None:
    """Return the report in a payload, if there is one."""
    if not isinstance(payload, Mapping):
        return None
    progress, total, message = _number(payload.get("progress")), payload.get("total"), payload.get("message")
    if progress is None:
        return None
    return ToolProgress(progress, _number(total), message if isinstance(message, str) else None)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
