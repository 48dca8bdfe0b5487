"""Calling what users gave to be called: one thing at a time, in order, and whatever goes wrong in it is logged."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class Turns(Generic[T]):
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
                try:
                    told = self._handler(thing)
                    if isawaitable(told):
                        await told
                except Exception:  # the user's mistake is logged and hurts nobody
                    log.exception("a handler of %s failed", self._name(thing))
        finally:
            self.task = None
