"""Calls a user's handler with one item at a time, in order; its exceptions are logged."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from a2c_smcp.common.callbacks import await_guarded

log = logging.getLogger(__name__)

T = TypeVar("T")


class SerialHandler(Generic[T]):
    """A handler with its queue of items; beyond `buffer` items the oldest are dropped.

    Attributes:
        task: The task that calls the handler, while items are queued.
    """

    def __init__(self, handler: Callable[[T], Awaitable[None] | None], buffer: int, name: Callable[[T], str]) -> None:
        self._handler = handler
        self._name = name
        self._waiting: deque[T] = deque(maxlen=buffer)
        self.task: asyncio.Task[None] | None = None

    def put(self, item: T) -> None:
        """Queue an item for the handler."""
        self._waiting.append(item)
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._waiting:
                item = self._waiting.popleft()
                await await_guarded(log, f"a handler of {self._name(item)}", self._handler, item)
        finally:
            self.task = None
