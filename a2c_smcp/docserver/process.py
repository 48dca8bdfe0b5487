"""A server as a process: it ends when its client leaves or a signal comes, and leaves nothing behind."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from mcp.server.lowlevel import Server

from a2c_smcp.docserver.stdio import stdio

log = logging.getLogger(__name__)

EXIT_SECONDS: Final = 10.0
"""Seconds until a process that was told to end does so, whatever still holds it: a client that reads nothing, say."""

STOP: Final = ("SIGINT", "SIGTERM", "SIGBREAK")


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at the other end of standard input and output until it leaves."""
    try:
        async with stdio() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* BrokenPipeError:
        log.info("The client has stopped reading")


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server until it ends or a signal comes; a second one does not wait."""
    asyncio.run(run_until_signal(serving))


async def run_until_signal(serving: Coroutine[Any, Any, None]) -> None:
    """The same in an event loop that runs already."""
    task = asyncio.ensure_future(serving)
    loop = asyncio.get_running_loop()
    told: list[threading.Timer] = []

    def stop() -> None:
        if told:
            os._exit(130)
        last = threading.Timer(EXIT_SECONDS, os._exit, (130,))
        last.daemon = True
        last.start()
        told.append(last)
        task.cancel()

    numbers = [getattr(signal, name) for name in STOP if hasattr(signal, name)]
    for number in numbers:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not here, or not in this thread
            loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
    finally:
        for last in told:
            last.cancel()
        for number in numbers:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)
