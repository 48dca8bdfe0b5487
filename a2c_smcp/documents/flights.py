"""Requests on their way: a reader who leaves does not end one, and all who wait are told in the same turn."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from a2c_smcp.documents.worker_main import Request

Outcome: TypeAlias = bytes | Exception
"""An answer, or why there is none."""


class Flight:
    """One request. Waiting for it is cheaper than for a task behind a shield, which takes the loop two turns more.

    Args:
        background: Nobody waits for it; it goes last.
        landed: Called with the outcome before those who wait.
    """

    def __init__(self, request: Request, *, background: bool, landed: Callable[[Outcome], None] | None) -> None:
        self.request = request
        self.background = background
        self._landed = landed
        self._outcome: Outcome | None = None
        self._waiting: list[asyncio.Future[bytes]] = []

    async def wait(self) -> bytes:
        """Return the answer, or raise why there is none."""
        if self._outcome is None:
            waiter: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            return await waiter
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def land(self, outcome: Outcome) -> None:
        """Tell everybody."""
        self._outcome = outcome
        if self._landed is not None:
            self._landed(outcome)
        for waiter in self._waiting:
            if waiter.done():  # who waited has left
                continue
            if isinstance(outcome, Exception):
                waiter.set_exception(outcome)
            else:
                waiter.set_result(outcome)

    def cancel(self) -> None:
        """Send everybody away."""
        for waiter in self._waiting:
            waiter.cancel()
