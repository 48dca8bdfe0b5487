"""Which files below some roots are documents. Links are never followed, so nothing outside the roots is found."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from a2c_smcp.documents.excludes import Excludes, is_file
from a2c_smcp.documents.formats.base import Format
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.errors import BadRequest

Signature: TypeAlias = tuple[int, int, int]
"""Time of change in nanoseconds, size, inode: what differs once a file was written."""

NO_EXCLUDES: Final = Excludes()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is a document; `relative` is its path below the root, with slashes."""

    path: Path
    relative: str
    format: Format
    file_type: str

    @property
    def place(self) -> str:
        """The whole path."""
        return str(self.path)


def find_files(roots: Iterable[Path], excludes: Excludes = NO_EXCLUDES) -> Iterator[SourceFile]:
    """Yield the documents below `roots`, in the order of their paths; each file once.

    Hidden files and folders are left out, and so are symbolic links: whatever they lead to is found where it
    is, or is outside.
    """
    for path, relative in walk(roots, excludes):
        known = format_of(path.rpartition(os.sep)[2])
        if known:
            yield SourceFile(Path(path), relative, *known)


def walk(roots: Iterable[Path], excludes: Excludes = NO_EXCLUDES) -> Iterator[tuple[str, str]]:
    """Yield every file that is not left out, each once: its path, and that below its root."""
    seen: set[str] = set()
    for root in roots:
        for path, relative in _walk(root, excludes):
            if path not in seen:
                seen.add(path)
                yield path, relative


def existing(root: str | Path) -> Path:
    """Return a root as it really is.

    Raises:
        BadRequest: It does not exist.
    """
    try:
        return Path(root).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequest(f"There is no folder {str(root)!r}") from error


def signature_of(path: Path) -> Signature | None:
    """Return what changes when a file does; None where it is gone or a link has taken its place."""
    try:
        if os.path.realpath(path, strict=True) != str(path):
            return None
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def date_of(signature: Signature) -> str | None:
    """Return the time of change as ISO 8601 in UTC, None where it is no date."""
    try:
        moment = datetime.fromtimestamp(signature[0] // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def _walk(root: Path, excludes: Excludes) -> Iterator[tuple[str, str]]:
    if os.path.realpath(root) != str(root):  # a link has taken its place
        return
    if root.is_file():
        yield str(root), root.name
        return
    waiting = _shown(str(root), excludes)
    while waiting:
        entry, rules = waiting.pop()
        if entry.is_dir(follow_symlinks=False):
            waiting += _shown(entry.path, rules.below(entry.name))
        else:
            yield entry.path, f"{rules.prefix}{entry.name}"


def _shown(folder: str, excludes: Excludes) -> "list[tuple[os.DirEntry[str], Excludes]]":
    """Return what is in a folder and not left out, last name first, because it is taken from the end."""
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except OSError:  # a folder that may not be looked into
        return []
    rules = excludes.reading(entries)
    shown = [entry for entry in entries if _is_shown(entry, rules)]
    shown.sort(key=lambda entry: entry.name, reverse=True)
    return [(entry, rules) for entry in shown]


def _is_shown(entry: "os.DirEntry[str]", rules: Excludes) -> bool:
    folder = entry.is_dir(follow_symlinks=False)
    return (folder or is_file(entry)) and not rules.hides(entry.name, folder=folder)
