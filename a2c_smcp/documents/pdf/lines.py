"""The text of a page as lines with their places and fonts: one call for all text, then a few questions a line."""

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.documents.pdf.engine import Engine, Matrix, Rect

MAX_CHARACTERS: Final = 400_000
"""A page of more text is read up to here: the densest real pages have some ten thousand characters."""

HYPHEN: Final = "\ufffe"
"""What PDFium puts where a word was divided at the end of a line; no other line end is written there."""

_BOLD = re.compile(rb"bold|black|heavy|demi|cmbx|sfbx|cmssbx|ptmb|[-,]bd|[-_]b\b|-medi|w7|w8|w9", re.IGNORECASE)
_ITALIC = re.compile(rb"italic|oblique|cmti|cmsl|sfti|-it\b|ital", re.IGNORECASE)
_MONO = re.compile(rb"mono|courier|cmtt|sftt|consol|typewriter|menlo|fixed|code|lmtt|ectt|ttype", re.IGNORECASE)
_UNCLEAN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_WORD = re.compile(r"[^\s\ufffe]+")
_FORCE_BOLD: Final = 1 << 18
_FIXED_PITCH: Final = 1


@dataclass(frozen=True, slots=True)
class Font:
    """What a font's name and flags say of it."""

    name: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False


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


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page is shown: its size, and the way from PDF space to points from the top left."""

    width: float
    height: float
    matrix: tuple[float, float, float, float, float, float]
    is_plain: bool

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Return a box of PDF space as it is shown: x0, y0, x1, y1."""
        a, b, c, d, e, f = self.matrix
        xs = (a * left + c * bottom + e, a * right + c * top + e)
        ys = (b * left + d * bottom + f, b * right + d * top + f)
        return min(xs), min(ys), max(xs), max(ys)


def read_frame(engine: Engine, page: int) -> Frame:
    """Return how a page is shown, rotation and crop box included."""
    width, height = engine.FPDF_GetPageWidthF(page), engine.FPDF_GetPageHeightF(page)
    # The device is 16 times finer than a point, because it is counted in whole numbers; sizes are bounded for them.
    scale = min(16.0, 1e9 / max(width, height, 1.0))
    wide, high = max(1, round(width * scale)), max(1, round(height * scale))
    x, y = ctypes.c_int(), ctypes.c_int()
    to_x, to_y = ctypes.addressof(x), ctypes.addressof(y)

    def shown(px: float, py: float) -> tuple[float, float]:
        engine.FPDF_PageToDevice(page, 0, 0, wide, high, 0, px, py, to_x, to_y)
        return x.value / scale, y.value / scale

    (e, f), (ax, ay), (cx, cy) = shown(0, 0), shown(1000, 0), shown(0, 1000)
    matrix = ((ax - e) / 1000, (ay - f) / 1000, (cx - e) / 1000, (cy - f) / 1000, e, f)
    is_plain = all(abs(got - plain) < 2e-3 for got, plain in zip(matrix, (1, 0, 0, -1), strict=False))
    return Frame(width, height, matrix, is_plain)


@dataclass(slots=True)
class FontBook:
    """The fonts of a document, each looked at once."""

    known: dict[tuple[bytes, int], Font] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        self._at = ctypes.addressof(self._name), ctypes.addressof(self._flags)

    _name: Any = field(init=False, repr=False)
    _flags: Any = field(init=False, repr=False)
    _at: tuple[int, int] = field(init=False, repr=False)

    def font(self, engine: Engine, text_page: int, index: int) -> Font:
        """Return the font of a character."""
        name, flags = self._at
        if not engine.FPDFText_GetFontInfo(text_page, index, name, 128, flags):
            return _NO_FONT
        key = self._name.value, self._flags.value
        font = self.known.get(key)
        if font is None:
            font = self.known[key] = self._look(engine, text_page, index, *key)
        return font

    def _look(self, engine: Engine, text_page: int, index: int, name: bytes, flags: int) -> Font:
        # A subset's name begins with six letters and a plus sign.
        own = name.partition(b"+")[2] or name
        heavy = engine.FPDFText_GetFontWeight(text_page, index) >= 600
        bold = bool(_BOLD.search(own)) or bool(flags & _FORCE_BOLD) or heavy
        mono = bool(_MONO.search(own)) or bool(flags & _FIXED_PITCH)
        return Font(own.decode("utf-8", "replace"), bold, bool(_ITALIC.search(own)), mono)


_NO_FONT: Final = Font()


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
        self._engine, self._text_page, self._frame, self._fonts = engine, text_page, frame, fonts
        self.text, self._is_direct = read_text(engine, text_page)
        self._is_clean = not _UNCLEAN.search(self.text.replace(HYPHEN, ""))
        self._rect, self._matrix = Rect(), Matrix()
        self._to_rect, self._to_matrix = ctypes.addressof(self._rect), ctypes.addressof(self._matrix)
        self._box = engine.FPDFText_GetLooseCharBox

    def lines(self) -> list[Line]:
        """Return the lines in the order of the content stream."""
        lines: list[Line] = []
        position = 0
        for row in self.text.split("\r\n"):
            if HYPHEN in row:
                parts = row.split(HYPHEN)
                last = len(parts) - 1
                for number, part in enumerate(parts):
                    if part.strip():
                        lines.append(self._line(part, position, joined=number < last))
                    position += len(part) + 1
                position += 1
            else:
                if row.strip():
                    lines.append(self._line(row, position))
                position += len(row) + 2
        return lines if self._is_clean else [line for line in lines if line.text]

    def words(self, line: Line) -> list[Word]:
        """Return the words of a line with their boxes."""
        words = []
        text = self.text[line.position : line.position + line.length]
        for match in _WORD.finditer(text):
            first = line.position + match.start()
            last = line.position + match.end() - 1
            x0, y0, x1, y1 = self._place(self._character(first), self._character(last))
            words.append(Word(match[0] if self._is_clean else clean(match[0]), x0, y0, x1, y1))
        return words if self._is_clean else [word for word in words if word.text]

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
        middle = (start + end) // 2
        text_page = self._text_page
        size = self._engine.FPDFText_GetFontSize(text_page, middle)
        if self._engine.FPDFText_GetMatrix(text_page, middle, self._to_matrix):
            matrix = self._matrix
            b, d = matrix.b, matrix.d
            size *= abs(d) if b == 0 else (b * b + d * d) ** 0.5
        font = self._fonts.font(self._engine, text_page, middle)
        length = len(shown)
        return Line(
            shown if self._is_clean else clean(shown).strip(),
            x0,
            y0,
            x1,
            y1,
            round(size, 1),
            font,
            position,
            length,
            joined,
        )

    def _place(self, start: int, end: int) -> tuple[float, float, float, float]:
        rect, frame = self._rect, self._frame
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
        units = len(self.text[:position].encode("utf-16-le", "surrogatepass")) // 2
        found: int = self._engine.FPDFText_GetCharIndexFromTextIndex(self._text_page, units)
        return max(found, 0)


def clean(text: str) -> str:
    """Return text without what JSON, Markdown and people cannot take: control characters and halves of pairs."""
    return _UNCLEAN.sub(lambda match: "\ufffd" if "\ud800" <= match[0] <= "\udfff" else "", text)
