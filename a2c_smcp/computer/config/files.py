"""Reading a configuration file safely, whatever its path leads to, and replacing a file atomically."""

import contextlib
import os
import stat
import tempfile
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from a2c_smcp.computer.config.problems import Problem, invalid

MAX_BYTES: Final = 4 * 1024 * 1024

_BOMS: Final = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def read_text(path: str | PathLike[str]) -> tuple[str, list[str]]:
    """Return the text of a file, and notes on how it was decoded.

    Raises:
        InvalidConfig: The file is missing, unreadable, too large, or not text.
    """
    try:
        return _decode(_read(Path(path)))
    except OSError as error:
        raise invalid(fspath(path), [Problem("", _unreadable(error))]) from error
    except ValueError as error:
        raise invalid(fspath(path), [Problem("", str(error))]) from error


def _read(path: Path) -> bytes:
    if "\0" in str(path):
        raise ValueError("is not a path (it has a NUL in it); check it")
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ValueError("is a directory; name the file in it")
    if not stat.S_ISREG(mode):  # reading a pipe or a device could block forever
        raise ValueError("is not a regular file; name one")
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"is larger than {MAX_BYTES // 1024 // 1024} MB; a configuration is much smaller")
    return raw


def _decode(raw: bytes) -> tuple[str, list[str]]:
    encoding = next((name for mark, name in _BOMS if raw.startswith(mark)), "utf-8-sig")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(f"is not UTF-8 text (line {line}); save it as UTF-8") from None
    if "\0" in text:
        raise ValueError("is not UTF-8 text (it has NUL bytes); save it as UTF-8")
    notes = [] if encoding == "utf-8-sig" else [f"read as {encoding.upper()}; other programs expect UTF-8"]
    return text, notes


def _unreadable(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "does not exist; check the path"
        case PermissionError():
            return "may not be read; check its permissions"
        case _:
            return f"cannot be read ({error.strerror or 'unknown reason'}); check the path"


_PRIVATE: Final = 0o600


def replace_file(path: Path, text: str) -> None:
    """Replace the content of a file atomically: readers see the old text or the new one, never a part.

    An existing file keeps its mode; a new one is readable by its owner only. A symbolic link stays a link: the file it
    points to is replaced.

    Raises:
        OSError: The file cannot be written; it is unchanged.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = _PRIVATE
    # In the same directory: a rename is atomic only within one file system.
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    # The rename survives a power cut only once the directory is synced; not every system supports that.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
