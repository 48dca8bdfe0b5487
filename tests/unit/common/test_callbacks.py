"""Functions of users behind a guard."""

import asyncio
import logging
import threading

import pytest

from a2c_smcp.agent.loop_thread import HandlerThread
from a2c_smcp.agent.serial_handler import SerialHandler
from a2c_smcp.common.callbacks import await_guarded, call_guarded, notify_guarded, without_message
from a2c_smcp.server import async_runtime, blocking_runtime

CAP = 30.0
log = logging.getLogger(__name__)


def broken(*_: object) -> None:
    raise ValueError("broken")


def cancelled(*_: object) -> None:
    raise asyncio.CancelledError


async def broken_later(*_: object) -> None:
    raise ValueError("broken")


@pytest.mark.parametrize("function", [broken, cancelled])
def test_what_a_function_raises_is_logged_with_its_traceback(
    function: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert call_guarded(log, "a listener", function, 1, req_id="r-1") is None  # type: ignore[arg-type]
    (record,) = caplog.records
    assert (record.getMessage(), vars(record)["req_id"]) == ("a listener failed", "r-1")
    assert record.exc_info


def test_what_a_function_returns_is_returned() -> None:
    assert call_guarded(log, "a listener", lambda one: one + 1, 1) == 2


def test_a_coroutine_function_where_a_plain_one_belongs_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    notify_guarded(log, "a listener", broken_later)
    assert "a listener must be a plain function" in caplog.text


@pytest.mark.parametrize("function", [broken, cancelled, broken_later])
async def test_what_a_coroutine_function_raises_is_logged_too(
    function: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert await await_guarded(log, "a handler", function) is None  # type: ignore[arg-type]
    assert caplog.records[0].exc_info


async def test_a_cancelled_task_ends_although_a_guard_is_in_it() -> None:
    began = asyncio.Event()

    async def wait() -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(await_guarded(log, "a handler", wait))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_message_that_may_hold_a_secret_is_left_out_of_the_traceback(caplog: pytest.LogCaptureFixture) -> None:
    secret = "".join(["ti", "ger"])
    try:
        int(secret)
    except ValueError as problem:
        log.error("it failed", exc_info=without_message(problem))
    text = logging.Formatter().format(caplog.records[0])
    assert "ValueError" in text
    assert "test_callbacks.py" in text
    assert secret not in text


async def test_the_clock_of_a_server_goes_on_after_a_tick_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    ticks, enough = [], asyncio.Event()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            enough.set()
        raise KeyError(7)

    timer = async_runtime.PeriodicTimer(tick, 0.001)
    timer.start()
    await asyncio.wait_for(enough.wait(), CAP)
    timer.stop()
    assert caplog.records[0].exc_info


def test_the_clock_of_a_blocking_server_goes_on_after_a_tick_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    ticks, enough = [], threading.Event()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            enough.set()
        raise KeyError(7)

    timer = blocking_runtime.SyncPeriodicTimer(tick, 0.001)
    timer.start()
    assert enough.wait(CAP)
    timer.stop()
    assert caplog.records[0].exc_info


async def test_a_handler_that_raises_a_cancellation_hears_the_next_event() -> None:
    heard, both = [], asyncio.Event()

    async def handler(number: int) -> None:
        heard.append(number)
        if number == 2:
            both.set()
        raise asyncio.CancelledError

    turns = SerialHandler(handler, 10, str)
    turns.put(1)
    turns.put(2)
    await asyncio.wait_for(both.wait(), CAP)
    assert heard == [1, 2]


@pytest.mark.parametrize("problem", [StopIteration, SystemExit, ValueError])
async def test_a_blocking_handler_hears_the_next_event_whatever_it_raised(problem: type[BaseException]) -> None:
    heard = []

    def handler(number: int) -> None:
        heard.append(number)
        raise problem

    thread = HandlerThread(handler)
    for number in (1, 2):
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is
            await asyncio.wait_for(thread(number), CAP)
    thread.stop()
    assert heard == [1, 2]
