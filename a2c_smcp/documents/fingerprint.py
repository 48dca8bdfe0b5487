"""What makes a result the same: the bytes of the file, and the code that read them."""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Final

from a2c_smcp.documents.files import Signature

WHOLE: Final = 256 << 20
"""Files up to this size are hashed whole; of larger ones the ends, the size and the time of change must do."""

_END: Final = 1 << 20
_CHUNK: Final = 1 << 20
_NOT_CODE: Final = frozenset({"__pycache__"})
_ROLE: Final = re.compile(r"""extra\s*==\s*["'](?:documents|ocr)["']""")
"""The requirements of this package whose code reads files."""


def content_of(opened: int, signature: Signature) -> bytes:
    """Return a digest of what is in an open file.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    with open(opened, "rb", closefd=False) as file:
        size = os.fstat(opened).st_size
        if size <= WHOLE:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        else:
            digest.update(repr((size, signature)).encode())
            digest.update(file.read(_END))
            file.seek(size - _END)
            digest.update(file.read(_END))
    return digest.digest()


@cache
def code_fingerprint(modules: tuple[str, ...] = ()) -> bytes:
    """Return a digest of what makes a result: this package, the given modules, the libraries they use, and Python.

    Every file counts, compiled ones too. A result of other code is never taken for one of this code, and nobody has to
    remember to count versions.
    """
    digest = hashlib.sha256(sys.version.encode())
    here = Path(__file__).parent
    shared = sorted([*here.parent.glob("*.py"), *here.parent.glob("common/*.py"), *here.parent.glob("web/*.py")])
    for path in [*code_in(here), *shared, *(path for module in modules for path in _files_of(module))]:
        digest.update(path.name.encode("utf-8", "surrogatepass") + b"\0" + path.read_bytes())
    for library in libraries():
        digest.update(_installed(library))
    return digest.digest()


def code_in(folder: Path) -> list[Path]:
    """Return every file of a package, whatever it is written in, but for what Python makes of them itself."""
    found = [path for path in folder.rglob("*") if path.is_file() and _NOT_CODE.isdisjoint(path.parts)]
    return sorted(found)


@cache
def libraries() -> tuple[str, ...]:
    """Return the names of the libraries that read files, and of those that these need."""
    try:
        required = importlib.metadata.requires("a2c-smcp") or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    waiting = [_name_of(line) for line in required if _ROLE.search(line)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += [_name_of(line) for line in needs if "extra ==" not in line]
    return tuple(sorted(found))


def _name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _installed(library: str) -> bytes:
    """Return version and list of files, with their hashes, of an installed library; nothing where it is not there."""
    try:
        found = importlib.metadata.distribution(library)
    except importlib.metadata.PackageNotFoundError:
        return b""
    return f"{library} {found.version}\n{found.read_text('RECORD') or ''}\n".encode()


def _files_of(module: str) -> list[Path]:
    """Return the file of a module, or all files of a package."""
    found = importlib.util.find_spec(module)
    if found is not None and found.submodule_search_locations:
        return [path for folder in found.submodule_search_locations for path in code_in(Path(folder))]
    origin = Path(found.origin) if found and found.origin else None
    return [origin] if origin and origin.is_file() else []
