"""The folder that one digest owns: whose it is, and how files get into it.

A folder below `out_dir` belongs to one PDF; `owner.json` in its state says to which, and one run at a time works in it.
Symbolic links below `out_dir` are never followed: whoever can write there must not decide what else is written.
"""

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final
from uuid import uuid4

from a2c_smcp.errors import BadRequest, RequestTimeout

fcntl: Any
try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None

STATE: Final = ".digest"
HERE: Final = "."
"""The name of the own folder where that is `out_dir` itself."""

LOCK_SECONDS: Final = 600.0
MAX_STEM: Final = 60
_OWNER: Final = "owner.json"
_POLL: Final = 0.1
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BY_DESCRIPTOR: Final = bool(_NO_LINK) and {os.open, os.rename, os.unlink} <= os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder that this run works in.

    Attributes:
        path: The digest's own folder.
        out_dir: The folder it is in, or the same.
    """

    path: Path
    out_dir: Path
    owner: str
    content: str

    def keep(self, files: Iterable[Path]) -> None:
        """Remember the files that this digest put here, to remove them when the PDF is another one."""
        names = sorted({file.name for file in files if file.parent == self.path})
        value = {"owner": self.owner, "content": self.content, "files": names}
        write(self.path / STATE / _OWNER, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def own_name(pdf: Path) -> str:
    """Return what the own folder of a PDF is called: no two PDFs share one, whatever they are called."""
    path = str(pdf.expanduser().resolve())
    stem = pdf.stem[:MAX_STEM].strip(" .") or "digest"
    return f"{stem}-{hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


@contextmanager
def claimed(out_dir: Path, folder: str, *, owner: str, content: str) -> Iterator[Claim]:
    """Make the own folder of a digest, and keep other runs out of it.

    Args:
        folder: Its path below `out_dir`; `HERE` is `out_dir` itself.
        owner: What the folder is for: the path of a PDF, or another name that stays.
        content: Which version of it: what a run with another left is removed.

    Raises:
        BadRequest: The folder is another PDF's, or a link is in its way.
        RequestTimeout: Another run does not end.
    """
    base = out_dir.expanduser().absolute()
    base.mkdir(parents=True, exist_ok=True)
    base = base.resolve()
    names = PurePath(folder).parts
    if PurePath(folder).is_absolute() or ".." in names:
        raise BadRequest(f"folder must be a path inside out_dir; it is {folder!r}")
    path = directory(base, *names)
    state = directory(path, STATE)
    with _locked(state / "lock"):
        claim = Claim(path, base, owner, content)
        _take_over(claim)
        yield claim


def directory(base: Path, *names: str) -> Path:
    """Make folders below `base`, each in the one before, without following a link.

    Raises:
        BadRequest: Something that is no folder is there.
    """
    path = base
    for name in names:
        path = path / name
        with suppress(FileExistsError):
            path.mkdir()
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise BadRequest(f"{str(path)!r} is a symbolic link or a file where a folder is needed: remove it")
    return path


def write(path: Path, data: bytes) -> Path:
    """Write a file whole or not at all, into its folder and nowhere else.

    Raises:
        OSError: It cannot be written; its `filename` is the path.
    """
    part = f".part-{uuid4().hex}"
    try:
        if _BY_DESCRIPTOR:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
            try:
                _write_in(folder, part, path.name, data)
            finally:
                os.close(folder)
        else:  # pragma: no cover - Windows
            _write_at(path.with_name(part), path, data)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    return path


def is_own_file(path: Path) -> bool:
    """Whether this is a file itself, no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def is_anothers(folder: Path, content: str) -> bool:
    """Whether what lies in a folder was put there for another PDF, or another version of it."""
    known = _record_in(folder)
    return known is not None and known.get("content") != content


def _write_in(folder: int, part: str, name: str, data: bytes) -> None:
    number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666, dir_fd=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise


def _write_at(part: Path, path: Path, data: bytes) -> None:  # pragma: no cover - Windows
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _take_over(claim: Claim) -> None:
    """Say whose the folder is; remove what a run with another version of the PDF left.

    Raises:
        BadRequest: It is another PDF's.
    """
    known = _record_in(claim.path) or {"owner": claim.owner, "content": claim.content}
    owner = str(known.get("owner"))
    same = known.get("content") == claim.content
    gone = Path(owner).name == Path(claim.owner).name and not Path(owner).exists()  # the PDF was moved
    if owner != claim.owner and not same and not gone:
        raise BadRequest(
            f"The folder {str(claim.path)!r} holds the digest of {Path(owner).name!r}: give another out_dir, or leave "
            "folder out, and each digest has a folder of its own"
        )
    files = {name for name in known.get("files") or () if isinstance(name, str) and PurePath(name).name == name}
    if not same:
        for name in files | set(_images_of_runs(claim.path)):
            with suppress(OSError):
                (claim.path / name).unlink()
    claim.keep(claim.path / name for name in files)


def _images_of_runs(folder: Path) -> Iterator[str]:
    """Yield the pictures of pages that runs were done with, also of those that were killed."""
    for path in (folder / STATE).glob("*/page-*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            name = json.loads(path.read_bytes())["image"]
            if isinstance(name, str) and PurePath(name).name == name:
                yield name


def _record_in(folder: Path) -> dict[str, Any] | None:
    path = folder / STATE / _OWNER
    try:
        if not is_own_file(path) or not stat.S_ISDIR(path.parent.lstat().st_mode):
            return None
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    number = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
    try:
        until = time.monotonic() + LOCK_SECONDS
        while fcntl is not None:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() > until:
                    folder = str(path.parent.parent)
                    raise RequestTimeout(f"Another run is working in {folder!r}: wait until it has ended") from error
                time.sleep(_POLL)
        yield
    finally:
        os.close(number)
