"""Requests on their way: a reader who leaves does not end one, and all who wait are told in the same turn."""

import asyncio
from collections.abc import Callable
from copy import copy
from typing import TypeAlias

from a2c_smcp.documents.worker_main import WorkerRequest

Outcome: TypeAlias = bytes | Exception
"""An answer, or why there is none."""


class InFlightRequest:
    """One request. Waiting for it is cheaper than for a task behind a shield, which takes the loop two turns more.

    Args:
        background: Nobody waits for it; it goes last.
        landed: Called with the outcome before those who wait.
    """

    def __init__(self, request: WorkerRequest, *, background: bool, landed: Callable[[Outcome], None] | None) -> None:
        self.request = request
        self.background = background
        self._landed = landed
        self._outcome: Outcome | None = None
        self._waiting: list[asyncio.Future[Outcome]] = []

    async def wait(self) -> bytes:
        """Return the answer, or raise why there is none."""
        outcome = self._outcome
        if outcome is None:
            waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            outcome = await waiter
        if isinstance(outcome, Exception):
            # Each reader raises its own, or their tracebacks would pile up in one; the cause is the same for all.
            raise copy(outcome) from outcome.__cause__
        return outcome

    def land(self, outcome: Outcome) -> None:
        """Tell everybody."""
        self._outcome = outcome
        try:
            if self._landed is not None:
                self._landed(outcome)
        finally:  # whatever it makes of the outcome, nobody is left waiting
            for waiter in self._waiting:
                if not waiter.done():  # else who waited has left
                    waiter.set_result(outcome)

    def cancel(self) -> None:
        """Send everybody away."""
        for waiter in self._waiting:
            waiter.cancel()
