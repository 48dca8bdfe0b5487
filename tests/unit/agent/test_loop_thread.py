"""Work on the loop's thread, given up at the worst moment."""

import asyncio
import gc
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from a2c_smcp.agent.loop_thread import LoopThread

CAP = 30


def test_an_interrupt_between_the_beginning_and_the_wait_cancels_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended = threading.Event(), threading.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    begin = asyncio.run_coroutine_threadsafe

    def interrupted(*given: object) -> Future[None]:
        begin(*given)  # type: ignore[arg-type]
        assert began.wait(CAP)
        raise KeyboardInterrupt

    thread = LoopThread("test")
    thread.start()
    try:
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            thread.run(work())
        assert ended.wait(CAP)
    finally:
        thread.stop()


def test_work_that_is_given_up_before_it_begins_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("work")

    async def nothing() -> None:
        done.append("nothing")

    begin = asyncio.run_coroutine_threadsafe
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        release.wait(CAP)

    def interrupted(*given: object) -> Future[None]:
        begin(*given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    thread = LoopThread("test")
    thread.start()
    try:
        thread._loop.call_soon_threadsafe(hold)
        assert held.wait(CAP)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
            thread.run(work())
        release.set()
        thread.run(nothing())
    finally:
        thread.stop()
    assert done == ["nothing"]


def test_work_that_comes_while_the_thread_ends_is_done_or_refused_and_never_forgotten() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    def use(thread: LoopThread, number: int, together: threading.Barrier) -> str:
        together.wait(CAP)
        if not number:
            thread.stop()
            return "ended"
        try:
            return thread.run(work())
        except ConnectionError:
            return "refused"

    with ThreadPoolExecutor(5) as pool:
        for _ in range(100):
            thread, together = LoopThread("test"), threading.Barrier(5)
            thread.start()
            told = list(pool.map(use, [thread] * 5, range(5), [together] * 5))
            assert told[0] == "ended"
            assert set(told[1:]) <= {"done", "refused"}
    gc.collect()  # a coroutine that nobody has awaited warns here
