"""Files by descriptor: opened below a root without following a link, handed to a worker, read without their path.

A path that was checked can lead elsewhere a moment later: somebody swaps a folder for a symbolic link. A descriptor
cannot. Linux opens below a root in one step (`openat2`); elsewhere each part of the way is opened from the one before.
Windows knows neither; there a path is compared with its resolved form.
"""

import ctypes
import errno
import io
import os
import socket
import stat
import sys
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

CAN_PASS: Final = hasattr(socket, "send_fds")
"""Whether a descriptor can be handed to another process."""

BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether folders can be walked by descriptor."""

_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # or a pipe among the files would keep its opener waiting
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)

_OPENAT2: Final = 437  # the same on every architecture
_AT_FDCWD: Final = -100
_NO_SYMLINKS: Final = 0x02 | 0x04  # RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS
_BENEATH: Final = 0x08 | _NO_SYMLINKS

_BUFFER: Final = 64 << 10


def open_beneath(root: str, relative: str, *, folder: bool = False) -> int:
    """Return a descriptor of what is at `relative` below `root`; the caller closes it.

    `root` is an absolute path without links. An empty `relative` is the root itself.

    Raises:
        OSError: It is not there, may not be read, or a link is in the way.
    """
    flags = _READ | (_FOLDER if folder else 0)
    if _has_openat2():
        if not relative:
            return _openat2(_AT_FDCWD, root, flags, _NO_SYMLINKS)
        above = _openat2(_AT_FDCWD, root, _READ | _FOLDER, _NO_SYMLINKS)
        try:
            return _openat2(above, relative, flags, _BENEATH)
        finally:
            os.close(above)
    path = os.path.join(root, relative) if relative else root  # noqa: PTH118
    return _step_by_step(path, flags) if BY_DESCRIPTOR and _NO_LINK else _compared(path, flags)


def open_in(folder: int, name: str, *, is_folder: bool = False) -> int:
    """Return a descriptor of an entry of an open folder, itself no link.

    Raises:
        OSError: It is not there, may not be read, or is a link.
    """
    return os.open(name, _READ | _NO_LINK | (_FOLDER if is_folder else 0), dir_fd=folder)


def _step_by_step(path: str, flags: int) -> int:
    names = [name for name in Path(path).parts[1:] if name != os.curdir]
    if os.pardir in names:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.open(os.sep, _READ | _FOLDER)
    for number, name in enumerate(names, start=1):
        how = flags if number == len(names) else _READ | _FOLDER
        try:
            following = os.open(name, how | _NO_LINK, dir_fd=here)
        finally:
            os.close(here)
        here = following
    return here


def _compared(path: str, flags: int) -> int:  # pragma: no cover - Windows
    if os.path.realpath(path, strict=True) != path:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return os.open(path, flags)


class _How(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "mode", "resolve")]


def _openat2(folder: int, path: str, flags: int, resolve: int) -> int:
    how = _How(flags, 0, resolve)
    written = os.fsencode(path)
    if b"\0" in written:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    while True:
        found: int = _syscall()(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(folder),
            written,
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if found >= 0:
            return found
        number = ctypes.get_errno()
        if number not in (errno.EINTR, errno.EAGAIN):  # EAGAIN: something was renamed meanwhile
            raise OSError(number, os.strerror(number), path)


@cache
def _syscall() -> Any:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


@cache
def _has_openat2() -> bool:
    """Whether the kernel knows the call, and whatever surrounds this process lets it through."""
    if sys.platform != "linux":
        return False
    try:
        os.close(_openat2(_AT_FDCWD, os.sep, _READ | _FOLDER, _NO_SYMLINKS))
    except (OSError, AttributeError):
        return False
    return True


class Descriptor:
    """An open file that is closed with its last owner."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close it, once."""
        number, self.number = self.number, -1
        if number >= 0:
            os.close(number)


def regular_file(root: str, relative: str) -> tuple[Descriptor, os.stat_result]:
    """Open a regular file below a root.

    Raises:
        OSError: It is not there, may not be read, is no file, or a link is in the way.
    """
    opened = Descriptor(open_beneath(root, relative))
    status = os.fstat(opened.number)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return opened, status


def read_at(number: int, buffer: Any, position: int) -> int:
    """Fill a buffer from a place in an open file, as far as there is something; return how many bytes that were.

    Raises:
        OSError: It cannot be read.
    """
    if hasattr(os, "preadv"):
        return os.preadv(number, [buffer], position)
    data = os.pread(number, len(buffer), position)  # older macOS
    memoryview(buffer).cast("B")[: len(data)] = data
    return len(data)


class HeldPath(type(Path())):  # type: ignore[misc]
    """The path of a file that is already open: whoever opens it reads the descriptor, wherever the path leads now."""

    def __new__(cls, path: str, held: Descriptor) -> "HeldPath":  # noqa: ARG004, D102
        made: HeldPath = super().__new__(cls, path)
        return made

    def __init__(self, path: str, held: Descriptor) -> None:
        if sys.version_info >= (3, 12):
            super().__init__(path)
        self.held = held

    def with_segments(self, *segments: Any) -> Path:  # called by Python 3.12 and later
        """Return other paths as paths of files that are not open."""
        return Path(*segments)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        """Return the state of the open file."""
        return os.fstat(self.held.number)

    def open(
        self,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> IO[Any]:
        """Return a reader of its own from the beginning of the file."""
        if set(mode) - set("rbt"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        raw = _Raw(self.held)
        if "b" in mode and buffering == 0:
            return raw  # type: ignore[return-value]
        reader = io.BufferedReader(raw, buffering if buffering > 1 else _BUFFER)
        return reader if "b" in mode else io.TextIOWrapper(reader, encoding or "utf-8", errors, newline)


class _Raw(io.RawIOBase):
    """A position of its own in an open file; closing it leaves the file open."""

    def __init__(self, held: Descriptor) -> None:
        self._held = held
        self._at = 0

    def fileno(self) -> int:
        return self._held.number

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = read_at(self._held.number, buffer, self._at)
        self._at += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        at = offset + (os.fstat(self._held.number).st_size if base is None else base)
        if at < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = at
        return at

    def tell(self) -> int:
        return self._at
