"""The text of a page as lines with their places and fonts: one call for all text, then a few questions a line."""

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final

from a2c_smcp.documents.pdf.characters import Characters
from a2c_smcp.documents.pdf.cleaning import HYPHEN, clean, is_clean
from a2c_smcp.documents.pdf.engine import Engine, Matrix
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.layout import Body
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Box, Font, Line, Word

MAX_CHARACTERS: Final = 400_000
"""A page of more text is read up to here: the densest real pages have some ten thousand characters."""

_INVISIBLE: Final = 3
_UPSIDE_DOWN: Final = 2
_length = attrgetter("length")
_Characters = native.Characters if native else Characters


class TextLayer:
    """The text of one open page, and where each piece of it is."""

    def __init__(self, engine: Engine, text_page: int, frame: Frame, fonts: FontBook) -> None:
        self._engine, self._text_page, self.frame, self._fonts = engine, text_page, frame, fonts
        fonts.turn()
        self._characters: Characters = _Characters(engine, text_page, frame, MAX_CHARACTERS)
        self.text = self._characters.text
        self._is_clean = is_clean(self.text)

    def lines(self) -> list[Line]:
        """Return the lines in the order of the content stream."""
        lines = self._characters.lines(self._fonts)
        if not self._is_clean:
            for line in lines:
                line.text = clean(line.text).strip()
            lines = [line for line in lines if line.text]
        return _mended(lines) if HYPHEN in self.text else lines

    def quarter(self, lines: list[Line]) -> int:
        """Return how many quarters the text of a page is turned clockwise; it is 0 unless several lines agree."""
        quarter = self._turn_of(max(lines, key=_length))
        if not quarter:  # as of nearly all pages
            return 0
        others = [lines[len(lines) * part // 4] for part in range(1, 4)]
        if any(self._turn_of(line) != quarter for line in others):
            return 0
        if quarter == _UPSIDE_DOWN and self.frame.is_plain:
            # Lines that are written from the top down are in their order: only their letters are turned.
            down = sum(second.y0 > first.y0 for first, second in pairwise(lines))
            return 0 if 2 * down > len(lines) - 1 else quarter
        return quarter

    def _turn_of(self, line: Line) -> int | None:
        engine, matrix = self._engine, Matrix()
        index = self._characters.index(line.position)
        if not engine.FPDFText_GetMatrix(self._text_page, index, ctypes.addressof(matrix)):
            return None
        # A negative size turns the letters, too.
        way = -1.0 if engine.FPDFText_GetFontSize(self._text_page, index) < 0 else 1.0
        return self.frame.quarter_of((way * matrix.a, way * matrix.b), (way * matrix.c, way * matrix.d))

    def settle_fonts(self, lines: list[Line], body: Body) -> None:
        """Look at both ends of lines whose middle stands out: a bold word makes no heading, one of code no listing."""
        is_bold, is_mono = body.bold, body.mono
        odd = [
            line
            for line in lines
            if (font := line.font).italic or (font.bold and not is_bold) or (font.mono and not is_mono)
        ]
        for line, first in zip(odd, self.fonts_at([line.position for line in odd]), strict=True):
            font = last = line.font
            if font.bold or font.italic:
                last = self.font_at(line, line.length - 1)
            if first is not font or last is not font:
                line.font = _mixed(font, first, last)

    def words(self, line: Line) -> list[Word]:
        """Return the words of a line with their boxes."""
        return self.words_of((line,))[0]

    def words_of(self, lines: Sequence[Line]) -> list[list[Word]]:
        """Return the words of each line with their boxes, which are asked for together."""
        rows = self._characters.words(lines)
        if self._is_clean:
            return rows
        for row in rows:
            for word in row:
                word.text = clean(word.text)
        return [[word for word in row if word.text] for row in rows]

    def text_in(self, lines: list[Line], box: Box) -> str:
        """Return the text of lines inside a box: those with their middles in it, from its left to its right."""
        x0, y0, x1, y1 = box
        parts = []
        for line in lines:
            if not 2 * y0 <= line.y0 + line.y1 <= 2 * y1 or line.x1 <= x0 or line.x0 >= x1:
                continue
            if x0 <= line.x0 + 1 and line.x1 - 1 <= x1:
                parts.append(line.text)
            else:
                parts.append(self._part(line, x0, x1))
        return " ".join([part for part in parts if part])

    def cut(self, word: Word, x: float) -> list[Word]:
        """Return a word as the two that are left and right of `x`."""
        nearest, line = self._nearest, word.line
        first = nearest(line, word.x0 - 0.5)
        size = min(nearest(line, x) - first, len(word.text))
        if size <= 0 or size >= len(word.text):
            return [word]
        return [
            Word(word.text[:size], word.x0, word.y0, x, word.y1, line),
            Word(word.text[size:], x, word.y0, word.x1, word.y1, line),
        ]

    def _part(self, line: Line, x0: float, x1: float) -> str:
        """Return what stands between two places of a line, whose letters go from left to right."""
        first = self._nearest(line, x0 - 0.5)
        last = self._nearest(line, x1 + 0.5)
        part = self.text[line.position + first : line.position + last]
        return (part if self._is_clean and HYPHEN not in part else clean(part)).strip()

    def _nearest(self, line: Line, x: float) -> int:
        """Return how many letters of a line are left of `x`, by their middles; it looks first where `x` should be."""
        span, position, length = self._characters.span, line.position, line.length
        width = (line.x1 - line.x0) / length
        width = width if width > 0.01 else 0.01
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

    def widest_gap(self, line: Line) -> tuple[float, float, float]:
        """Return where the widest blank in the middle half of a line is, its width, and the size of the text."""
        best = middle = 0.0
        text, span = self.text, self._characters.span
        last = line.position + line.length * 3 // 4
        at = text.find(" ", line.position + line.length // 4, last)
        while at > 0:
            left, right = span(at - 1)[1], span(at + 1)[0]
            if right - left > best:
                best, middle = right - left, (right + left) / 2
            at = text.find(" ", at + 1, last)
        return middle, best, line.size

    def font_at(self, line: Line, offset: int) -> Font:
        """Return the font of a character of a line."""
        return self.fonts_at((line.position + offset,))[0]

    def fonts_at(self, positions: Sequence[int]) -> list[Font]:
        """Return the fonts of characters."""
        return self._characters.fonts_at(self._fonts, positions)

    def is_hidden(self, line: Line) -> bool:
        """Whether a line is there to be found and copied, but not shown."""
        drawn = self._engine.FPDFText_GetTextObject(self._text_page, self._characters.index(line.position))
        return bool(drawn) and self._engine.FPDFTextObj_GetTextRenderMode(drawn) == _INVISIBLE

    def content_of(self, line: Line) -> int:
        """Return the marked content that a line belongs to; -1 where there is none."""
        drawn = self._engine.FPDFText_GetTextObject(self._text_page, self._characters.index(line.position))
        return int(self._engine.FPDFPageObj_GetMarkedContentID(drawn)) if drawn else -1


def _mixed(font: Font, first: Font, last: Font) -> Font:
    """Return the font of a line with those of its ends: what all three are."""
    return Font(
        font.name,
        font.bold and first.bold and last.bold,
        font.italic and first.italic and last.italic,
        font.mono and first.mono,
    )


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
