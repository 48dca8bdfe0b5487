"""The journal of tool calls on disk: a call runs at most once, even if the Computer is killed and restarted.

A folder contains two logs, each a few append-only files of lines. A call is named by a digest of its key, its `mark` is
a digest of tool and arguments, and times are seconds since 1970:

    calls-*.log       A call mark time           accepted: waiting for the owner, not started
                      S call mark time           started: the tool may have run
                      E call mark time           ended
    outcomes-*.log    O call time length JSON    how it ended

The event loop writes the lines of `calls` itself, one `write` of a hundred bytes each. A thread syncs them to the disk,
one sync for all calls that arrive together, and writes the outcomes. A tool runs once its "started" line is synced; a
read-only or idempotent tool does not wait for that. Only the event loop accesses the index of calls, and only the
thread accesses the log of outcomes.
"""

import asyncio
import errno
import hashlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.computer.tools.completed_calls import CallKey, CallOutcome
from a2c_smcp.computer.tools.journal_files import (
    NOFOLLOW,
    JournalLimits,
    OutcomeLocation,
    OutcomeLog,
    check_own,
    create,
    log_files,
    next_file,
    number_in,
    whole_lines,
)
from a2c_smcp.computer.tools.results import interrupted, too_large_to_keep
from a2c_smcp.errors import InternalError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

logger = logging.getLogger(__name__)

CallState: TypeAlias = Literal["accepted", "started", "ended"]

_STATES: Final[dict[bytes, CallState]] = {b"A": "accepted", b"S": "started", b"E": "ended"}
_LETTERS: Final = {state: letter for letter, state in _STATES.items()}
_sync: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)

LOCK: Final = "lock"
LOCK_SECONDS: Final = 2.0
STOP_SECONDS: Final = 5.0
TIDY_SECONDS: Final = 600.0
GROUP_SECONDS: Final = 0.005
"""Starts that no call waits for are synced together after this time."""

SYNC_SECONDS: Final = 2.0
"""How long a call waits for the sync before it runs without it, unless the journal is strict."""

QUEUED: Final = 4_000
"""The most outcomes waiting to be written; of further ones only the end is recorded."""

MARK: Final = 32
"""How many characters of a mark are recorded."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The record of a call."""

    state: CallState
    mark: str
    at: float
    outcome: OutcomeLocation | None = None

    def is_of(self, mark: str) -> bool:
        """Whether the call has this mark."""
        return self.mark == mark[:MARK]


