"""Calling what users gave to be called: one thing at a time, in order, and whatever goes wrong in it is logged."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from a2c_smcp.common.callbacks import await_guarded

log = logging.getLogger(__name__)

T = TypeVar("T")


class SerialHandler(Generic[T]):
    """A handler with what waits for it; of more than `buffer` things the oldest are dropped.

    Attributes:
        task: What calls the handler, while something waits.
    """

    def __init__(self, handler: Callable[[T], Awaitable[None] | None], buffer: int, name: Callable[[T], str]) -> None:
        self._handler = handler
        self._name = name
        self._waiting: deque[T] = deque(maxlen=buffer)
        self.task: asyncio.Task[None] | None = None

    def put(self, thing: T) -> None:
        """Call the handler with this, after everything before it."""
        self._waiting.append(thing)
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._waiting:
                thing = self._waiting.popleft()
                await await_guarded(log, f"a handler of {self._name(thing)}", self._handler, thing)
        finally:
            self.task = None
