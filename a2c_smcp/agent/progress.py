"""Progress reports of tool calls, passed in order to the caller of each."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from a2c_smcp.agent.serial_handler import SerialHandler
from a2c_smcp.messages import CallToolResult

BUFFER: Final = 100
"""Reports buffered for a slow handler; beyond that the oldest are dropped."""

HANDLER_SECONDS: Final = 1.0
"""Seconds that a result is held back for the handler to process earlier reports."""


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A progress report of a running tool.

    Attributes:
        progress: Never decreases; the tool chooses the unit.
        total: The final value of `progress`, if the tool knows it.
        message: What the tool is doing, in words for people.
    """

    progress: float
    total: float | None = None
    message: str | None = None


ProgressHandler: TypeAlias = Callable[[ToolProgress], Awaitable[None] | None]


class ProgressReceiver:
    """The progress handler of one call."""

    def __init__(self, handler: ProgressHandler) -> None:
        self._handler = SerialHandler(handler, BUFFER, lambda _: "progress")
        self._last: ToolProgress | None = None
        self._number = 0

    def receive(self, payload: object) -> None:
        """Queue a report; malformed, repeated and decreasing ones are ignored."""
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
            self._handler.put(report)

    def finish(self, result: CallToolResult) -> CallToolResult:
        """Remove the last reports from a result and queue them, including those that the result overtook."""
        log = result.pop("progress_log", None)
        for report in log if isinstance(log, list) else ():
            self.receive(report)
        self.receive(result.pop("progress", None))
        return result

    async def drain(self) -> None:
        """Wait until the handler has processed all reports, for a limited time."""
        if self._handler.task is not None:
            await asyncio.wait([self._handler.task], timeout=HANDLER_SECONDS)

    def close(self) -> None:
        """Stop calling the handler."""
        if self._handler.task is not None:
            self._handler.task.cancel()


class ProgressRouter:
    """Passes progress notifications to the calls that requested them, by Computer and `req_id`."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[ProgressReceiver]] = {}

    @asynccontextmanager
    async def route(self, computer: str, req_id: str, handler: ProgressHandler) -> AsyncIterator[ProgressReceiver]:
        """Pass the progress of a call to `handler` until the end of the block."""
        receiver = ProgressReceiver(handler)
        key = (computer, req_id)
        self._calls.setdefault(key, []).append(receiver)
        try:
            yield receiver
            await receiver.drain()
        finally:
            receiver.close()
            self._calls[key].remove(receiver)
            if not self._calls[key]:
                del self._calls[key]

    def dispatch(self, payload: object) -> None:
        """Pass on a notification; ignored if no call has this id."""
        if not self._calls or not isinstance(payload, Mapping):
            return
        computer, req_id = payload.get("computer"), payload.get("req_id")
        if isinstance(computer, str) and isinstance(req_id, str):
            for receiver in self._calls.get((computer, req_id), ()):
                receiver.receive(payload)


def progress_of(payload: object) -> ToolProgress | None:
    """Return the report in a payload, if it has one."""
    if not isinstance(payload, Mapping):
        return None
    progress, total, message = _number(payload.get("progress")), payload.get("total"), payload.get("message")
    if progress is None:
        return None
    return ToolProgress(progress, _number(total), message if isinstance(message, str) else None)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
