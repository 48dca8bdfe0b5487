"""A value that is fetched when somebody asks, kept while it holds, and fetched once for all who ask at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from a2c_smcp.errors import InternalError, RequestTimeout, SMCPError, ToolFailed

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _FetchResult(Generic[T]):
    """What a fetch gave.

    Attributes:
        seen: How often the cell had expired when the fetch began: it knows of changes up to there.
        until: When a failure may be tried again.
    """

    seen: int
    value: T | None = None
    error: SMCPError | None = None
    until: float = 0.0


class CachedFetch(Generic[T]):
    """Keeps what `fetch` gave until `expire`, and a failure for `pause` seconds.

    Whoever asks gets what was fetched, or began to be fetched, after the last `expire` before the question: never
    something older. A fetch goes on when those who asked for it are cancelled, because the next one will ask too.
    """

    def __init__(self, fetch: Callable[[], Awaitable[T]], *, pause: float) -> None:
        self._fetch = fetch
        self._pause = pause
        self._told = 0
        self._outcome: _FetchResult[T] | None = None
        self._task: asyncio.Task[_FetchResult[T]] | None = None
        self._again = False

    @property
    def settled(self) -> bool:
        """Whether asking now costs nothing: the value holds, or the failure is recent."""
        return self._kept() is not None

    @property
    def value(self) -> T | None:
        """The value, if one holds."""
        kept = self._kept()
        return kept.value if kept is not None else None

    @property
    def error(self) -> SMCPError | None:
        """Why there is no value, if the last fetch failed."""
        return self._outcome.error if self._outcome is not None else None

    def expire(self) -> None:
        """What is known, or being fetched, holds no more."""
        self._told += 1

    def start(self) -> None:
        """Fetch in the background, unless that is going on; what is known holds meanwhile."""
        self._running()

    def renew(self) -> None:
        """Fetch in the background, and after what is being fetched now; what is known holds meanwhile."""
        if self._task is None:
            self._running()
        else:
            self._again = True

    async def get(self) -> T:
        """Return the value.

        Raises:
            SMCPError: It could not be fetched, just now or a moment ago.
        """
        wanted = self._told
        outcome = self._kept()
        while outcome is None or outcome.seen < wanted:
            task = self._running()
            await asyncio.wait([task])
            if task.cancelled():
                raise ToolFailed("The MCP server is gone")
            outcome = task.result()
        if outcome.error is not None:
            raise copy(outcome.error)  # each asker raises its own, or tracebacks would pile up in one
        return outcome.value  # type: ignore[return-value]  # without an error there is a value

    def cancel(self) -> None:
        """Stop fetching; those who wait get an error."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Stop fetching, and return when that has ended."""
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    def _kept(self) -> _FetchResult[T] | None:
        outcome = self._outcome
        if outcome is None or outcome.seen < self._told:
            return None
        if outcome.error is not None and asyncio.get_running_loop().time() >= outcome.until:
            return None
        return outcome

    def _running(self) -> asyncio.Task[_FetchResult[T]]:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
            self._task.add_done_callback(self._done)
        return self._task

    def _done(self, task: asyncio.Task[_FetchResult[T]]) -> None:
        self._task = None
        if task.cancelled():
            return
        self._outcome = task.result()
        if self._again:
            self._again = False
            self._running()

    async def _run(self) -> _FetchResult[T]:
        seen = self._told
        try:
            return _FetchResult(seen, await self._fetch())
        except SMCPError as error:
            failure = error
        except TimeoutError:
            failure = RequestTimeout("The MCP server did not answer in time")
        except Exception:
            logger.exception("Fetching from an MCP server failed in an unforeseen way")
            failure = InternalError("The Computer could not read from the MCP server")
        return _FetchResult(seen, error=failure, until=asyncio.get_running_loop().time() + self._pause)


async def run_within(work: Iterable[Coroutine[Any, Any, None]], within: float) -> None:
    """Do all the work at once, and drop what is not done in time; what it waits for goes on where it is shared."""
    tasks = [asyncio.ensure_future(part) for part in work]
    if not tasks:
        return
    try:
        done, _ = await asyncio.wait(tasks, timeout=within)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
