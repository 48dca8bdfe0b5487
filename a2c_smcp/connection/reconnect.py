"""Staying connected: one link after another, for ever, with pauses that grow and are left to chance."""

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
"""Seconds after which a connection has proved itself: when it is lost, the next attempt comes soon."""


class Reconnector:
    """Opens a link, lets it be used until it is gone, and opens the next.

    Args:
        new_link: Makes a link that is not open yet.
        attend: Uses a link until it is gone.
        failed: Is told why a connection failed or ended.
        log: Where its owner logs.
    """

    def __init__(
        self,
        new_link: Callable[[], SmcpConnection],
        attend: Callable[[SmcpConnection], Awaitable[None]],
        failed: Callable[[Failure], None],
        board: StatusTracker,
        backoff: Backoff,
        clock: Callable[[], float] = time.monotonic,
        log: logging.Logger = log,
    ) -> None:
        self._new_link = new_link
        self._attend = attend
        self._failed = failed
        self._board = board
        self._backoff = backoff
        self._clock = clock
        self._log = log

    async def run(self) -> None:
        """Stay connected until cancelled."""
        self._backoff.reset()
        problem: Failure | None = None
        while True:
            link = self._new_link()
            self._board.show(ConnectionState.CONNECTING, problem, failures=self._backoff.failures)
            try:
                problem = await self._use(link)
            except Exception as mistake:  # noqa: BLE001 - one connection's bad end is no reason to stay away for ever
                self._log.exception("the connection failed in an unforeseen way")
                problem = ConnectionError(f"The connection failed in an unforeseen way ({type(mistake).__name__})")
            finally:
                await link.close()
            self._failed(problem)
            pause = self._backoff.slow() if isinstance(problem, SMCPError) else self._backoff.next()
            self._board.show(ConnectionState.WAITING, problem, failures=self._backoff.failures, retry_in=pause)
            await asyncio.sleep(pause)

    async def _use(self, link: SmcpConnection) -> Failure:
        """Open a link and use it until it is gone; return why it ended."""
        try:
            await link.open()
        except (SMCPError, ConnectionError) as problem:
            self._log.warning("no connection to the server: %s", problem)
            return problem
        opened = self._clock()
        await self._attend(link)
        if self._clock() - opened >= STABLE:
            self._backoff.reset()
        self._log.warning("the connection was lost: %s", link.why)
        return ConnectionError(f"The connection was lost: {link.why}")
