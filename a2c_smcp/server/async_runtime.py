"""What the server takes from asyncio. `blocking_runtime` has the same names for threads.

This pair is the whole hand-written difference between the async and the blocking server: `tools/gen_sync.py` generates
`sync_namespace`, `sync_stock_transport` and `registry/sync_memory` from their async sources.
"""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from socketio import AsyncNamespace as BaseNamespace

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.server.calls import AckArguments
from a2c_smcp.server.engineio_socket import keep_task

__all__ = [
    "BaseNamespace",
    "Lock",
    "PeriodicTimer",
    "ReplyFuture",
    "clock",
    "resolve",
    "router_lock",
    "send",
    "sleep",
    "start",
]

log = logging.getLogger(__name__)

clock = time.monotonic
Lock = asyncio.Lock
sleep = asyncio.sleep


def router_lock() -> AbstractContextManager[Any]:
    """Return the lock of the call router; a single thread needs none."""
    return nullcontext()


async def resolve(value: Any) -> Any:
    """Return the result of a callback, which may be a coroutine function."""
    return await value if inspect.isawaitable(value) else value


def send(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Call a function of the server that sends something, without waiting for it."""
    keep_task(asyncio.ensure_future(function(*arguments, **options)))


def start(_server: Any, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Run a function in the background."""
    send(function, *arguments, **options)


class ReplyFuture:
    """The reply to a request, set once."""

    def __init__(self) -> None:
        self._future: asyncio.Future[AckArguments] = asyncio.get_running_loop().create_future()

    def put(self, answer: AckArguments) -> None:
        """Set the reply; later ones are ignored."""
        if not self._future.done():
            self._future.set_result(answer)

    async def get(self) -> AckArguments:
        """Wait for the reply; the call router's deadline bounds the wait."""
        return await self._future


class PeriodicTimer:
    """Calls a function every quarter second."""

    def __init__(self, tick: Callable[[], None], seconds: float = 0.25) -> None:
        self._tick = tick
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the timer unless it runs."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Stop the timer."""
        if self._task is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            call_guarded(log, "the server's timer", self._tick)
