"""What `a2c up` keeps on disk: the token of its office, digests, and the files of a run, for nobody else to read."""

import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from a2c_smcp.common.state import is_private
from a2c_smcp.errors import BadRequest

TOKEN: Final = "office-token"  # noqa: S105 - the name of a file
_LENGTH: Final = 32


def token_file(folder: Path, name: str = TOKEN) -> Path:
    """Return a file with a token that no other user can read; the same at every call, so that clients stay configured.

    One that others could read, or that is not ours, is replaced.

    Raises:
        BadRequest: The folder cannot be written to.
    """
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (is_private(path) and path.stat().st_size > _LENGTH):
            path.unlink(missing_ok=True)
            # Whole or not at all: another run may read it at this moment.
            part = folder / f".{name}-{secrets.token_hex(8)}"
            write_private(part, secrets.token_urlsafe(_LENGTH) + "\n")
            try:
                os.link(part, path)
            except FileExistsError:
                pass  # another run was faster
            except OSError:  # no such links here
                part.replace(path)
            part.unlink(missing_ok=True)
    except OSError as error:
        raise BadRequest(f"The folder {folder} cannot be used: {error.strerror}; name another by --state") from None
    return path


def write_private(path: Path, text: str) -> None:
    """Write a new file that no other user can read."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def digests_folder(folder: Path, roots: Sequence[Path]) -> Path:
    """Return where digests of the documents in these folders go: of no others, which somebody else may not see."""
    key = hashlib.sha256("\0".join(sorted(map(str, roots))).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return folder / "digests" / key


def journal_folder(folder: Path, *names: str) -> Path:
    """Return where the calls of a Computer are recorded; what else is there and too old to matter is deleted."""
    from a2c_smcp.computer.tools.journal import discard_old  # noqa: PLC0415 - help and completion need no Computer
    from a2c_smcp.computer.tools.journal_files import DAY  # noqa: PLC0415

    root = folder / "journals"
    discard_old(root, DAY)
    return root / hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder that no other user can look into, for as long as the run lasts."""
    folder = Path(tempfile.mkdtemp(prefix="a2c-up-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
