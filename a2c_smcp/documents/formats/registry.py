"""Which format reads a file, by its name and, where that lies, by its bytes.

Formats are found in this package, so that adding one touches one file; `register` adds one that lives elsewhere.
"""

import importlib
import pkgutil
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast

from a2c_smcp.documents import formats as package
from a2c_smcp.documents.formats.base import Format
from a2c_smcp.documents.formats.sniffing import sniff

BINARY: Final = frozenset(
    {"pdf", "epub", "ods", "xls", "xlsb", "docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "ppsx"}
    | {"png", "jpg", "jpeg", "tif", "tiff", "webp", "gif", "bmp"}
)
"""The file types that begin with marks of their own; all others are text, which can be anything."""

_KIN: Final = (
    frozenset({"docx", "docm", "dotx"}),
    frozenset({"xlsx", "xlsm", "xltx"}),
    frozenset({"pptx", "pptm", "ppsx"}),
    frozenset({"jpg", "jpeg"}),
    frozenset({"tif", "tiff"}),
)

_registered: list[str] = []


def register(module: str) -> None:
    """Add the format of a module outside this package, by its dotted name; it goes before those of the package.

    Worker processes import it by the same name.
    """
    if module not in _registered:
        _registered.append(module)
        formats.cache_clear()
        format_of.cache_clear()


def registered() -> tuple[str, ...]:
    """Return the modules that were added."""
    return tuple(_registered)


@cache
def formats() -> tuple[Format, ...]:
    """Return every format: those that were registered, then those of this package by their module names."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(name) for name in (*_registered, *(f"{package.__name__}.{n}" for n in names))]
    return tuple(cast("Format", module.FORMAT) for module in modules if hasattr(module, "FORMAT"))


@lru_cache(maxsize=32_768)
def format_of(name: str) -> tuple[Format, str] | None:
    """Return the format that reads a file called `name`, and its file type; None for files that are no documents."""
    for known in formats():
        file_type = known.file_type(name)
        if file_type is not None:
            return known, file_type
    return None


def format_of_file(path: Path) -> tuple[Format, str] | None:
    """Return the format that reads a file, and its file type: those of the name unless the bytes contradict it.

    A name contradicts where the bytes carry the marks of another type, or where they are text and the name promises
    marks. Which text it is, the name knows better.
    """
    named = format_of(path.name)
    if named is None:
        return None
    kind = sniff(path, named[1])
    if kind is None or _agree(named[1], kind):
        return named
    return format_of(f"file.{kind}") or named


def _agree(named: str, kind: str) -> bool:
    if named == kind or any(named in kin and kind in kin for kin in _KIN):
        return True
    return named not in BINARY and kind not in BINARY
