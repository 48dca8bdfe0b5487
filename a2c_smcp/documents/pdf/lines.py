"""The text of a page as lines with their places and fonts: one call for all text, then a few questions a line."""

import ctypes
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from a2c_smcp.documents.pdf.engine import Engine, Matrix, Rect
from a2c_smcp.documents.pdf.fonts import Font, FontBook
from a2c_smcp.documents.pdf.frames import Frame

MAX_CHARACTERS: Final = 400_000
"""A page of more text is read up to here: the densest real pages have some ten thousand characters."""

HYPHEN: Final = "\ufffe"
"""What PDFium puts where a word was divided at the end of a line; no other line end is written there."""

_UNCLEAN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_STRANGE = re.compile(_UNCLEAN.pattern.replace(r"\ufffe", ""))
"""The same without the mark of divided words, which is taken out when lines are made."""
_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32)])
_unpack, _unpack_two = struct.Struct("4f").unpack, struct.Struct("8f").unpack
"""One box, and two."""
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


def read_text(engine: Engine, text_page: int) -> tuple[str, bool]:
    """Return all text of a page, and whether its positions are those of the characters."""
    count = min(engine.FPDFText_CountChars(text_page), MAX_CHARACTERS)
    if count <= 0:
        return "", True
    buffer = (ctypes.c_ushort * (count + 1))()
    written = engine.FPDFText_GetText(text_page, 0, count, ctypes.addressof(buffer))
    if written <= 1:
        return "", True
    text = memoryview(buffer).cast("B")[: 2 * (written - 1)].tobytes().decode("utf-16-le", "surrogatepass")
    return text, written - 1 == count and len(text) == count


