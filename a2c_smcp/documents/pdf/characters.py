"""What PDFium says of the characters of a page: its text, and the places, sizes and fonts of some of them.

Reading a page puts some hundred questions that take a quarter of a microsecond each, so that little may stand around
them: functions are bound bare, results land in memory that is kept, and what is asked for every line is asked by `map`.
"""

import ctypes
import struct
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Final

from a2c_smcp.documents.pdf.engine import BOX_BYTES, Engine
from a2c_smcp.documents.pdf.frames import Frame

MAX_CHARACTERS: Final = 400_000
"""A page of more text is read up to here: the densest real pages have some ten thousand characters."""

_unpack, _unpack_pairs = struct.Struct("4f").unpack, struct.Struct("8f").iter_unpack
"""One box; boxes two by two."""


class Characters:
    """The characters of one open page by their positions in its text."""

    def __init__(self, engine: Engine, text_page: int, frame: Frame) -> None:
        self._bare, self._page, self._room = engine.bare, ctypes.c_void_p(text_page), engine.room()
        self._box, self._to, self._first = self._bare.box, self._room.boxes[0], self._room.view[:BOX_BYTES]
        self._frame, self._is_plain, self._shift = frame, frame.is_plain, frame.matrix[4]
        self.text, self.is_direct = _read_text(engine, text_page)
        self._is_wide = not self.is_direct and max(self.text, default="") > "\uffff"

    def index(self, position: int) -> int:
        """Return how PDFium counts a character: not all of them are in the text."""
        if self.is_direct:
            return position
        if self._is_wide:
            position = len(self.text[:position].encode("utf-16-le", "surrogatepass")) // 2
        index: int = self._bare.index(self._page, position)
        return max(index, 0)

    def indices(self, positions: Sequence[int]) -> Sequence[int]:
        """Return how PDFium counts characters."""
        return positions if self.is_direct else list(map(self.index, positions))

    def span(self, position: int) -> tuple[float, float]:
        """Return where a character begins and ends from left to right."""
        self._box(self._page, position if self.is_direct else self.index(position), self._to)
        left, top, right, bottom = _unpack(self._first)
        if self._is_plain:
            return left + self._shift, right + self._shift
        x0, _, x1, _ = self._frame.box(left, bottom, right, top)
        return x0, x1

    def pairs(self, indices: Sequence[int]) -> list[tuple[float, ...]]:
        """Return left, top, right and bottom of characters in PDF space, two of them together."""
        places = self._room.boxes
        found: list[tuple[float, ...]] = []
        for start in range(0, len(indices), len(places)):
            part = indices[start : start + len(places)]
            deque(map(self._box, repeat(self._page), part, places), maxlen=0)
            found += _unpack_pairs(self._room.view[: BOX_BYTES * len(part)])
        return found

    def fonts(self, indices: Sequence[int]) -> list[int | None]:
        """Return the handles of the fonts of characters; None for a blank that PDFium has put in."""
        return list(map(self._bare.font, map(self._bare.text_object, repeat(self._page), indices)))

    def size(self, index: int) -> float:
        """Return the size of a character as shown, in tenths of a point."""
        size: float = self._bare.size(self._page, index)
        if self._bare.matrix(self._page, index, self._to):
            _, b, _, d = _unpack(self._first)  # of six numbers
            size *= abs(d) if b == 0 else (b * b + d * d) ** 0.5
        return int(size * 10 + 0.5) / 10


def _read_text(engine: Engine, text_page: int) -> tuple[str, bool]:
    """Return all text of a page, and whether its positions are those of the characters."""
    count = min(engine.FPDFText_CountChars(text_page), MAX_CHARACTERS)
    if count <= 0:
        return "", True
    room = engine.room(2 * (count + 1))
    written = engine.FPDFText_GetText(text_page, 0, count, room.address)
    if written <= 1:
        return "", True
    text = str(room.view[: 2 * (written - 1)], "utf-16-le", "surrogatepass")
    return text, written - 1 == count and len(text) == count
