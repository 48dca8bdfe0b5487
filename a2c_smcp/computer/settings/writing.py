"""Replacing a file as a whole: whoever reads it sees the old text or the new one, never a part."""

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

_PRIVATE: Final = 0o600


def replace_file(path: Path, text: str) -> None:
    """Write `text` to a file in one step; its mode stays, and a new one is for its owner only.

    A link stays a link: the file that it leads to is replaced.

    Raises:
        OSError: It cannot be written; then it is as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = _PRIVATE
    # Beside it, because only within one file system can a file take another's place in one step.
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
    # The new name survives a power cut only once its directory is on the disk; not every system can do that.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
