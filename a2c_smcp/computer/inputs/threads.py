"""Blocking calls that may never return, kept from holding up the end of the program."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """Return what `call` returns. Whoever stops waiting leaves it behind: the program can end all the same."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, problem: BaseException | None) -> None:
        if result.done():
            return
        if problem is not None:
            result.set_exception(problem)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, problem = None, None
        try:
            value = call()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            problem = error
        try:
            loop.call_soon_threadsafe(settle, value, problem)
        except RuntimeError:
            return  # the loop has ended meanwhile, and with it everybody who waited

    threading.Thread(target=run, daemon=True, name="a2c-inputs").start()
    return await result
