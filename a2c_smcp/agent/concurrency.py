"""What modules with a blocking twin need in both forms; `tools/gen_sync.py` replaces each name by its `sync` form."""

import asyncio
import inspect
from collections.abc import Awaitable, Iterable
from typing import Any, Final, TypeAlias, TypeVar

from a2c_smcp.errors import BadRequest

T = TypeVar("T")

AWAITS_COROUTINES: Final = True
SYNC_AWAITS_COROUTINES: Final = False
"""Whether user functions may be coroutine functions."""

HandlerResult: TypeAlias = Awaitable[None] | None
SyncHandlerResult: TypeAlias = None
"""What a user's handler returns."""


async def gather(requests: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of requests that run concurrently, in their order."""
    return list(await asyncio.gather(*requests))


def sync_gather(results: Iterable[T]) -> list[T]:
    """Return the results of requests that run one after the other."""
    return list(results)


async def resolve(value: Any) -> Any:
    """Return what a user's function returned, awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value


def sync_resolve(value: Any) -> Any:
    """Return what a user's function returned.

    Raises:
        BadRequest: It is a coroutine, which the blocking client cannot await.
    """
    if inspect.iscoroutine(value):
        value.close()
        raise BadRequest("A coroutine function needs AsyncSMCPAgentClient; give the blocking client a plain function")
    return value
