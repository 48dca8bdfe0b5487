"""The part of the reader that is written in C, where it was built: `native` is its module, else None.

A page puts some hundred questions to PDFium, and to its lines, that take less time than the Python around them; in C
they are put in one go. All of it is there in Python as well, with the same results: the functions beside each use.
"""

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final, TypeVar

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.words import Block, Font, Line, Piece, Row, Segment, Word

_Record = TypeVar("_Record")

PURE: Final = "A2C_PURE_PYTHON"
"""The environment variable that leaves it out."""


def _load() -> ModuleType | None:
    if os.environ.get(PURE):
        return None
    try:
        module = import_module("a2c_smcp.documents.pdf._native")
    except ImportError:
        return None
    module.learn(Line, Word, Font, Row, Segment, Block, Piece, Element)
    return module


native: Final = _load()


def maker(record: type[_Record]) -> Callable[..., _Record]:
    """Return what makes a dataclass with slots out of all of its fields: itself, or what does so without its checks."""
    made: Callable[..., _Record] = native.maker(record) if native else record
    return made
