"""Runs a server as a process that exits when its client disconnects or a signal arrives."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

EXIT_SECONDS: Final = 10.0
"""Seconds from the first signal to a forced exit, for example if a client does not read."""

STOP: Final = ("SIGINT", "SIGTERM", "SIGBREAK")


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server until it ends or a signal arrives; a second signal exits immediately."""
    asyncio.run(run_until_signal(serving))


async def run_until_signal(serving: Coroutine[Any, Any, None]) -> None:
    """Do the same as `run` in a running event loop."""
    task = asyncio.ensure_future(serving)
    loop = asyncio.get_running_loop()
    timers: list[threading.Timer] = []

    def stop() -> None:
        if timers:
            os._exit(130)
        last = threading.Timer(EXIT_SECONDS, os._exit, (130,))
        last.daemon = True
        last.start()
        timers.append(last)
        task.cancel()

    numbers = [getattr(signal, name) for name in STOP if hasattr(signal, name)]
    for number in numbers:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not supported on this system or thread
            loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not timers:
            raise
    finally:
        for last in timers:
            last.cancel()
        for number in numbers:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)