class CallJournal:
    """The journal of one Computer. Only one process at a time can open it.

    Args:
        folder: Created if it does not exist; only its owner can read it.
        strict: Whether to refuse a call that cannot be recorded; otherwise it runs without the guarantee.
        clock: Returns the seconds since 1970.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        strict: bool = False,
        limits: JournalLimits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = Path(folder)
        self.strict = strict
        self.scope = ""
        """Distinguishes offices of the same name on different servers."""
        self.problem: str | None = None
        """Why calls cannot be recorded at the moment, or None."""
        self._limits = limits or JournalLimits()
        self._clock = clock
        self._index: dict[str, RecordedCall] = {}
        self._files: list[Path] = []
        self._fd, self._size, self._torn = -1, 0, False
        self._unsynced = False
        self._lock_fd = -1
        self._thread: _WriterThread | None = None

    @property
    def entries(self) -> int:
        """The number of recorded calls."""
        return len(self._index)

    async def open(self) -> None:
        """Load the records and start recording.

        Raises:
            OSError: The folder cannot be used, or another process has the journal open.
        """
        try:
            outcomes = await asyncio.to_thread(self._load)
        except BaseException as problem:
            self._close_files()
            if isinstance(problem, OSError):
                self.problem = problem.strerror or str(problem)
            raise
        self._thread = _WriterThread(self, outcomes, _copy(self._fd), asyncio.get_running_loop())
        self._thread.start()

    async def close(self) -> None:
        """Write everything pending, and close the files."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if await asyncio.to_thread(thread.stop, STOP_SECONDS):
            self._close_files()
        else:
            logger.error("journal not closed: disk does not respond folder=%s", self.folder)

    # Calls

    def find(self, key: CallKey) -> RecordedCall | None:
        """Return the record of a call, or None."""
        if not self._index:
            return None
        name = self._name(key)
        found = self._index.get(name)
        if found is not None and self._clock() - found.at > self._limits.seconds:
            del self._index[name]
            return None
        return found

    async def outcome(self, recorded: RecordedCall, tool: str) -> CallOutcome:
        """Return the outcome of a started call, as far as it is known."""
        if recorded.state == "started":
            return CallOutcome(interrupted(tool))
        if recorded.outcome is not None:
            try:
                return await asyncio.to_thread(recorded.outcome.read)
            except (OSError, ValueError, AttributeError, TypeError) as problem:
                logger.warning("journal outcome unreadable: reason=%s folder=%s", problem, self.folder)
        return CallOutcome(too_large_to_keep())

    def accepted(self, key: CallKey, mark: str) -> None:
        """Record that a call waits for the owner."""
        self._note(self._name(key), "accepted", mark)

    def started(self, key: CallKey, mark: str, *, repeatable: bool = False) -> "asyncio.Future[None] | None":
        """Record that a call starts; return a future to await before its tool runs, if there is one.

        Args:
            repeatable: Whether the tool is read-only or idempotent. Such a call does not wait for the disk.

        Raises:
            InternalError: The call cannot be recorded, and the journal is strict.
        """
        noted, thread = self._note(self._name(key), "started", mark), self._thread
        if not noted or thread is None:
            if self.strict:
                raise _not_recorded(self.problem or "it is closed")
            return None
        if repeatable or (self._unsynced and not self.strict):
            thread.sync_soon()
            return None
        waiter = thread.synced()
        if not self.strict:
            timer = asyncio.get_running_loop().call_later(SYNC_SECONDS, self._give_up, waiter)
            waiter.add_done_callback(lambda _: timer.cancel())
        return waiter

    def _give_up(self, waiter: "asyncio.Future[None]") -> None:
        if not waiter.done():
            self.sync_failed(OSError(errno.ETIMEDOUT, "the disk does not respond"))
            waiter.set_result(None)

    def ended(self, key: CallKey, mark: str, outcome: CallOutcome) -> None:
        """Record the outcome of a call."""
        name = self._name(key)
        if self._note(name, "ended", mark) and self._thread is not None:
            self._thread.write(name, outcome)

    def _name(self, key: CallKey) -> str:
        return hashlib.blake2b(FastJson.encode([self.scope, *key]), digest_size=16).hexdigest()

    def _note(self, name: str, state: CallState, mark: str) -> bool:
        noted = RecordedCall(state, mark[:MARK], self._clock())
        if self._thread is None or not self._write(_line(name, noted)):
            return False
        self._index[name] = noted
        while len(self._index) > self._limits.entries:
            del self._index[next(iter(self._index))]
        return True

    def _write(self, line: bytes) -> bool:
        try:
            if self._fd < 0 or self._size > self._limits.segment:
                self._begin_file()
            line = b"\n" + line if self._torn else line
            written = os.write(self._fd, line)
            self._size += written
            self._torn = written < len(line)
            if self._torn:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - a part of a line is no line
        except OSError as problem:
            self.failed(problem)
            return False
        if self.problem is not None and not self._unsynced:
            self.problem = None
            logger.warning("journal writable again: folder=%s", self.folder)
        return True

    # Callbacks of the writer thread

    def failed(self, problem: OSError) -> None:
        """A write failed; logged once until a write succeeds again."""
        why = problem.strerror or str(problem)
        if self.problem is None:
            then = "calls are refused" if self.strict else "calls run, and could run again after a restart"
            logger.error("journal not writable: reason=%s folder=%s; %s", why, self.folder, then)
        self.problem = why

    def sync_failed(self, problem: OSError) -> None:
        """A sync failed. Until one succeeds, calls do not wait for it."""
        self._unsynced = True
        self.failed(problem)

    def synced(self) -> None:
        """Everything written is synced."""
        self._unsynced = False

    def wrote(self, name: str, place: OutcomeLocation) -> None:
        """An outcome was written."""
        if (known := self._index.get(name)) is not None:
            self._index[name] = replace(known, outcome=place)

    def deleted(self, path: Path) -> None:
        """A file of outcomes was deleted."""
        for name, known in self._index.items():
            if known.outcome is not None and known.outcome.path == path:
                self._index[name] = replace(known, outcome=None)

    # Files

    def _load(self) -> OutcomeLog:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_own(self.folder, self.folder.stat())
        self.folder.chmod(0o700)
        self._lock_fd = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR | NOFOLLOW, 0o600)
        _lock(self._lock_fd)
        self._files = log_files(self.folder, "calls")
        for path in self._files:
            for line, _ in whole_lines(path):
                self._recall(line)
        for name in list(self._index)[: -self._limits.entries]:
            del self._index[name]
        outcomes = OutcomeLog(self.folder, self._limits, self._clock)
        for name, place in outcomes.load():
            if (known := self._index.get(name)) is not None and known.state == "ended":
                self._index[name] = replace(known, outcome=place)
        for path in outcomes.tidy():
            self.deleted(path)
        try:
            self._compact()
        except OSError as problem:
            self.failed(problem)  # the loaded records are still valid
        return outcomes

    def _recall(self, line: bytes) -> None:
        match line.split(b" "):
            case [letter, name, mark, at] if letter in _STATES:
                when = min(number_in(at), self._clock())
                if self._clock() - when <= self._limits.seconds:
                    self._index[name.decode()] = RecordedCall(_STATES[letter], mark.decode(), when)

    def _compact(self) -> None:
        """Write the current records into one new file, and delete the others once it is synced."""
        old = list(self._files)
        self._begin_file()
        whole = b"".join(_line(name, known) for name, known in self._index.items())
        try:
            while self._size < len(whole):
                self._size += os.write(self._fd, whole[self._size :])
            os.fsync(self._fd)
        except OSError:
            self._torn = True
            raise
        for path in old:
            path.unlink()
        self._files, self._size = self._files[-1:], 0

    def _begin_file(self) -> None:
        path = next_file(self.folder, "calls", self._files[-1] if self._files else None)
        before, self._fd = self._fd, create(path)
        self._size, self._torn = 0, False
        self._files.append(path)
        if before >= 0:
            os.close(before)
        if self._thread is not None:
            # A file has more entries than the index, so all current records are in the last two files.
            old, self._files = self._files[:-2], self._files[-2:]
            self._thread.follow(_copy(self._fd), old)

    def _close_files(self) -> None:
        for fd in (self._fd, self._lock_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock_fd = -1


class _WriterThread(threading.Thread):
    """Does the blocking disk work, in order."""

    def __init__(self, journal: CallJournal, outcomes: OutcomeLog, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(name="a2c-journal", daemon=True)
        self._journal, self._outcomes, self._fd, self._loop = journal, outcomes, fd, loop
        self._jobs: queue.SimpleQueue[Callable[[], None] | asyncio.Future[None] | None] = queue.SimpleQueue()
        self._due = False

    def sync_soon(self) -> None:
        """Sync the calls to the disk within the next milliseconds."""
        if not self._due:
            self._due = True
            self._jobs.put(_nothing)

    def synced(self) -> "asyncio.Future[None]":
        """Return a future that is done once the calls are synced."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put(waiter)
        return waiter

    def write(self, name: str, outcome: CallOutcome) -> None:
        """Write an outcome."""
        if self._jobs.qsize() < QUEUED:
            self._jobs.put(lambda: self._write(name, outcome))

    def follow(self, fd: int, old: list[Path]) -> None:
        """Switch to a new file of calls, and delete the old ones."""
        self._jobs.put(lambda: self._follow(fd, old))

    def stop(self, seconds: float) -> bool:
        """Finish the pending work and end; return whether that was done in time."""
        self._jobs.put(None)
        self.join(seconds)
        return not self.is_alive()

    def run(self) -> None:
        stop, sync_at = False, None
        while not stop:
            waiters = []
            for job in self._batch(TIDY_SECONDS if sync_at is None else max(0.0, sync_at - time.monotonic())):
                if job is None:
                    stop = True
                elif isinstance(job, asyncio.Future):
                    waiters.append(job)
                else:
                    self._guarded(job)
            if self._due and sync_at is None:
                sync_at = time.monotonic() + GROUP_SECONDS
            if waiters or stop or (sync_at is not None and time.monotonic() >= sync_at):
                self._due, sync_at = False, None
                self._sync(waiters)
            self._guarded(self._tidy)
        self._outcomes.close()
        if self._fd >= 0:
            os.close(self._fd)

    def _batch(self, seconds: float) -> "Iterator[Callable[[], None] | asyncio.Future[None] | None]":
        with suppress(queue.Empty):
            yield self._jobs.get(timeout=seconds)
            while True:
                yield self._jobs.get_nowait()

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except OSError as problem:
            self._report(self._journal.failed, problem)
        except Exception:
            # The outermost handler of the thread: a failed job must not stop the next one.
            logger.exception("journal job failed: folder=%s", self._journal.folder)

    def _report(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _write(self, name: str, outcome: CallOutcome) -> None:
        place = self._outcomes.add(name, outcome)
        if place is not None:
            self._report(self._journal.wrote, name, place)

    def _follow(self, fd: int, old: list[Path]) -> None:
        before, self._fd = self._fd, fd
        if before >= 0:
            try:
                _sync(before)
            finally:
                os.close(before)
        for path in old:
            path.unlink(missing_ok=True)

    def _sync(self, waiters: list["asyncio.Future[None]"]) -> None:
        failure: OSError | None = None
        try:
            _sync(self._fd)
        except OSError as problem:
            failure = problem
            self._report(self._journal.sync_failed, problem)
        else:
            self._report(self._journal.synced)
        if waiters:
            self._report(_settle, waiters, failure if self._journal.strict else None)

    def _tidy(self) -> None:
        for path in self._outcomes.tidy():
            self._report(self._journal.deleted, path)


def discard_old(root: Path, seconds: float) -> None:
    """Delete the journals in a folder that no process has open and that were not written for `seconds`."""
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(OSError):
            files = [*folder.glob("*.log"), folder / LOCK]
            if time.time() - max(path.stat().st_mtime for path in files) < seconds:
                continue
            fd = os.open(folder / LOCK, os.O_RDWR | NOFOLLOW)
            try:
                _lock(fd, 0)
                for path in files:
                    path.unlink()
                folder.rmdir()
            finally:
                os.close(fd)


def _line(name: str, call: RecordedCall) -> bytes:
    return b"%b %b %b %.3f\n" % (_LETTERS[call.state], name.encode(), call.mark.encode(), call.at)


def _copy(fd: int) -> int:
    return os.dup(fd) if fd >= 0 else -1


def _lock(fd: int, patience: float = LOCK_SECONDS) -> None:
    until = time.monotonic() + patience
    while fcntl is not None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                raise BlockingIOError(errno.EAGAIN, "another process has it open") from None
            time.sleep(0.05)


def _not_recorded(why: str) -> InternalError:
    return InternalError(
        f"The tool was not run: the Computer's journal cannot be written ({why})", details={"reason": "journal"}
    )


def _settle(waiters: list["asyncio.Future[None]"], failure: OSError | None) -> None:
    for waiter in waiters:
        if waiter.done():
            continue
        if failure is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(_not_recorded(failure.strerror or str(failure)))


def _nothing() -> None:
    """Wakes the thread."""
