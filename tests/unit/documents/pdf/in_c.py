"""What the tests of the C extension share: its module, records to call it with, and how it is compared."""

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Font, Line, Row, Word

NATIVE: Any = native
"""None where it was not built."""

LINE = Line("text", 0.0, 0.0, 1.0, 1.0, 10.0, Font(), 0, 4)
WORD = Word("text", 0.0, 0.0, 1.0, 1.0, LINE)
ROW = Row([], 0.0, 1.0, 1.0)
BROKEN = Line("text", 0.0, 0.0, 1.0, 1.0, 10.0, Font(), 0, 4)
del BROKEN.size, BROKEN.text
OTHERS = {"none": None, "number": 1, "text": "x", "empty": [None], "broken": [BROKEN], "row": ROW, "tuple": (1,)}


def same(name: str, python: Callable[..., Any], *arguments: Any) -> None:
    assert getattr(NATIVE, name)(*arguments) == python(*arguments)


def blocks_after(rounds: int, function: Callable[..., Any], *arguments: Any) -> int:
    for _ in range(rounds):
        with suppress(TypeError, AttributeError, ValueError):
            function(*arguments)
    gc.collect()
    return sys.getallocatedblocks()
