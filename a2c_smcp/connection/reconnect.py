"""Keeps a client connected: opens the next connection after each loss, with back-off, until cancelled."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.connection.connection import SmcpConnection
from a2c_smcp.connection.status import ConnectionState, Failure, StatusTracker
from a2c_smcp.errors import SMCPError

log = logging.getLogger(__name__)

STABLE: Final = 60.0
"""Seconds after which a connection counts as stable: its loss resets the back-off."""


class Reconnector:
    """Opens a connection, lets it be used until it is lost, and opens the next.

    Args:
        new_connection: Returns a connection that is not open yet.
        use: Uses a connection until it is lost.
        on_failure: Called with the reason when a connection failed or ended.
        log: The logger of the owner.
    """

    def __init__(
        self,
        new_connection: Callable[[], SmcpConnection],
        use: Callable[[SmcpConnection], Awaitable[None]],
        on_failure: Callable[[Failure], None],
        tracker: StatusTracker,
        backoff: Backoff,
        clock: Callable[[], float] = time.monotonic,
        log: logging.Logger = log,
    ) -> None:
        self._new_connection = new_connection
        self._use_connection = use
        self._on_failure = on_failure
        self._tracker = tracker
        self._backoff = backoff
        self._clock = clock
        self._log = log

    async def run(self) -> None:
        """Stay connected until cancelled."""
        self._backoff.reset()
        problem: Failure | None = None
        while True:
            connection = self._new_connection()
            self._tracker.show(ConnectionState.CONNECTING, problem, failures=self._backoff.failures)
            try:
                problem = await self._run_one(connection)
            except Exception as mistake:  # noqa: BLE001 - a bug in one connection must not end the retries
                self._log.exception("connection failed: unexpected error")
                problem = ConnectionError(f"The connection failed with an unexpected error ({type(mistake).__name__})")
            finally:
                await connection.close()
            self._on_failure(problem)
            pause = self._backoff.slow() if isinstance(problem, SMCPError) else self._backoff.next()
            self._tracker.show(ConnectionState.WAITING, problem, failures=self._backoff.failures, retry_in=pause)
            await asyncio.sleep(pause)

    async def _run_one(self, connection: SmcpConnection) -> Failure:
        """Open a connection and use it until it is lost; return why it ended."""
        try:
            await connection.open()
        except (SMCPError, ConnectionError) as problem:
            self._log.warning("connection failed: retrying reason=%s", problem)
            return problem
        opened = self._clock()
        await self._use_connection(connection)
        if self._clock() - opened >= STABLE:
            self._backoff.reset()
        self._log.warning("connection lost: retrying reason=%s", connection.why)
        return ConnectionError(f"The connection was lost: {connection.why}")
