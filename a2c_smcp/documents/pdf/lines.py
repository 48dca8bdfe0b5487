"""The text of a page as lines with their places and fonts: one call for all text, then a few questions a line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from a2c_smcp.documents.pdf.characters import Characters
from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.fonts import Font, FontBook
from a2c_smcp.documents.pdf.frames import Frame

HYPHEN: Final = "\ufffe"
"""What PDFium puts where a word was divided at the end of a line; no other line end is written there."""

_UNCLEAN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_STRANGE = re.compile(_UNCLEAN.pattern.replace(r"\ufffe", ""))
"""The same without the mark of divided words, which is taken out when lines are made."""
_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32)])
_WORD = re.compile(r"[^\s\ufffe]+")


@dataclass(slots=True)
class Line:
    """A line of text: its place in points from the top left of the page as shown, and the font of its middle.

    Attributes:
        size: The font's size in points as shown.
        position, length: Where it stands in the text of the page.
        joined: Whether the word at its end goes on in the next line.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    font: Font
    position: int
    length: int
    joined: bool = False

    @property
    def middle(self) -> float:
        """Half way down."""
        return (self.y0 + self.y1) / 2

    @property
    def is_upright(self) -> bool:
        """Whether it runs from left to right."""
        return self.y1 - self.y0 <= max(self.size, 1) * 2.2 or self.x1 - self.x0 > self.y1 - self.y0


