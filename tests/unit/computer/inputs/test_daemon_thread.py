"""Blocking calls in threads that hold nothing up."""

import asyncio
import threading

import pytest

from a2c_smcp.computer.inputs.sources import in_daemon_thread


async def test_a_call_returns_its_value() -> None:
    assert await in_daemon_thread(lambda: threading.current_thread().daemon) is True


async def test_what_a_call_raises_reaches_whoever_waits() -> None:
    def fail() -> None:
        raise KeyError("missing")

    with pytest.raises(KeyError, match="missing"):
        await in_daemon_thread(fail)


async def test_whoever_stops_waiting_is_free_at_once() -> None:
    release, ended = threading.Event(), threading.Event()

    def block() -> None:
        release.wait(60)
        ended.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await in_daemon_thread(block)
    release.set()
    assert await asyncio.to_thread(ended.wait, 60)


def test_a_call_that_ends_after_the_loop_harms_nobody() -> None:
    release, ended = threading.Event(), threading.Event()

    def block() -> None:
        release.wait(60)
        ended.set()

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_daemon_thread(block)

    asyncio.run(leave())
    release.set()
    assert ended.wait(60)
    for thread in threading.enumerate():
        if thread.name == "a2c-inputs":
            thread.join(60)
