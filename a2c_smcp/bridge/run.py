"""A bridge from beginning to end: it serves clients at once, and takes its seat in the office as soon as it can."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.server import Bridge
from a2c_smcp.errors import OfficeFull, RequestTimeout

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
SUCCESSION: Final = 15.0
"""Seconds for which the Agent that had the seat before, as when a client restarts its bridge, may take to leave."""


async def run(bridge: Bridge, office: Office, transport: Callable[[Bridge], Awaitable[None]]) -> None:
    """Serve until the transport ends or this is cancelled, then leave the office.

    Raises:
        SMCPError: The server refused the seat when it was first asked for. Later it is asked for again and again.
    """
    unfollow = bridge.follow()
    loop = asyncio.get_running_loop()
    arriving = loop.create_task(arrive(bridge, office))
    serving = asyncio.ensure_future(transport(bridge))
    try:
        await asyncio.wait([arriving, serving], return_when=asyncio.FIRST_COMPLETED)
        if arriving.done():
            await arriving
        await serving
    finally:
        for task in (arriving, serving):
            task.cancel()
        await asyncio.gather(arriving, serving, return_exceptions=True)
        unfollow()
        await bridge.close()
        await office.close()


async def arrive(bridge: Bridge, office: Office, *, succession: float = SUCCESSION) -> None:
    """Take the seat; a server that is not there is tried until it is.

    Raises:
        SMCPError: The server refused.
    """
    clock = asyncio.get_running_loop().time
    began, pause = clock(), FIRST_PAUSE
    while True:
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
        log.warning("no seat in the office yet: %s; trying again in %g s", problem, pause)
        bridge.unseated(str(problem))
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
