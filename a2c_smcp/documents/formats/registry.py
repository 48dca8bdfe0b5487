"""Which format reads a file, by its name. Formats are found in this package, so that adding one touches one file."""

import importlib
import pkgutil
from functools import cache
from typing import cast

from a2c_smcp.documents import formats as package
from a2c_smcp.documents.formats.base import Format


@cache
def formats() -> tuple[Format, ...]:
    """Return every format of this package, in the order of their module names."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    return tuple(cast("Format", module.FORMAT) for module in modules if hasattr(module, "FORMAT"))


def format_of(name: str) -> tuple[Format, str] | None:
    """Return the format that reads a file called `name`, and its file type; None for files that are no documents."""
    for known in formats():
        file_type = known.file_type(name)
        if file_type is not None:
            return known, file_type
    return None
