"""A bridge from beginning to end: it serves clients at once, and takes its seat in the office as soon as it can."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.server import Bridge
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import OfficeFull, RequestTimeout

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
FAREWELL: Final = 3.0
"""Seconds that each step of the end may take."""

SUCCESSION: Final = 15.0
"""Seconds for which the Agent that had the seat before, as when a client restarts its bridge, may take to leave."""


async def run(bridge: Bridge, office: Office, transport: Callable[[Bridge], Coroutine[Any, Any, None]]) -> None:
    """Serve until the transport ends or this is cancelled, then leave the office.

    Raises:
        SMCPError: The server refused the seat when it was first asked for. Later it is asked for again and again.
    """
    unfollow = bridge.follow()
    leaving = asyncio.Event()
    arriving = asyncio.ensure_future(arrive(bridge, office, leaving))
    serving = asyncio.ensure_future(transport(bridge))
    try:
        await asyncio.wait([arriving, serving], return_when=asyncio.FIRST_COMPLETED)
        if arriving.done():
            await arriving
        await serving
    finally:
        leaving.set()
        serving.cancel()
        # A connection that is being made is waited for: cancelled halfway, it might not notice.
        await asyncio.wait([arriving, serving], timeout=FAREWELL)
        arriving.cancel()
        unfollow()
        await bridge.close()
        closing = asyncio.ensure_future(office.close())
        await asyncio.wait([arriving, serving, closing], timeout=FAREWELL)


async def arrive(
    bridge: Bridge,
    office: Office,
    leaving: asyncio.Event,
    *,
    succession: float = SUCCESSION,
    pause: float = FIRST_PAUSE,
) -> None:
    """Take the seat; a server that is not there is tried until it is, or until the bridge leaves.

    Raises:
        SMCPError: The server refused.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    backoff = Backoff(pause, LONGEST_PAUSE)
    while not leaving.is_set():
        try:
            await office.connect()
        except (ConnectionError, RequestTimeout) as error:
            problem: Exception = error
        except OfficeFull as error:
            if clock() - began > succession:
                raise
            problem = error
        else:
            bridge.seated()
            return
        delay = backoff.exact()
        log.info("join failed: retrying in_seconds=%g", delay)
        bridge.unseated(str(problem))
        with suppress(TimeoutError):
            await asyncio.wait_for(leaving.wait(), delay)
