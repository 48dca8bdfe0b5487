"""Waiting: for several answers at once, or for what may be there already. `sync_waiting` has the blocking forms."""

import asyncio
import inspect
from collections.abc import Awaitable, Iterable
from typing import Any, Final, TypeAlias, TypeVar

T = TypeVar("T")

AWAITS_COROUTINES: Final = True
"""Whether there is somebody to await a coroutine."""

HandlerResult: TypeAlias = Awaitable[None] | None
"""What a function returns that is called with news."""


async def gather(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Return the answers in the order of the questions."""
    return list(await asyncio.gather(*questions))


async def resolve(value: Any) -> Any:
    """Return a value, awaited where that is to be done."""
    return await value if inspect.isawaitable(value) else value