class TextLayer:
    """The text of one open page, and where each piece of it is."""

    def __init__(self, engine: Engine, text_page: int, frame: Frame, fonts: FontBook) -> None:
        self._engine, self._text_page, self.frame, self._fonts = engine, text_page, frame, fonts
        fonts.turn()
        self.text, self._is_direct = read_text(engine, text_page)
        self._is_clean = is_clean(self.text)
        self._is_wide = not self._is_direct and max(self.text, default="") > "\uffff"
        self._rect, self._matrix = Rect(), Matrix()
        self._to_rect, self._to_matrix = ctypes.addressof(self._rect), ctypes.addressof(self._matrix)
        self._box = engine.FPDFText_GetLooseCharBox
        self._bare_box, self._bare_page = engine.bare.box, ctypes.c_void_p(text_page)
        self._bare_rect = ctypes.c_void_p(self._to_rect)
        self._is_usual, self._shift = self._is_direct and frame.is_plain, frame.matrix[4]

    def lines(self) -> list[Line]:
        """Return the lines in the order of the content stream."""
        rows: list[tuple[str, int, bool]] = []
        position = 0
        for row in self.text.split("\r\n"):
            if HYPHEN in row:
                *joined, last = row.split(HYPHEN)
                for part in joined:
                    rows.append((part, position, True))
                    position += len(part) + 1
                rows.append((last, position, False))
                position += len(last) + 2
            else:
                if row:
                    rows.append((row, position, False))
                position += len(row) + 2
        found = self._usual_lines(rows) if self.frame.is_plain else self._lines(rows)
        lines = [line for line in found if line.text]
        return _mended(lines) if HYPHEN in self.text else lines

    def _usual_lines(self, rows: "list[tuple[str, int, bool]]") -> "Iterator[Line]":
        """Yield lines of a page that is not turned: what most pages are, and so the quick way."""
        engine, text_page = self._engine, ctypes.c_void_p(self._text_page)
        box, object_of, font_of = engine.bare.box, engine.bare.text_object, engine.bare.font
        unpack, buffer = _unpack_two, ctypes.create_string_buffer(32)
        start = ctypes.addressof(buffer)
        first_box, last_box = ctypes.c_void_p(start), ctypes.c_void_p(start + 16)
        right_of, top_of = self.frame.matrix[4], self.frame.matrix[5]
        fonts, look_up = self._fonts.on_page, self._fonts.look_up
        is_direct, is_clean, character = self._is_direct, self._is_clean, self._character
        sizes: dict[tuple[int | None, int, int], float] = {}
        for row, position, joined in rows:
            text = row.strip()
            length = len(text)
            if not length:
                continue
            if length != len(row) and row[0] != text[0]:
                position += len(row) - len(row.lstrip())  # noqa: PLW2901
            first, end = position, position + length - 1
            middle = position + length // 2
            if text[length // 2] == " ":  # a blank that PDFium has put in has no font
                middle -= 1
            if not is_direct:
                first, middle, end = character(first), character(middle), character(end)
            if not is_clean:
                text = clean(text).strip()
            box(text_page, first, first_box)
            box(text_page, end, last_box)
            left, top, right, bottom, left2, top2, right2, bottom2 = unpack(buffer)
            drawn = object_of(text_page, middle)
            handle = font_of(drawn) if drawn else None
            # Boxes are as high as the size tells, so that lines of one font whose ends are alike share their size.
            alike = handle, int((top - bottom) * 50), int((top2 - bottom2) * 50)
            yield Line(
                text,
                (left if left < left2 else left2) + right_of,
                top_of - (top if top > top2 else top2),
                (right if right > right2 else right2) + right_of,
                top_of - (bottom if bottom < bottom2 else bottom2),
                sizes.get(alike) or sizes.setdefault(alike, self._size(middle)),
                fonts.get(handle) or look_up(engine, self._text_page, middle, handle),
                position,
                length,
                joined,
            )

    def _lines(self, rows: "list[tuple[str, int, bool]]") -> "Iterator[Line]":
        for row, position, joined in rows:
            if row.strip():
                yield self._line(row, position, joined=joined)

    def words(self, line: Line) -> list[Word]:
        """Return the words of a line with their boxes."""
        text = self.text[line.position : line.position + line.length]
        matches = list(_WORD.finditer(text))
        if len(matches) == 1 and len(matches[0][0]) == line.length:
            return [Word(line.text, line.x0, line.y0, line.x1, line.y1)]
        if self._is_usual and line.is_upright:
            words = self._words_across(line, matches)
        else:
            words = []
            for match in matches:
                first, last = line.position + match.start(), line.position + match.end() - 1
                box = self._place(self._character(first), self._character(last))
                words.append(Word(match[0], *box))
        if self._is_clean:
            return words
        for word in words:
            word.text = clean(word.text)
        return [word for word in words if word.text]

    def _words_across(self, line: Line, matches: "list[re.Match[str]]") -> list[Word]:
        """Return words whose heights are those of their line: one or two questions each."""
        box, text_page, rect, to_rect = self._bare_box, self._bare_page, self._rect, self._bare_rect
        position, y0, y1, unpack, shift = line.position, line.y0, line.y1, _unpack, self._shift
        words = []
        for match in matches:
            start, end = match.span()
            box(text_page, position + start, to_rect)
            left, _, right, _ = unpack(rect)
            if end - start > 1:
                box(text_page, position + end - 1, to_rect)
                left2, _, right2, _ = unpack(rect)
                left = min(left, left2)
                right = max(right, right2)
            words.append(Word(match[0], left + shift, y0, right + shift, y1))
        return words

    def text_in(self, lines: Sequence[Line], box: tuple[float, float, float, float]) -> str:
        """Return the text of those lines that is inside a box."""
        x0, y0, x1, y1 = box
        parts = []
        for line in lines:
            if not y0 <= (line.y0 + line.y1) / 2 <= y1 or line.x1 <= x0 or line.x0 >= x1:
                continue
            if x0 <= line.x0 + 1 and line.x1 - 1 <= x1:
                parts.append(line.text)
                continue
            parts.append(self._part(line, x0, x1))
        return " ".join([part for part in parts if part])

    def widest_gap(self, line: Line) -> tuple[float, float, float]:
        """Return where the widest blank in the middle half of a line is, its width, and the size of the text."""
        best = middle = 0.0
        text, position = self.text, line.position
        last = position + line.length * 3 // 4
        at = text.find(" ", position + line.length // 4, last)
        while at > 0:
            end, start = self._across(at - 1)[1], self._across(at + 1)[0]
            if start - end > best:
                best, middle = start - end, (start + end) / 2
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
        across, position, length = self._across, line.position, line.length
        guess = at = min(max(int((x - line.x0) / max(line.x1 - line.x0, 0.1) * length), 0), length)
        while at < length:
            left, right = across(position + at)
            if left + right >= 2 * x:
                break
            at += 1
        if at > guess:
            return at
        while at > 0:
            left, right = across(position + at - 1)
            if left + right < 2 * x:
                break
            at -= 1
        return at

    def _across(self, position: int) -> tuple[float, float]:
        """Return where a character begins and ends from left to right."""
        if self._is_usual:
            self._bare_box(self._bare_page, position, self._bare_rect)
            left, _, right, _ = _unpack(self._rect)
            return left + self._shift, right + self._shift
        at = self._character(position)
        x0, _, x1, _ = self._place(at, at)
        return x0, x1

    def font_at(self, line: Line, offset: int) -> Font:
        """Return the font of a character of a line."""
        return self._fonts.font(self._engine, self._text_page, self._character(line.position + offset))

    def content_of(self, line: Line) -> int:
        """Return the marked content that a line belongs to; -1 where there is none."""
        drawn = self._engine.FPDFText_GetTextObject(self._text_page, self._character(line.position))
        return int(self._engine.FPDFPageObj_GetMarkedContentID(drawn)) if drawn else -1

    def _line(self, row: str, position: int, *, joined: bool = False) -> Line:
        shown = row.strip()
        position += len(row) - len(row.lstrip())
        start, end = position, position + len(shown) - 1
        if not self._is_direct:
            start, end = self._character(start), self._character(end)
        x0, y0, x1, y1 = self._place(start, end)
        inside = len(shown) // 2
        middle = self._character(position + (inside - 1 if shown[inside] == " " else inside))
        font = self._fonts.font(self._engine, self._text_page, middle)
        length = len(shown)
        return Line(
            shown if self._is_clean else clean(shown).strip(),
            x0,
            y0,
            x1,
            y1,
            self._size(middle),
            font,
            position,
            length,
            joined,
        )

    def _size(self, index: int) -> float:
        """Return the size of a character as shown, in tenths of a point."""
        size = self._engine.FPDFText_GetFontSize(self._text_page, index)
        if self._engine.FPDFText_GetMatrix(self._text_page, index, self._to_matrix):
            b, d = self._matrix.b, self._matrix.d
            size *= abs(d) if b == 0 else (b * b + d * d) ** 0.5
        return int(size * 10 + 0.5) / 10

    def _place(self, start: int, end: int) -> tuple[float, float, float, float]:
        rect, frame = self._rect, self.frame
        self._box(self._text_page, start, self._to_rect)
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if end > start:
            self._box(self._text_page, end, self._to_rect)
            left, bottom = min(left, rect.left), min(bottom, rect.bottom)
            right, top = max(right, rect.right), max(top, rect.top)
        if frame.is_plain:
            matrix = frame.matrix
            e, f = matrix[4], matrix[5]
            return left + e, f - top, right + e, f - bottom
        return frame.box(left, bottom, right, top)

    def _character(self, position: int) -> int:
        if self._is_direct:
            return position
        if self._is_wide:
            position = len(self.text[:position].encode("utf-16-le", "surrogatepass")) // 2
        found: int = self._engine.FPDFText_GetCharIndexFromTextIndex(self._text_page, position)
        return max(found, 0)


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
