"""Processes end with their Computer: the watchdog and the pipe to it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a2c_smcp.computer.mcp import watchdog
from a2c_smcp.computer.mcp.watchdog_client import WatchdogClient

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; print('up', flush=True); time.sleep(600)"]
STUBBORN = [*SLEEP[:-1], f"import signal; signal.signal(15, signal.SIG_IGN); {SLEEP[-1]}"]
CAP = 60

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start processes with groups of their own; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def one(command: list[str] = SLEEP, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, env=dict(os.environ) | environment, start_new_session=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        return process

    yield one
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def watched(guardian: WatchdogClient) -> subprocess.Popen[bytes]:
    process = guardian._process
    assert process is not None
    return process


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(CAP)


async def test_a_watchdog_whose_computer_is_gone_ends_the_groups_it_was_told_of(start: Start) -> None:
    guardian = WatchdogClient()
    lives, has_ended, ignored = start(), start(), start(STUBBORN)
    for process in (lives, has_ended, ignored):
        guardian.watch(process.pid)
    guardian.forget(has_ended.pid)
    pipe = watched(guardian).stdin
    assert pipe is not None

    pipe.close()

    assert (ended(lives), ended(ignored)) == (-signal.SIGTERM, -signal.SIGKILL)
    assert ended(watched(guardian)) == 0
    assert has_ended.poll() is None
    await guardian.close()


async def test_it_finds_what_left_its_group_by_the_mark(start: Start) -> None:
    guardian = WatchdogClient()
    marked, other = start(**guardian.environment()), start(**{watchdog.MARK: "another"})
    pipe = watched(guardian).stdin
    assert pipe is not None

    pipe.close()

    assert ended(marked) == -signal.SIGTERM
    assert other.poll() is None
    await guardian.close()


async def test_it_is_sent_home_when_there_is_nothing_left_to_watch(start: Start) -> None:
    async with WatchdogClient() as guardian:
        process = start()
        guardian.watch(process.pid)
        guardian.forget(process.pid)
        home = watched(guardian)

    assert (home.returncode, process.poll()) == (0, None)


async def test_closing_with_something_left_ends_it(start: Start) -> None:
    process = start()
    async with WatchdogClient() as guardian:
        guardian.watch(process.pid)

    assert ended(process) == -signal.SIGTERM


async def test_a_guardian_that_watched_nothing_never_started_a_process() -> None:
    async with WatchdogClient() as guardian:
        assert guardian._process is None


async def test_a_watchdog_that_is_killed_is_replaced_and_told_everything(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    guardian = WatchdogClient()
    first, second = start(), start()
    guardian.watch(first.pid)
    watched(guardian).kill()
    ended(watched(guardian))

    guardian.watch(second.pid)
    pipe = watched(guardian).stdin
    assert pipe is not None
    pipe.close()

    assert (ended(first), ended(second)) == (-signal.SIGTERM, -signal.SIGTERM)
    assert "watchdog process ended" in caplog.text
    await guardian.close()


def test_the_signals_that_end_a_computer_do_not_end_its_watchdog(start: Start) -> None:
    process = start()
    guardian = WatchdogClient()
    guardian.watch(process.pid)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        watched(guardian).send_signal(number)

    asyncio.run(guardian.close())

    assert ended(process) == -signal.SIGTERM


def test_a_watchdog_notices_the_death_of_its_parent_though_the_pipe_stays_open(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    parents = iter([1234, 1234, 1])
    monkeypatch.setattr(watchdog, "PARENT_SECONDS", 0.01)
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    os.write(writing, b"+7\n+8\n-7\n")

    assert watchdog.listen(reading) == {8}

    os.close(reading)
    os.close(writing)


def test_without_proc_groups_stand_for_their_processes(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start()

    def no_proc(path: str) -> list[str]:
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "listdir", no_proc)

    assert watchdog.survivors({process.pid, 2**22 - 1}, "-") == [process.pid]
    watchdog.end_all({process.pid}, "-")
    assert ended(process) == -signal.SIGTERM


def test_the_watchdog_imports_nothing_that_takes_time() -> None:
    script = f"import sys, runpy; runpy.run_path({str(Path(watchdog.__file__))!r}); print(len(sys.modules))"

    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)

    # An interpreter has some thirty modules of its own, `runpy` brings a few; asyncio alone would bring two hundred.
    assert int(done.stdout) < 80


async def test_a_watchdog_that_dies_is_started_again_without_waiting_for_the_next_process(start: Start) -> None:
    process = start()
    guardian = WatchdogClient()
    guardian.watch(process.pid)
    first = watched(guardian)
    first.kill()

    async with asyncio.timeout(CAP):
        while watched(guardian) is first:
            await asyncio.sleep(0.01)
    pipe = watched(guardian).stdin
    assert pipe is not None
    pipe.close()  # as when the Computer is killed

    assert ended(process) == -signal.SIGTERM
    await guardian.close()


async def test_a_watchdog_that_was_sent_home_is_not_started_again(start: Start) -> None:
    guardian = WatchdogClient()
    guardian.environment()
    dog = watched(guardian)
    await guardian.close()
    ended(dog)
    for thread in threading.enumerate():
        if thread.name == "a2c-watchdog":
            await asyncio.to_thread(thread.join, CAP)
    assert guardian._process is None
