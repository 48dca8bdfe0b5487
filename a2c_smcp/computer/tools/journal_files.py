"""The files of the journal: names, ownership checks, and the log of outcomes."""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.common.segmented_json import json_segments
from a2c_smcp.computer.tools.completed_calls import CallOutcome
from a2c_smcp.errors import from_wire, to_wire

DAY: Final = 24 * 3600.0
NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Limits of the journal.

    Attributes:
        seconds: How long a call is kept.
        entries: The most calls that are kept.
        size: The most bytes of outcomes on disk; the oldest are deleted first.
        outcome: The size limit of an outcome in bytes.
        segment: The size in bytes after which a new file begins.
    """

    seconds: float = DAY
    entries: int = 20_000
    size: int = 64 << 20
    outcome: int = 32 << 20
    segment: int = 4 << 20


@dataclass(frozen=True, slots=True)
class OutcomeLocation:
    """The position of an outcome in a file."""

    path: Path
    offset: int
    length: int

    def read(self) -> CallOutcome:
        """Return the outcome.

        Raises:
            OSError: The file is deleted.
            ValueError: There is no valid outcome at this position.
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            found = FastJson.loads(file.read(self.length))
        error = from_wire(found) if "error" in found else None
        return CallOutcome(found.get("result"), error, progress=found.get("progress"))


@dataclass(slots=True)
class _LogFile:
    size: int
    began: float
    written: float


class OutcomeLog:
    """The log of outcomes, limited in size and age. Not thread-safe."""

    def __init__(self, folder: Path, limits: JournalLimits, clock: Callable[[], float]) -> None:
        self._folder, self._limits, self._clock = folder, limits, clock
        self._files: dict[Path, _LogFile] = {}
        self._fd = -1

    def load(self) -> Iterator[tuple[str, OutcomeLocation]]:
        """Yield the outcomes of earlier runs: name of the call and position."""
        for path in log_files(self._folder, "outcomes"):
            found = path.stat()
            self._files[path] = _LogFile(found.st_size, found.st_mtime, found.st_mtime)
            for line, offset in whole_lines(path):
                match line.split(b" ", 4):
                    case [b"O", name, _, length, body] if len(body) == number_in(length):
                        yield name.decode(), OutcomeLocation(path, offset + len(line) - len(body), len(body))

    def add(self, name: str, outcome: CallOutcome) -> OutcomeLocation | None:
        """Write an outcome and return its position; None if it is too large.

        Raises:
            OSError: The file cannot be written.
        """
        body = b"".join(_encoded(outcome))
        if len(body) > min(self._limits.outcome, self._limits.size):
            return None
        self._end_file()
        if self._fd < 0:
            self._begin_file()
        path, file = self._last()
        line = b"O %b %.3f %d %b\n" % (name.encode(), self._clock(), len(body), body)
        written = 0
        try:
            while written < len(line):
                written += os.write(self._fd, line[written:] if written else line)
        except OSError:
            self.close()  # the next outcome goes to another file, because this one ends with a partial line
            raise
        finally:
            file.size, file.written = file.size + written, self._clock()
        return OutcomeLocation(path, file.size - len(body) - 1, len(body))

    def tidy(self) -> list[Path]:
        """Rotate a large or old file, delete files above the limits, and return the deleted ones."""
        now, limits = self._clock(), self._limits
        self._end_file()
        deleted = []
        for path, file in list(self._files.items()):
            if self._fd >= 0 and path == self._last()[0]:
                break
            if sum(one.size for one in self._files.values()) > limits.size or now - file.written > limits.seconds:
                path.unlink(missing_ok=True)
                del self._files[path]
                deleted.append(path)
        return deleted

    def close(self) -> None:
        """Close the file; the next outcome begins another."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _end_file(self) -> None:
        if self._fd >= 0:
            _, last = self._last()
            if last.size > self._limits.segment or self._clock() - last.began > self._limits.seconds / 24:
                self.close()

    def _last(self) -> tuple[Path, _LogFile]:
        return next(reversed(self._files.items()))

    def _begin_file(self) -> None:
        path = next_file(self._folder, "outcomes", self._last()[0] if self._files else None)
        self._fd = create(path)
        self._files[path] = _LogFile(0, self._clock(), self._clock())


def log_files(folder: Path, kind: str) -> list[Path]:
    """Return the files of a log, oldest first."""
    return sorted(folder.glob(f"{kind}-{'[0-9]' * 8}.log"))


def next_file(folder: Path, kind: str, last: Path | None) -> Path:
    """Return the file after the last one of a log."""
    number = int(last.stem.rpartition("-")[2]) + 1 if last is not None else 1
    return folder / f"{kind}-{number:08}.log"


def create(path: Path) -> int:
    """Create a file for appending that only its owner can read."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | NOFOLLOW, 0o600)


def whole_lines(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield each line of a file with its offset, except an incomplete last one."""
    offset = 0
    with os.fdopen(os.open(path, os.O_RDONLY | NOFOLLOW), "rb") as file:
        check_own(path, os.fstat(file.fileno()))
        for line in file:
            if line.endswith(b"\n"):
                yield line[:-1], offset
            offset += len(line)


def number_in(text: bytes) -> float:
    """Return the number in a column of a line; 0 if it is damaged."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def check_own(path: Path, found: os.stat_result) -> None:
    """Check that a file belongs to this user.

    Raises:
        PermissionError: It belongs to another user.
    """
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))


def _encoded(outcome: CallOutcome) -> Iterator[bytes]:
    rest: dict[str, Any] = {} if outcome.progress is None else {"progress": outcome.progress}
    if outcome.error is not None:
        rest |= to_wire(outcome.error)
    yield b'{"result":'
    yield from json_segments(outcome.result)
    more = FastJson.encode(rest)
    yield b"}" if more == b"{}" else b"," + more[1:]
