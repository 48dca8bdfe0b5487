"""What makes a result the same: the bytes of the file, and the code that read them."""

import hashlib
import importlib.metadata
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Final

from a2c_smcp.documents.files import Signature

WHOLE: Final = 256 << 20
"""Files up to this size are hashed whole; of larger ones the ends, the size and the time of change must do."""

_END: Final = 1 << 20
_CHUNK: Final = 1 << 20
_LIBRARIES: Final = (
    "lxml",
    "markdown-it-py",
    "onnxruntime",
    "pillow",
    "pypdfium2",
    "python-calamine",
    "rapidocr",
    "selectolax",
)


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
    """Return a digest of the code that reads files: this package, the given modules and the libraries they use.

    A result of other code is never taken for one of this code, and nobody has to remember to count versions.
    """
    digest = hashlib.sha256()
    for path in [*sorted(Path(__file__).parent.rglob("*.py")), *map(_source_of, modules)]:
        if path is not None:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for library in _LIBRARIES:
        try:
            digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            continue
    return digest.digest()


def _source_of(module: str) -> Path | None:
    found = importlib.util.find_spec(module)
    origin = Path(found.origin) if found and found.origin else None
    return origin if origin and origin.is_file() else None
