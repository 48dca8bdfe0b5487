"""Progress notifications of a running tool: the tool's own, and keep-alive notifications while it is silent.

MCP requires that progress increases. So a keep-alive notification adds a tiny step to the last value, which leaves the
tool's numbers readable; its message contains the running time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from a2c_smcp.agent.progress import ToolProgress

Send: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends a progress notification: progress, total, message."""

MIN_STEP: Final = 1e-9
"""Relative step of a keep-alive notification."""


class ProgressReporter:
    """Sends the progress of one call.

    Args:
        doing: Message while the tool reports none.
        every: Seconds between keep-alive notifications.
    """

    def __init__(self, send: Send, doing: str, every: float) -> None:
        self._send = send
        self._doing = doing
        self._every = every
        self._clock = asyncio.get_running_loop().time
        self._began = self._sent_at = self._clock()
        self._sent: float | None = None
        self._own = ToolProgress(0.0)

    async def report(self, own: ToolProgress) -> None:
        """Send a report of the tool."""
        self._own = own
        await self._send_progress(own.progress, own.message)

    async def keep_alive(self) -> None:
        """Send keep-alive notifications until cancelled."""
        while True:
            quiet = self._clock() - self._sent_at
            if quiet < self._every:
                await asyncio.sleep(self._every - quiet)
                continue
            what = self._own.message or self._doing
            await self._send_progress(self._own.progress, f"{what} ({self._clock() - self._began:.0f} s)")

    async def _send_progress(self, progress: float, message: str | None) -> None:
        if self._sent is not None and progress <= self._sent:
            progress = self._sent + max(abs(self._sent), 1.0) * MIN_STEP
        self._sent, self._sent_at = progress, self._clock()
        await self._send(progress, self._own.total, message)


@asynccontextmanager
async def reporting(send: Send, doing: str, every: float) -> AsyncIterator[Callable[[ToolProgress], Awaitable[None]]]:
    """Send keep-alive notifications until the end of the block; yields a function that sends the tool's reports."""
    reporter = ProgressReporter(send, doing, every)
    task = asyncio.get_running_loop().create_task(reporter.keep_alive())
    try:
        yield reporter.report
    finally:
        task.cancel()
