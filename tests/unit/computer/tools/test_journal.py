"""The journal of tool calls: what a Computer still knows after it was started again."""

import asyncio
import logging
import os
import resource
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.tools import journal as journals
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.computer.tools.journal import CallJournal, discard_old
from a2c_smcp.computer.tools.journal_files import JournalLimits
from a2c_smcp.computer.tools.results import cancelled, interrupted, too_large_to_keep
from a2c_smcp.errors import BadRequest, ConfirmationRequired, InternalError
from tests.unit.computer.tools.bench import DONE, Bench
from tests.unit.computer.tools.fakes import answering, config, forever, request, until

LONG_AGO = 300
"""Seconds after which a result is only in the journal."""


@asynccontextmanager
async def computer(folder: Path, behaviour: Any = None, server: Any = None, **options: Any) -> AsyncIterator[Bench]:
    """A Computer from its start to its end."""
    named = {name: options.pop(name) for name in ("strict", "limits", "clock") if name in options}
    journal = CallJournal(folder, **named)
    await journal.open()
    bench = Bench(behaviour, server, journal=journal, **options)
    try:
        yield bench
    finally:
        await bench.calls.aclose()
        await journal.close()


@contextmanager
def full_disk(room: int = 0) -> Iterator[None]:
    """Let no file grow beyond `room` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def killed(folder: Path, kept: Path) -> Path:
    """A copy of the files as they are at this moment: what a process that is killed now leaves behind."""
    kept.mkdir()
    for path in folder.glob("*.log"):
        (kept / path.name).write_bytes(path.read_bytes())
    return kept


@pytest.mark.rule("4.8")
@pytest.mark.parametrize("strict", [False, True])
async def test_a_finished_call_has_its_result_after_a_restart(tmp_path: Path, strict: bool) -> None:
    async with computer(tmp_path, strict=strict) as first:
        assert await first.calls.run(request()) == DONE
    async with computer(tmp_path) as second:
        assert await second.calls.run(request()) == DONE
        with pytest.raises(BadRequest, match="belongs to another call"):
            await second.calls.run(request(x=1))
        assert second.ran == 0


@pytest.mark.rule("4.8")
@pytest.mark.parametrize("strict", [False, True])
async def test_a_call_that_had_started_and_has_no_result_is_interrupted(tmp_path: Path, strict: bool) -> None:
    async with computer(tmp_path / "a", forever, strict=strict) as first:
        call = await first.running()
        left = killed(tmp_path / "a", tmp_path / "b")
        call.cancel()
    async with computer(left) as second:
        assert await second.calls.run(request()) == interrupted("echo")
        assert second.ran == 0


async def test_a_call_that_ran_when_the_computer_stopped_is_interrupted(tmp_path: Path) -> None:
    async with computer(tmp_path, forever) as first:
        call = await first.running()
    assert await call == interrupted("echo")
    async with computer(tmp_path) as second:
        assert await second.calls.run(request()) == interrupted("echo")


async def test_a_call_that_waited_for_the_owner_may_run_after_a_restart(tmp_path: Path) -> None:
    asking = asyncio.Event()

    async def ponder(_: Confirmation) -> Decision:
        asking.set()
        await asyncio.Event().wait()
        return Decision.ONCE

    async with computer(tmp_path / "a", server=config("s"), confirm=ponder) as first:
        call = first.start()
        await asking.wait()
        left = killed(tmp_path / "a", tmp_path / "b")
        call.cancel()
    async with computer(left) as second:
        with pytest.raises(BadRequest):
            await second.calls.run(request(x=1))
        assert await second.calls.run(request()) == DONE


async def test_what_the_owner_refused_or_the_agent_cancelled_stays_so(tmp_path: Path) -> None:
    async def refuse(_: Confirmation) -> Decision:
        return Decision.REFUSE

    async with computer(tmp_path, server=config("s"), confirm=refuse) as first:
        with pytest.raises(ConfirmationRequired) as told:
            await first.calls.run(request())
    async with computer(tmp_path, forever) as second:
        with pytest.raises(ConfirmationRequired) as again:
            await second.calls.run(request())
        assert (again.value.message, again.value.details) == (told.value.message, told.value.details)
        call = await second.running(req_id="r2")
        second.calls.cancel("a", "r2")
        assert await call == cancelled("echo")
    async with computer(tmp_path) as third:
        assert await third.calls.run(request(req_id="r2")) == cancelled("echo")
        assert third.ran == 0


async def test_a_call_belongs_to_its_agent_office_and_server(tmp_path: Path) -> None:
    async with computer(tmp_path) as first:
        await first.calls.run(request())
    async with computer(tmp_path) as second:
        await second.calls.run(request(agent="b"))
        await second.calls.run(request(), office="other")
        assert second.ran == 2
    journal = CallJournal(tmp_path)
    await journal.open()
    journal.scope = "http://other.example"
    third = Bench(journal=journal)
    await third.calls.run(request())
    assert third.ran == 1
    await journal.close()


async def test_a_result_that_is_no_longer_in_memory_is_read_from_the_journal(tmp_path: Path) -> None:
    async with computer(tmp_path) as bench:
        await bench.calls.run(request())
        await until_written(tmp_path)
        bench.now = LONG_AGO
        assert await bench.calls.run(request()) == DONE
        assert bench.ran == 1


async def until_written(folder: Path) -> None:
    await until(lambda: any(path.stat().st_size for path in folder.glob("outcomes-*.log")))
    await asyncio.to_thread(lambda: None)


async def test_a_call_is_forgotten_after_a_day(tmp_path: Path) -> None:
    async with computer(tmp_path, clock=lambda: 1000.0) as first:
        await first.calls.run(request())
    for path in files(tmp_path, "*.log"):
        os.utime(path, (1000, 1000))
    async with computer(tmp_path, clock=lambda: 1000.0 + 24 * 3600 + 1) as second:
        await second.calls.run(request())
        assert second.ran == 1
    assert sum(path.read_bytes().count(b"\n") for path in files(tmp_path, "outcomes-*")) == 1


async def test_only_so_many_calls_are_remembered(tmp_path: Path) -> None:
    limits = JournalLimits(entries=3)
    async with computer(tmp_path, limits=limits) as first:
        for number in range(5):
            await first.calls.run(request(req_id=str(number)))
    async with computer(tmp_path, limits=limits) as second:
        for number in (4, 3, 2, 1):
            await second.calls.run(request(req_id=str(number)))
        assert second.ran == 1


async def test_only_so_much_is_on_the_disk_and_a_call_whose_result_is_gone_does_not_run(tmp_path: Path) -> None:
    limits = JournalLimits(size=20_000, segment=5_000)
    large = answering(content=[{"type": "text", "text": "x" * 4_000}])
    async with computer(tmp_path, large, limits=limits) as first:
        for number in range(20):
            await first.calls.run(request(req_id=str(number)))
    assert sum(path.stat().st_size for path in files(tmp_path, "outcomes-*")) <= 20_000 + 5_000
    async with computer(tmp_path, limits=limits) as second:
        assert await second.calls.run(request(req_id="0")) == too_large_to_keep()
        assert (await second.calls.run(request(req_id="19")))["content"][0]["text"] == "x" * 4_000
        assert second.ran == 0


async def test_the_log_of_calls_goes_on_in_the_next_file(tmp_path: Path) -> None:
    limits = JournalLimits(segment=500)
    async with computer(tmp_path, limits=limits) as first:
        for number in range(20):
            await first.calls.run(request(req_id=str(number)))
    assert len(files(tmp_path, "calls-*")) == 2
    async with computer(tmp_path, limits=limits) as second:
        await second.calls.run(request(req_id="19"))
        assert second.ran == 0
    assert len(files(tmp_path, "calls-*")) == 1


@pytest.mark.parametrize("damage", [b"S torn", b"\0" * 100, b"\n\n", b"S x y z q\nO a b c\n\xff\xfe\n"])
async def test_damaged_lines_are_passed_over(tmp_path: Path, damage: bytes) -> None:
    async with computer(tmp_path) as first:
        await first.calls.run(request())
    for path in files(tmp_path, "*.log"):
        with path.open("ab") as file:
            file.write(damage)
    async with computer(tmp_path) as second:
        assert await second.calls.run(request()) == DONE
        await second.calls.run(request(req_id="r2"))
        assert second.ran == 1
    async with computer(tmp_path) as third:
        await third.calls.run(request(req_id="r2"))
        assert third.ran == 0


async def test_an_outcome_that_cannot_be_read_is_as_one_that_is_gone(tmp_path: Path) -> None:
    async with computer(tmp_path) as first:
        await first.calls.run(request())
    async with computer(tmp_path) as second:
        for path in files(tmp_path, "outcomes-*"):
            path.unlink()
        assert await second.calls.run(request()) == too_large_to_keep()


async def test_a_full_disk_is_logged_once_and_calls_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with computer(tmp_path) as bench:
        journal: Any = bench.calls._services.journal
        with full_disk():
            assert await bench.calls.run(request()) == DONE
            assert await bench.calls.run(request(req_id="r2")) == DONE
            assert journal.problem == os.strerror(27)
        await bench.calls.run(request(req_id="r3"))
        assert journal.problem is None
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [text.split(":")[0].split(" folder")[0] for text in said] == [
        "journal not writable",
        "journal writable again",
    ]
    async with computer(tmp_path) as again:
        await again.calls.run(request(req_id="r3"))
        assert again.ran == 0


async def test_a_strict_computer_refuses_calls_that_it_cannot_record(tmp_path: Path) -> None:
    async with computer(tmp_path, strict=True) as bench:
        with full_disk(), pytest.raises(InternalError, match="The tool was not run: the Computer's journal"):
            await bench.calls.run(request())
        assert bench.ran == 0
        assert await bench.calls.run(request(req_id="r2")) == DONE


class HeldDisk:
    """A disk that syncs when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failure: OSError | None = None) -> None:
        self.asked, self.let = threading.Event(), threading.Event()
        self._failure = failure
        monkeypatch.setattr(journals, "_sync", self._sync)

    def _sync(self, _: int) -> None:
        self.asked.set()
        assert self.let.wait(60)
        if self._failure is not None:
            raise self._failure


