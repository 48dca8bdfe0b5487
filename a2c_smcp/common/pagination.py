"""Reading a list page by page, bounded: whoever pages it may never end it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.errors import RequestTimeout

T = TypeVar("T")
Page: TypeAlias = tuple[list[T], str | None]
"""The items of a page, and the cursor of the next one."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How much of one list is read."""

    pages: int = 1_000
    items: int = 100_000
    seconds: float = 60.0


async def walk(
    ask: Callable[[str | None], Awaitable[Page[T]]], limits: PageLimits, cut: Callable[[str], None]
) -> AsyncIterator[list[T]]:
    """Yield the pages of a list until it ends, goes in circles or reaches a limit.

    Args:
        ask: Returns the page at a cursor; None is the first page. What it raises passes through.
        cut: Called with the reason when the list is left before its end.

    Raises:
        RequestTimeout: Not even the first page came in time.
    """
    deadline = asyncio.get_running_loop().time() + limits.seconds
    seen: set[str] = set()
    cursor: str | None = None
    left, reason = limits.items, f"it has more than {limits.pages} pages"
    for number in range(limits.pages):
        scope = asyncio.timeout_at(deadline)
        try:
            async with scope:
                page, cursor = await ask(cursor)
        except TimeoutError:
            if not scope.expired():
                raise
            if number == 0:
                raise RequestTimeout(f"The list did not arrive within {seconds_text(limits.seconds)}") from None
            reason = f"it took longer than {seconds_text(limits.seconds)}"
            break
        yield page[:left]
        left -= len(page)
        if cursor is None and left >= 0:
            return
        if left <= 0:
            reason = f"it has more than {limits.items} items"
            break
        if cursor in seen:
            reason = "its cursors repeat"
            break
        seen.add(cursor or "")
    cut(reason)
