"""A cached asynchronous fetch: concurrent callers share one fetch, and the value is kept until it expires."""

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
    """The result of a fetch.

    Attributes:
        generation: The generation of the cache when the fetch began.
        until: When to retry after a failure.
    """

    generation: int
    value: T | None = None
    error: SMCPError | None = None
    until: float = 0.0


class CachedFetch(Generic[T]):
    """Caches the result of `fetch` until `expire`, and a failure for `pause` seconds.

    `get` never returns a value whose fetch began before the latest `expire`. A fetch continues when its callers are
    cancelled, because the next caller will need it too.

    Args:
        source: What the value is fetched from, for error messages.
    """

    def __init__(self, fetch: Callable[[], Awaitable[T]], *, pause: float, source: str = "The MCP server") -> None:
        self._fetch = fetch
        self._pause = pause
        self._source = source
        self._generation = 0
        self._outcome: _FetchResult[T] | None = None
        self._task: asyncio.Task[_FetchResult[T]] | None = None
        self._renew_after = False

    @property
    def settled(self) -> bool:
        """Whether `get` would not fetch: the value is valid, or the failure is recent."""
        return self._valid() is not None

    @property
    def value(self) -> T | None:
        """The cached value, if it is valid."""
        kept = self._valid()
        return kept.value if kept is not None else None

    @property
    def error(self) -> SMCPError | None:
        """The error of the latest fetch, if it failed."""
        return self._outcome.error if self._outcome is not None else None

    def expire(self) -> None:
        """Invalidate the cached value and the result of a running fetch."""
        self._generation += 1

    def start(self) -> None:
        """Fetch in the background, unless a fetch is running; the cached value stays valid meanwhile."""
        self._running()

    def renew(self) -> None:
        """Fetch in the background, after the running fetch if there is one; the cached value stays valid meanwhile."""
        if self._task is None:
            self._running()
        else:
            self._renew_after = True

    async def get(self) -> T:
        """Return the value, from the cache or by a fetch.

        Raises:
            SMCPError: The fetch failed, now or within the last `pause` seconds.
        """
        wanted = self._generation
        outcome = self._valid()
        while outcome is None or outcome.generation < wanted:
            task = self._running()
            await asyncio.wait([task])
            if task.cancelled():
                raise ToolFailed(f"{self._source} is gone")
            outcome = task.result()
        if outcome.error is not None:
            raise copy(outcome.error)  # a copy for each caller, or tracebacks would accumulate in one error
        return outcome.value  # type: ignore[return-value]  # set if there is no error

    def cancel(self) -> None:
        """Cancel the running fetch; its callers get an error."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Cancel the running fetch, and return when it has ended."""
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    def _valid(self) -> _FetchResult[T] | None:
        outcome = self._outcome
        if outcome is None or outcome.generation < self._generation:
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
        if self._renew_after:
            self._renew_after = False
            self._running()

    async def _run(self) -> _FetchResult[T]:
        generation = self._generation
        try:
            return _FetchResult(generation, await self._fetch())
        except SMCPError as error:
            failure = error
        except TimeoutError:
            failure = RequestTimeout(f"{self._source} did not answer in time")
        except Exception:
            logger.exception("fetch failed unexpectedly: source=%s", self._source)
            failure = InternalError(f"{self._source} could not be read: internal error")
        return _FetchResult(generation, error=failure, until=asyncio.get_running_loop().time() + self._pause)


async def run_within(work: Iterable[Coroutine[Any, Any, None]], within: float) -> None:
    """Run coroutines concurrently for `within` seconds, then cancel the unfinished ones. Shared fetches continue."""
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