async def test_a_tool_runs_once_the_disk_has_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = HeldDisk(monkeypatch)
    async with computer(tmp_path) as bench:
        call = bench.start()
        await asyncio.to_thread(disk.asked.wait, 60)
        assert (bench.ran, call.done()) == (0, False)
        assert b"S " in files(tmp_path, "calls-*")[-1].read_bytes()
        disk.let.set()
        assert await call == DONE


@pytest.mark.parametrize("hint", ["readOnlyHint", "idempotentHint"])
async def test_a_tool_that_may_run_twice_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hint: str
) -> None:
    disk = HeldDisk(monkeypatch)
    async with computer(tmp_path) as bench:
        bench.session.listed[0]["annotations"] = {hint: True}
        assert await bench.calls.run(request()) == DONE
        disk.let.set()


async def test_a_disk_that_fails_to_sync_lets_calls_run_unless_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = HeldDisk(monkeypatch, OSError(5, "Input/output error"))
    disk.let.set()
    async with computer(tmp_path / "a") as bench:
        assert await bench.calls.run(request()) == DONE
    async with computer(tmp_path / "b", strict=True) as bench:
        with pytest.raises(InternalError, match=r"The tool was not run: .*Input/output error"):
            await bench.calls.run(request())
        assert bench.ran == 0


