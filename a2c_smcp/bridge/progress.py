"""What a client is told while its tool runs: the tool's own progress, and signs of life while the tool is silent.

To MCP, progress that does not increase is an error. A sign of life therefore goes on from what was told before by next
to nothing, which leaves the tool's own numbers as they are; for how long the tool has been running is in its message.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from a2c_smcp.agent.progress import ToolProgress

Send: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Tells the client of progress: how far, of how much, in which words."""

LEAST: Final = 1e-9
"""How much more than what was told before is more, as a part of it."""


class Reporter:
    """The progress of one call, as its client is told.

    Args:
        doing: What the tool does, in words.
        every: Seconds between signs of life.
    """

    def __init__(self, send: Send, doing: str, every: float) -> None:
        self._send = send
        self._doing = doing
        self._every = every
        self._clock = asyncio.get_running_loop().time
        self._began = self._told_at = self._clock()
        self._told: float | None = None
        self._own = ToolProgress(0.0)

    async def tell(self, own: ToolProgress) -> None:
        """Pass on what the tool says."""
        self._own = own
        await self._pass_on(own.progress, own.message)

    async def live(self) -> None:
        """Give signs of life for ever."""
        while True:
            quiet = self._clock() - self._told_at
            if quiet < self._every:
                await asyncio.sleep(self._every - quiet)
                continue
            what = self._own.message or self._doing
            await self._pass_on(self._own.progress, f"{what} ({self._clock() - self._began:.0f} s)")

    async def _pass_on(self, progress: float, message: str | None) -> None:
        if self._told is not None and progress <= self._told:
            progress = self._told + max(abs(self._told), 1.0) * LEAST
        self._told, self._told_at = progress, self._clock()
        await self._send(progress, self._own.total, message)


@asynccontextmanager
async def reporting(send: Send, doing: str, every: float) -> AsyncIterator[Callable[[ToolProgress], Awaitable[None]]]:
    """Give signs of life from here to the end of the block; yields what passes on the tool's own progress."""
    reporter = Reporter(send, doing, every)
    living = asyncio.get_running_loop().create_task(reporter.live())
    try:
        yield reporter.tell
    finally:
        living.cancel()
