"""Which files below some roots are documents. Links are never followed, so nothing outside the roots is found.

Folders are walked by descriptor: what takes the place of one meanwhile is not seen.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from a2c_smcp.documents.descriptors import BY_DESCRIPTOR, Descriptor, open_beneath, open_in, regular_file
from a2c_smcp.documents.excludes import Excludes, is_file
from a2c_smcp.documents.formats.base import Format
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.errors import BadRequest

Signature: TypeAlias = tuple[int, int, int]
"""Time of change in nanoseconds, size, inode: what differs once a file was written."""

NO_EXCLUDES: Final = Excludes()

MAX_DEPTH: Final = 400
"""How many folders may be inside one another; each that is walked holds a descriptor."""


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

    @property
    def root(self) -> str:
        """The folder that `relative` begins in."""
        return root_of(self.place, self.relative)


class WalkEntry(Protocol):
    """What a walk finds, like `os.DirEntry`; its state can be asked for until the walk goes on."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the state of the file."""
        ...


def find_files(roots: Iterable[Path], excludes: Excludes = NO_EXCLUDES) -> Iterator[SourceFile]:
    """Yield the documents below `roots`, in the order of their paths; each file once.

    Hidden files and folders are left out, and so are symbolic links: whatever they lead to is found where it
    is, or is outside.
    """
    for path, relative, _ in walk(roots, excludes):
        known = format_of(path.rpartition(os.sep)[2])
        if known:
            yield SourceFile(Path(path), relative, *known)


def walk(roots: Iterable[Path], excludes: Excludes = NO_EXCLUDES) -> Iterator[tuple[str, str, WalkEntry]]:
    """Yield every file that is not left out, each once: its path, that below its root, and the entry itself."""
    seen: set[str] = set()
    for root in roots:
        for path, relative, entry in _walk(root, excludes):
            if path not in seen:
                seen.add(path)
                yield path, relative, entry


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


def signature_in(status: os.stat_result) -> Signature:
    """Return what changes when a file does."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def root_of(path: str, relative: str) -> str:
    """Return the folder in which the way `relative` to a file begins."""
    return path[: len(path) - len(relative)].rstrip("/\\") or os.sep


def date_of(signature: Signature) -> str | None:
    """Return the time of change as ISO 8601 in UTC, None where it is no date."""
    try:
        moment = datetime.fromtimestamp(signature[0] // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


class _Single:
    """A root that is a file itself."""

    def __init__(self, status: os.stat_result) -> None:
        self._status = status

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        return self._status


class _Folder:
    """A folder that is being walked: what is left of its entries, in the order of their names."""

    def __init__(self, path: str, excludes: Excludes, opened: int | None) -> None:
        self._held = Descriptor(opened) if opened is not None else None
        self._prefix = path if path.endswith(os.sep) else path + os.sep
        place = path if opened is None else opened
        with os.scandir(place) as scan:
            entries = list(scan)
        self.rules = excludes.reading(entries, place)
        shown = [entry for entry in entries if _is_shown(entry, self.rules)]
        shown.sort(key=lambda entry: entry.name)
        self.left = deque(shown)

    def path_of(self, entry: "os.DirEntry[str]") -> str:
        return self._prefix + entry.name

    def below(self, entry: "os.DirEntry[str]") -> "_Folder":
        opened = None if self._held is None else open_in(self._held.number, entry.name, is_folder=True)
        return _Folder(self.path_of(entry), self.rules.below(entry.name), opened)


def _walk(root: Path, excludes: Excludes) -> Iterator[tuple[str, str, WalkEntry]]:
    place = str(root)
    try:
        if not os.path.isdir(place):  # noqa: PTH112
            _, status = regular_file(str(root.parent), root.name)
            yield place, root.name, _Single(status)
            return
        if not BY_DESCRIPTOR and os.path.realpath(root) != place:
            return
        folders = [_Folder(place, excludes, open_beneath(place, "", folder=True) if BY_DESCRIPTOR else None)]
    except OSError:  # it is gone, may not be read, or a link has taken its place
        return
    while folders:
        folder = folders[-1]
        if not folder.left:
            folders.pop()
            continue
        entry = folder.left.popleft()
        if not entry.is_dir(follow_symlinks=False):
            yield folder.path_of(entry), f"{folder.rules.prefix}{entry.name}", entry
        elif len(folders) < MAX_DEPTH:
            try:
                folders.append(folder.below(entry))
            except OSError:  # a folder that may not be looked into, or that is something else by now
                continue


def _is_shown(entry: "os.DirEntry[str]", rules: Excludes) -> bool:
    folder = entry.is_dir(follow_symlinks=False)
    return (folder or is_file(entry)) and not rules.hides(entry.name, folder=folder)