async def test_what_was_recorded_counts_also_when_the_disk_is_full_at_the_start(tmp_path: Path) -> None:
    async with computer(tmp_path) as first:
        await first.calls.run(request())
    with full_disk():
        async with computer(tmp_path) as second:
            assert await second.calls.run(request()) == DONE
            assert second.ran == 0
    async with computer(tmp_path) as third:
        assert await third.calls.run(request()) == DONE
        assert third.ran == 0


async def test_one_process_at_a_time_has_it_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "LOCK_SECONDS", 0)
    async with computer(tmp_path):
        second = CallJournal(tmp_path)
        with pytest.raises(BlockingIOError):
            await second.open()
        assert second.problem == "another process has it open"
    await second.open()
    await second.close()


async def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    (tmp_path / "j").mkdir(mode=0o777)
    async with computer(tmp_path / "j") as bench:
        await bench.calls.run(request())
    assert stat.S_IMODE((tmp_path / "j").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "j").iterdir()} == {0o600}


async def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "calls-00000001.log").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic link"):
        await CallJournal(tmp_path).open()


@pytest.mark.parametrize(("age", "is_there"), [(10, True), (100, False)])
async def test_journals_that_nobody_uses_any_more_are_deleted(tmp_path: Path, age: int, is_there: bool) -> None:
    async with computer(tmp_path / "mine"), computer(tmp_path / "old") as bench:
        await bench.calls.run(request())
    for path in (tmp_path / "old").iterdir():
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    async with computer(tmp_path / "mine"):
        for path in (tmp_path / "mine").iterdir():
            os.utime(path, (0, 0))
        discard_old(tmp_path, 50)
    assert ((tmp_path / "old").exists(), (tmp_path / "mine").exists()) == (is_there, True)


async def test_a_disk_that_does_not_respond_holds_up_one_call_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    slow, go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def sync(_: int) -> None:
        loop.call_soon_threadsafe(slow.set)
        go.wait(60)

    monkeypatch.setattr(journals, "_sync", sync)
    monkeypatch.setattr(journals, "SYNC_SECONDS", 0.01)
    async with computer(tmp_path) as bench:
        journal: Any = bench.calls._services.journal
        assert await bench.calls.run(request()) == DONE
        await slow.wait()
        assert journal.problem == "the disk does not respond"
        monkeypatch.setattr(journals, "SYNC_SECONDS", 60)
        assert await bench.calls.run(request(req_id="r2")) == DONE
        go.set()
        await until(lambda: not journal._unsynced)
        assert await bench.calls.run(request(req_id="r3")) == DONE
        assert journal.problem is None
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [text.split(":")[0].split(" folder")[0] for text in said] == [
        "journal not writable",
        "journal writable again",
    ]
