"""The part of the reader that is written in C, where it was built: `native` is its module, else None.

A page puts some hundred questions to PDFium, and to its lines, that take less time than the Python around them; in C
they are put in one go. All of it is there in Python as well, with the same results: the functions beside each use.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.words import Block, Font, Line, Piece, Row, Segment, Word

_Record = TypeVar("_Record")
_log = logging.getLogger(__name__)

PURE: Final = "A2C_PURE_PYTHON"
"""The environment variable that leaves it out."""


def _load() -> ModuleType | None:
    if os.environ.get(PURE):
        return None
    try:
        module = import_module("a2c_smcp.documents.pdf._native")
    except ImportError:
        return None
    if not _is_current(module, Path(__file__).with_name("c")):
        _log.warning("The C extension is of another source and left out: build it again (make) to read PDF faster")
        return None
    module.learn(Line, Word, Font, Row, Segment, Block, Piece, Element)
    return module


def _is_current(module: ModuleType, sources: Path) -> bool:
    """Whether a module was built from the source beside it; an installed package has none."""
    if not sources.is_dir():
        return True
    whole = hashlib.sha256()
    for path in sorted(sources.glob("*.[ch]")):
        whole.update(path.read_bytes())
    return getattr(module, "source", "") == whole.hexdigest()


native: Final = _load()


def maker(record: type[_Record]) -> Callable[..., _Record]:
    """Return what makes a dataclass with slots out of all of its fields: itself, or what does so without its checks."""
    made: Callable[..., _Record] = native.maker(record) if native else record
    return made
