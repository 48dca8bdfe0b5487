"""The part of the reader that is written in C, where it was built: `native` is its module, else None.

It only asks PDFium: a page needs some hundred answers, each of which takes less time than the Python around it. Every
rule about what the answers mean is in Python alone. Without the module Python asks PDFium itself, with the same
results, by the functions beside each use.
"""

import hashlib
import logging
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from a2c_smcp.documents.pdf.words import Line, Word

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
    module.learn(Line, Word)
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
