"""Runs a bridge: it serves clients immediately, and joins the office as soon as it can."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.server import Bridge
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import OfficeFull, RequestTimeout
from a2c_smcp.web import mcp_stdio

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
SHUTDOWN_SECONDS: Final = 3.0
"""Seconds for each step of the shutdown."""

TAKEOVER_SECONDS: Final = 15.0
"""Seconds for a previous Agent to leave the office, as when a client restarts its bridge."""


async def run(bridge: Bridge, office: OfficeClient, transport: Callable[[Bridge], Coroutine[Any, Any, None]]) -> None:
    """Serve until the transport ends or this is cancelled, then leave the office.

    Raises:
        SMCPError: The server refused the first join. Later refusals are retried.
    """
    unsubscribe = bridge.subscribe()
    leaving = asyncio.Event()
    joining = asyncio.ensure_future(join_office(bridge, office, leaving))
    serving = asyncio.ensure_future(transport(bridge))
    try:
        await asyncio.wait([joining, serving], return_when=asyncio.FIRST_COMPLETED)
        if joining.done():
            await joining
        await serving
    finally:
        leaving.set()
        serving.cancel()
        # Wait for a connection attempt: it may not notice a cancellation.
        await asyncio.wait([joining, serving], timeout=SHUTDOWN_SECONDS)
        joining.cancel()
        unsubscribe()
        await bridge.close()
        closing = asyncio.ensure_future(office.close())
        await asyncio.wait([joining, serving, closing], timeout=SHUTDOWN_SECONDS)


async def serve_stdio(bridge: Bridge) -> None:
    """Serve one client at standard input and output."""
    await mcp_stdio.serve_stdio(bridge.server)


async def join_office(
    bridge: Bridge,
    office: OfficeClient,
    leaving: asyncio.Event,
    *,
    takeover: float = TAKEOVER_SECONDS,
    pause: float = FIRST_PAUSE,
) -> None:
    """Join the office; retry while the server cannot be reached, until `leaving` is set.

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
            if clock() - began > takeover:
                raise
            problem = error
        else:
            bridge.on_joined()
            return
        delay = backoff.exact()
        log.info("join failed: retrying in_seconds=%g", delay)
        bridge.on_disconnected(str(problem))
        with suppress(TimeoutError):
            await asyncio.wait_for(leaving.wait(), delay)