@dataclass(slots=True)
class Word:
    """A word, or a run of text without blanks, and its place."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


class TextLayer:
    """The text of one open page, and where each piece of it is."""

    def __init__(self, engine: Engine, text_page: int, frame: Frame, fonts: FontBook) -> None:
        self._engine, self._text_page, self.frame, self._fonts = engine, text_page, frame, fonts
        fonts.turn()
        self._characters = Characters(engine, text_page, frame)
        self._span, self.text = self._characters.span, self._characters.text
        self._is_clean = is_clean(self.text)

    def lines(self) -> list[Line]:
        """Return the lines in the order of the content stream."""
        characters = self._characters
        rows, ends, halves = self._rows()
        middles = characters.indices(halves)
        fonts, boxes = characters.fonts(middles), characters.pairs(characters.indices(ends))
        known, look_up = self._fonts.on_page, self._fonts.look_up
        frame, is_plain, right_of, top_of = self.frame, self.frame.is_plain, self.frame.matrix[4], self.frame.matrix[5]
        sizes: dict[tuple[int | None, int, int], float] = {}
        lines: list[Line] = []
        for (text, position, joined), middle, handle, box in zip(rows, middles, fonts, boxes, strict=True):
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
                    sizes.get(alike) or sizes.setdefault(alike, characters.size(middle)),
                    known.get(handle) or look_up(self._engine, self._text_page, middle, handle),
                    position,
                    len(text),
                    joined,
                )
            )
        if not self._is_clean:
            for line in lines:
                line.text = clean(line.text).strip()
            lines = [line for line in lines if line.text]
        return _mended(lines) if HYPHEN in self.text else lines

    def _rows(self) -> tuple[list[tuple[str, int, bool]], list[int], list[int]]:
        """Return the text of each line, where it begins and whether a word is divided; their ends; their middles."""
        rows: list[tuple[str, int, bool]] = []
        ends: list[int] = []
        middles: list[int] = []
        position = 0
        for row in self.text.split("\r\n"):
            parts = row.split(HYPHEN) if HYPHEN in row else (row,)
            last = parts[-1]
            for part in parts:
                text = part.strip()
                if text:
                    start = position if part[0] == text[0] else position + len(part) - len(part.lstrip())
                    half = start + len(text) // 2
                    rows.append((text, start, part is not last))
                    ends += (start, start + len(text) - 1)
                    # A blank that PDFium has put in has no font.
                    middles.append(half - 1 if text[half - start] == " " else half)
                position += len(part) + 1
            position += 1
        return rows, ends, middles

    def words(self, line: Line) -> list[Word]:
        """Return the words of a line with their boxes."""
        return self.words_of((line,))[0]

    def words_of(self, lines: Sequence[Line]) -> list[list[Word]]:
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
        boxes = iter(self._characters.pairs(self._characters.indices(ends)))
        return [
            self._placed(line, parts, list(islice(boxes, len(parts))))
            if parts
            else [Word(line.text, line.x0, line.y0, line.x1, line.y1)]
            for line, parts in zip(lines, rows, strict=True)
        ]

    def _placed(self, line: Line, parts: list[str], boxes: list[tuple[float, ...]]) -> list[Word]:
        frame = self.frame
        if self._characters.is_direct and frame.is_plain and line.is_upright:
            # Words of a plain line are as high as it is.
            y0, y1, shift = line.y0, line.y1, frame.matrix[4]
            words = [
                Word(
                    text,
                    (left if left < left2 else left2) + shift,
                    y0,
                    (right if right > right2 else right2) + shift,
                    y1,
                )
                for text, (left, _, right, _, left2, _, right2, _) in zip(parts, boxes, strict=True)
            ]
        else:
            words = [
                Word(
                    text, *frame.box(min(box[0], box[4]), min(box[3], box[7]), max(box[2], box[6]), max(box[1], box[5]))
                )
                for text, box in zip(parts, boxes, strict=True)
            ]
        if self._is_clean:
            return words
        for word in words:
            word.text = clean(word.text)
        return [word for word in words if word.text]

    def text_between(self, lines: Sequence[Line], x0: float, x1: float) -> str:
        """Return the text of lines that is between two places from left to right."""
        parts = []
        for line in lines:
            if line.x1 <= x0 or line.x0 >= x1:
                continue
            if x0 <= line.x0 + 1 and line.x1 - 1 <= x1:
                parts.append(line.text)
            else:
                parts.append(self._part(line, x0, x1))
        return " ".join([part for part in parts if part])

    def widest_gap(self, line: Line) -> tuple[float, float, float]:
        """Return where the widest blank in the middle half of a line is, its width, and the size of the text."""
        best = middle = 0.0
        text, span = self.text, self._span
        last = line.position + line.length * 3 // 4
        at = text.find(" ", line.position + line.length // 4, last)
        while at > 0:
            left, right = span(at - 1)[1], span(at + 1)[0]
            if right - left > best:
                best, middle = right - left, (right + left) / 2
            at = text.find(" ", at + 1, last)
        return middle, best, line.size

    def cut(self, line: Line, word: Word, x: float) -> list[Word]:
        """Return a word of a line as the two that are left and right of `x`."""
        first = self._nearest(line, word.x0 - 0.5)
        size = min(self._nearest(line, x) - first, len(word.text))
        if size <= 0 or size >= len(word.text):
            return [word]
        return [
            Word(word.text[:size], word.x0, word.y0, x, word.y1),
            Word(word.text[size:], x, word.y0, word.x1, word.y1),
        ]

    def _part(self, line: Line, x0: float, x1: float) -> str:
        """Return what stands between two places of a line, whose letters go from left to right."""
        first = self._nearest(line, x0 - 0.5)
        last = self._nearest(line, x1 + 0.5)
        part = self.text[line.position + first : line.position + last]
        return (part if self._is_clean and HYPHEN not in part else clean(part)).strip()

    def _nearest(self, line: Line, x: float) -> int:
        """Return how many letters of a line are left of `x`, by their middles; it looks first where `x` should be."""
        span, position, length = self._span, line.position, line.length
        width = max((line.x1 - line.x0) / length, 0.01)
        low, high = 0, length  # so many are left of it at least, and at most
        at = int((x - line.x0) / width)
        while low < high:
            at = low if at < low else high - 1 if at >= high else at
            left, right = span(position + at)
            way = x - (left + right) / 2
            if way > 0:
                low = at + 1
                at = low + int(way / width)
            else:
                high = at
                at = high - 1 + int(way / width)
        return low

    def font_at(self, line: Line, offset: int) -> Font:
        """Return the font of a character of a line."""
        return self.fonts_at((line.position + offset,))[0]

    def fonts_at(self, positions: Sequence[int]) -> list[Font]:
        """Return the fonts of characters."""
        indices = self._characters.indices(positions)
        known, look_up = self._fonts.on_page, self._fonts.look_up
        return [
            known.get(handle) or look_up(self._engine, self._text_page, index, handle)
            for index, handle in zip(indices, self._characters.fonts(indices), strict=True)
        ]

    def content_of(self, line: Line) -> int:
        """Return the marked content that a line belongs to; -1 where there is none."""
        drawn = self._engine.FPDFText_GetTextObject(self._text_page, self._characters.index(line.position))
        return int(self._engine.FPDFPageObj_GetMarkedContentID(drawn)) if drawn else -1


def _mended(lines: list[Line]) -> list[Line]:
    """Return lines with those made one that the mark of a divided word parts inside a row.

    There it stands for a sign that the font does not explain, like a ligature.
    """
    mended: list[Line] = []
    for line in lines:
        last = mended[-1] if mended else None
        if (
            last is not None
            and last.joined
            and abs(line.y1 - last.y1) < 0.4 * line.size
            and -line.size < line.x0 - last.x1 < 2 * line.size
        ):
            last.text += line.text
            last.x1, last.joined = line.x1, line.joined
            last.length = line.position + line.length - last.position
        else:
            mended.append(line)
    return mended


def is_clean(text: str) -> bool:
    """Whether `clean` would leave text as it is, but for the mark of divided words."""
    data = text.encode("utf-8", "surrogatepass")
    if data.translate(None, _CONTROLS) != data:
        return False
    # Halves of pairs begin with one of these bytes, and so does the last sign of the plane with the other.
    return (b"\xed" not in data and b"\xef\xbf\xbf" not in data) or not _STRANGE.search(text)


def clean(text: str) -> str:
    """Return text without what JSON, Markdown and people cannot take: control characters and halves of pairs."""
    return _UNCLEAN.sub(lambda match: "\ufffd" if "\ud800" <= match[0] <= "\udfff" else "", text)
