"""The part of the reader that is written in C, where it was built: `native` is its module, else None.

A page puts some hundred questions to PDFium, and to its lines, that take less time than the Python around them; in C
they are put in one go. All of it is there in Python as well, with the same results: the functions beside each use.
"""

import os
from importlib import import_module
from types import ModuleType
from typing import Final

from a2c_smcp.documents.pdf.words import Font, Line, Row, Segment, Word

PURE: Final = "A2C_PURE_PYTHON"
"""The environment variable that leaves it out."""


def _load() -> ModuleType | None:
    if os.environ.get(PURE):
        return None
    try:
        module = import_module("a2c_smcp.documents.pdf._native")
    except ImportError:
        return None
    module.learn(Line, Word, Font, Row, Segment)
    return module


native: Final = _load()
