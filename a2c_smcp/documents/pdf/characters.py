"""What PDFium says of the characters of a page: its text, its lines and words with their places, and their fonts.

Reading a page puts some hundred questions that take a quarter of a microsecond each, so that little may stand around
them: functions are bound bare, results land in memory that is kept, and what is asked for every line is asked by `map`.
`_native` has a class of the same name that gives the same answers.
"""

import ctypes
import re
import struct
from collections import deque
from collections.abc import Sequence
from itertools import islice, repeat

from a2c_smcp.documents.pdf.cleaning import HYPHEN
from a2c_smcp.documents.pdf.engine import BOX_BYTES, Engine, is_place
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.words import Font, Line, Word

_WORD = re.compile(r"[^\s\ufffe]+")
_unpack, _unpack_pairs = struct.Struct("4f").unpack, struct.Struct("8f").iter_unpack
"""One box; boxes two by two."""


class Characters:
    """The characters of one open page by their positions in its text, `most` of them at the most."""

    def __init__(self, engine: Engine, text_page: int, frame: Frame, most: int) -> None:
        self._engine, self._text_page = engine, text_page
        self._bare, self._page, self._room = engine.bare, ctypes.c_void_p(text_page), engine.room()
        self._box, self._to, self._first = self._bare.box, self._room.boxes[0], self._room.view[:BOX_BYTES]
        self._frame, self._is_plain, self._shift = frame, frame.is_plain, frame.matrix[4]
        self.text, self._is_direct = _read_text(engine, text_page, most)
        self._is_wide = not self._is_direct and max(self.text, default="") > "\uffff"

    def lines(self, fonts: FontBook) -> list[Line]:
        """Return the lines in the order of the content stream."""
        rows, ends, halves = self._rows()
        middles = self._indices(halves)
        handles, boxes = self._handles(middles), self._pairs(self._indices(ends))
        known, look_up = fonts.on_page, fonts.look_up
        frame, is_plain, right_of, top_of = self._frame, self._is_plain, self._shift, self._frame.matrix[5]
        sizes: dict[tuple[int | None, int, int], float] = {}
        lines: list[Line] = []
        for (text, position, joined), middle, handle, box in zip(rows, middles, handles, boxes, strict=True):
            left, top, right, bottom, left2, top2, right2, bottom2 = box
            # Boxes are as high as the size tells, so that lines of one font whose ends are alike share their size.
            alike = handle, int((top - bottom) * 50), int((top2 - bottom2) * 50)
            left, right = left if left < left2 else left2, right if right > right2 else right2
            top, bottom = top if top > top2 else top2, bottom if bottom < bottom2 else bottom2
            x0, y0, x1, y1 = left + right_of, top_of - top, right + right_of, top_of - bottom
            if not is_plain:
                x0, y0, x1, y1 = frame.box(left, bottom, right, top)
            lines.append(
                Line(
                    text,
                    x0,
                    y0,
                    x1,
                    y1,
                    sizes.get(alike) or sizes.setdefault(alike, self._size(middle)),
                    known.get(handle) or look_up(self._engine, self._text_page, middle, handle),
                    position,
                    len(text),
                    joined,
                )
            )
        return lines

    def _rows(self) -> tuple[list[tuple[str, int, bool]], list[int], list[int]]:
        """Return the text of each line, where it begins and whether a word is divided; their ends; their middles."""
        rows: list[tuple[str, int, bool]] = []
        ends: list[int] = []
        middles: list[int] = []
        position = 0
        for row in self.text.split("\r\n"):
            parts = row.split(HYPHEN) if HYPHEN in row else (row,)
            end = position + len(row)
            for part in parts:
                text = part.strip()
                if text:
                    start = position if part[0] == text[0] else position + len(part) - len(part.lstrip())
                    half = start + len(text) // 2
                    rows.append((text, start, position + len(part) < end))
                    ends += (start, start + len(text) - 1)
                    # A blank that PDFium has put in has no font.
                    middles.append(half - 1 if text[half - start] == " " else half)
                position += len(part) + 1
            position += 1
        return rows, ends, middles

    def words(self, lines: Sequence[Line]) -> list[list[Word]]:
        """Return the words of each line with their boxes, which are asked for together."""
        text, find = self.text, self.text.find
        rows: list[list[str]] = []
        ends: list[int] = []
        for line in lines:
            at, length = line.position, line.length
            row = text[at : at + length]
            parts = _WORD.findall(row) if HYPHEN in row else row.split()
            # The box of a line that is one word is known.
            rows.append(parts if len(parts) != 1 or len(parts[0]) != length else [])
            for part in rows[-1]:
                at = find(part, at)
                after = at + len(part)
                ends += (at, after - 1)
                at = after
        boxes = iter(self._pairs(self._indices(ends)))
        return [
            self._placed(line, parts, list(islice(boxes, len(parts))))
            if parts
            else [Word(line.text, line.x0, line.y0, line.x1, line.y1, line)]
            for line, parts in zip(lines, rows, strict=True)
        ]

    def _placed(self, line: Line, parts: list[str], boxes: list[tuple[float, ...]]) -> list[Word]:
        if self._is_direct and self._is_plain and line.is_upright:
            # Words of a plain line are as high as it is.
            y0, y1, shift = line.y0, line.y1, self._shift
            return [
                Word(
                    text,
                    (left if left < left2 else left2) + shift,
                    y0,
                    (right if right > right2 else right2) + shift,
                    y1,
                    line,
                )
                for text, (left, _, right, _, left2, _, right2, _) in zip(parts, boxes, strict=True)
            ]
        shown = self._frame.box
        return [
            Word(text, *shown(min(box[0], box[4]), min(box[3], box[7]), max(box[2], box[6]), max(box[1], box[5])), line)
            for text, box in zip(parts, boxes, strict=True)
        ]

    def fonts_at(self, fonts: FontBook, positions: Sequence[int]) -> list[Font]:
        """Return the fonts of characters."""
        indices = self._indices(positions)
        known, look_up = fonts.on_page, fonts.look_up
        return [
            known.get(handle) or look_up(self._engine, self._text_page, index, handle)
            for index, handle in zip(indices, self._handles(indices), strict=True)
        ]

    def index(self, position: int) -> int:
        """Return how PDFium counts a character: not all of them are in the text."""
        if self._is_direct:
            return position
        if self._is_wide:
            position = len(self.text[:position].encode("utf-16-le", "surrogatepass")) // 2
        index: int = self._bare.index(self._page, position)
        return max(index, 0)

    def _indices(self, positions: Sequence[int]) -> Sequence[int]:
        return positions if self._is_direct else list(map(self.index, positions))

    def span(self, position: int) -> tuple[float, float]:
        """Return where a character begins and ends from left to right."""
        self._box(self._page, position if self._is_direct else self.index(position), self._to)
        left, top, right, bottom = _placed(_unpack(self._first))
        if self._is_plain:
            return left + self._shift, right + self._shift
        x0, _, x1, _ = self._frame.box(left, bottom, right, top)
        return x0, x1

    def _pairs(self, indices: Sequence[int]) -> list[tuple[float, ...]]:
        """Return left, top, right and bottom of characters in PDF space, two of them together."""
        places = self._room.boxes
        found: list[tuple[float, ...]] = []
        for start in range(0, len(indices), len(places)):
            part = indices[start : start + len(places)]
            deque(map(self._box, repeat(self._page), part, places), maxlen=0)
            found += _unpack_pairs(self._room.view[: BOX_BYTES * len(part)])
        return [pair if is_place(*pair) else (*_placed(pair[:4]), *_placed(pair[4:])) for pair in found]

    def _handles(self, indices: Sequence[int]) -> list[int | None]:
        """Return the handles of the fonts of characters; None for a blank that PDFium has put in."""
        return list(map(self._bare.font, map(self._bare.text_object, repeat(self._page), indices)))

    def _size(self, index: int) -> float:
        """Return the size of a character as shown, in tenths of a point."""
        # A negative size is legal: it turns the letters, and the matrix turns them back.
        size = abs(self._bare.size(self._page, index))
        if self._bare.matrix(self._page, index, self._to):
            _, b, _, d = _unpack(self._first)  # of six numbers
            size *= abs(d) if b == 0 else (b * b + d * d) ** 0.5
        return int(size * 10 + 0.5) / 10 if is_place(size) else 0.0


def _placed(box: tuple[float, ...]) -> tuple[float, ...]:
    """Return a box of PDFium; an empty one where it is nowhere."""
    return box if is_place(*box) else (0.0, 0.0, 0.0, 0.0)


def _read_text(engine: Engine, text_page: int, most: int) -> tuple[str, bool]:
    """Return all text of a page, and whether its positions are those of the characters."""
    count = min(engine.FPDFText_CountChars(text_page), most)
    if count <= 0:
        return "", True
    room = engine.room(2 * (count + 1))
    written = engine.FPDFText_GetText(text_page, 0, count, room.address)
    if written <= 1:
        return "", True
    text = str(room.view[: 2 * (written - 1)], "utf-16-le", "surrogatepass")
    return text, written - 1 == count and len(text) == count
