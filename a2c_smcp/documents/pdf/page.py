"""One page from handles to elements: what is on it, in reading order."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from a2c_smcp.documents.formats.elements import MAX_SUMMARY, PREFIXES, clip, summarize
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.annotations import Found, Overlay, Targets
from a2c_smcp.documents.pdf.bullets import with_bullets
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.edges import split_edges, split_footnotes
from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.forms import Fields, FormEnvironment
from a2c_smcp.documents.pdf.frames import Frame, Frames
from a2c_smcp.documents.pdf.graphics import Drawings, Paths, survey
from a2c_smcp.documents.pdf.headings import mark_headings
from a2c_smcp.documents.pdf.layout import (
    Block,
    Body,
    blocks_of,
    body_of,
    box_of,
    in_reading_order,
    text_of,
)
from a2c_smcp.documents.pdf.lines import TextLayer
from a2c_smcp.documents.pdf.lists import list_content, lists_of
from a2c_smcp.documents.pdf.native import maker, native
from a2c_smcp.documents.pdf.outline import Outline
from a2c_smcp.documents.pdf.pictures import Picture, pictures_of
from a2c_smcp.documents.pdf.structure import headings_of
from a2c_smcp.documents.pdf.tables import Table, find_tables
from a2c_smcp.documents.pdf.words import Box, Font, Line
from a2c_smcp.errors import DocumentError
from a2c_smcp.types import ElementCategory

MAX_ATTACHMENTS: Final = 200
MAX_ELEMENTS: Final = 5_000

_PLAIN: Final = frozenset({"text", "heading", "header", "footer"})
_CHARACTERS: Final = 100
"""So much text takes as much memory as an element without it."""
_FEW_LETTERS: Final = 30
_GARBAGE: Final = 0.3
_STRANGE = re.compile("[\ue000-\uf8ff\ufffd]")


@dataclass(slots=True)
class Source:
    """An open file: its handle, and what is found out of it once."""

    engine: Engine
    document: int
    fonts: FontBook
    frames: Frames
    outline: Outline
    targets: Targets
    is_tagged: bool
    form: FormEnvironment | None = None

    def attachments(self) -> list[dict[str, str]]:
        """Return the files inside the file, as notes that the first page shows."""
        engine = self.engine
        count = min(engine.FPDFDoc_GetAttachmentCount(self.document), MAX_ATTACHMENTS)
        names = []
        for number in range(count):
            handle = engine.FPDFDoc_GetAttachment(self.document, number)
            if handle:
                names.append(clean(engine.string(engine.FPDFAttachment_GetName, handle)).strip())
        return [{"text": f"Attached file: {name}", "annotation_type": "file_attachment"} for name in names]

    def form_handle(self) -> int:
        """Return the form environment, made on first use."""
        if self.form is None:
            self.form = FormEnvironment(self.engine, self.document)
        return self.form.handle


class Handles(NamedTuple):
    """An open page and its text."""

    page: int
    text: int


@dataclass(slots=True)
class PageContent:
    """What a page holds."""

    elements: list[Element]
    frame: Frame
    pictures: list[Picture] = field(default_factory=list)
    is_scan: bool = False
    characters: int = 0

    @property
    def weight(self) -> int:
        """How much memory it takes, in kilobytes at most."""
        return len(self.elements) + len(self.pictures) + self.characters // _CHARACTERS


class opened:  # noqa: N801 (used like a function)
    """Open a page for a `with` block; the caller holds the lock.

    Raises:
        DocumentError: The page is damaged.
    """

    __slots__ = ("_engine", "_handles", "_index", "_source")

    def __init__(self, source: Source, index: int) -> None:
        self._source, self._engine, self._index = source, source.engine, index
        self._handles = Handles(0, 0)

    def __enter__(self) -> Handles:
        page = self._engine.FPDF_LoadPage(self._source.document, self._index)
        if not page:
            raise DocumentError(f"page {self._index} is damaged")
        self._handles = Handles(page, self._engine.FPDFText_LoadPage(page))
        return self._handles

    def __exit__(self, *_: object) -> None:
        if self._handles.text:
            self._engine.FPDFText_ClosePage(self._handles.text)
        self._engine.FPDF_ClosePage(self._handles.page)


class PageReader:
    """Reads one open page."""

    def __init__(self, source: Source, handles: Handles, index: int, label: str) -> None:
        self._source, self._engine = source, source.engine
        self._page, self._text_page = handles
        self._index, self._label = index, label
        self._frame = source.frames.frame(self._page)
        self._make = _Maker(index, self._frame)

    def read(self) -> PageContent:
        """Return its elements in reading order."""
        engine, frame = self._engine, self._frame
        layer = TextLayer(engine, self._text_page, frame, self._source.fonts)
        lines = layer.lines()
        drawings = survey(engine, self._page)
        pictures = pictures_of(engine, frame, drawings.images) if drawings.images else []
        parts = self._parts(layer, lines, drawings, pictures) if lines else _Parts()
        _place_pictures(parts, pictures)
        overlay = self._overlay(layer, lines)
        make = self._make
        elements = [make("header", {"text": text_of(row)}, box_of(row)) for row in parts.headers]
        for piece in parts.pieces:
            element = make(piece.category, piece.content, piece.box)
            elements.append(element)
            if piece.picture:
                piece.picture.element_id = element.id
        elements += [make(note.category, note.content, note.box) for note in overlay]
        if not self._index:
            elements += [make("annotation", content, (0.0, 0.0, 0.0, 0.0)) for content in self._source.attachments()]
        elements += [make("footer", {"text": text_of(row)}, box_of(row)) for row in parts.footers]
        is_scan = _is_scan(layer.text, pictures, frame)
        return PageContent(elements[:MAX_ELEMENTS], frame, pictures, is_scan, len(layer.text))

    def _parts(self, layer: TextLayer, lines: list[Line], drawings: Drawings, pictures: Sequence[Picture]) -> "_Parts":
        frame = self._frame
        body = body_of(lines, frame.width, frame.height)
        _settle_fonts(layer, lines, body)
        headers, lines, footers = split_edges(lines, body, self._label or str(self._index + 1))
        parts = _Parts(headers=_rows(headers), footers=_rows(footers))
        # A picture behind all of the page, like a watermark, is no picture of a table's words.
        shown = [picture.box for picture in pictures if picture.box[3] - picture.box[1] < 0.7 * frame.height]
        paths = Paths(self._engine, frame, drawings.paths)
        tables, lines = find_tables(layer, lines, paths, shown, body)
        lines = with_bullets(lines, paths)
        lines = in_reading_order(lines, body) if lines else lines
        lines, notes = split_footnotes(lines, body)
        blocks = blocks_of(lines, body)
        mark_headings(blocks, body, self._index, self._source.outline, self._tags(layer))
        parts.pieces = list(_pieces(blocks))
        _place_tables(parts, tables)
        parts.pieces += [
            _Piece("annotation", {"text": text_of(note), "annotation_type": "footnote"}, box_of(note)) for note in notes
        ]
        return parts

    def _tags(self, layer: TextLayer) -> Callable[[], tuple[Mapping[int, int], Callable[[Block], int]]] | None:
        # An outline tells as much for less.
        if not self._source.is_tagged or not self._source.outline.is_empty:
            return None
        return lambda: (headings_of(self._engine, self._page), lambda block: layer.content_of(block.lines[0]))

    def _overlay(self, layer: TextLayer, lines: list[Line]) -> list[Found]:
        source = self._source
        overlay = Overlay(self._engine, source.document, source.targets, self._page, layer, lines)
        if not overlay.count:
            return []
        links = overlay.links()
        notes = overlay.notes()
        if overlay.has_widgets:
            form = source.form_handle()
            if form:
                notes += Fields(self._engine, form, self._page, self._frame).read()
        return links + notes


@dataclass(slots=True)
class _Piece:
    category: ElementCategory
    content: Mapping[str, Any]
    box: Box
    picture: Picture | None = None


_piece = maker(_Piece)


@dataclass(slots=True)
class _Parts:
    pieces: list[_Piece] = field(default_factory=list)
    headers: list[list[Line]] = field(default_factory=list)
    footers: list[list[Line]] = field(default_factory=list)


class _Maker:
    """Makes the elements of one page: ids count by category, so that they do not depend on other pages."""

    def __init__(self, index: int, frame: Frame) -> None:
        self._page = f"p{index}-"
        self._counts: dict[ElementCategory, int] = {}
        self._width, self._height = round(frame.width, 1), round(frame.height, 1)

    def __call__(self, category: ElementCategory, content: Mapping[str, Any], box: Box) -> Element:
        number = self._counts.get(category, 0) + 1
        self._counts[category] = number
        if category in _PLAIN:
            summary = content["text"]
            if len(summary) > MAX_SUMMARY:
                summary = _clipped(summary)
        elif category == "link" and len(content["text"]) < 40 and content["url"][0] == "#":
            summary = f"{content['text']} → {content['url']}".lstrip()
        else:
            summary = summarize(category, content)
        metadata = {"bbox": tenths(box), "page_width": self._width, "page_height": self._height}
        return make_element(f"{self._page}{PREFIXES[category]}{number}", category, content, summary, metadata)


def _tenths(box: Box) -> list[float]:
    """Return a box in tenths of a point, none smaller than it is; quicker than round."""
    x0, y0, x1, y1 = box
    return [int(x0 * 10) / 10, int(y0 * 10) / 10, int(x1 * 10 + 0.9) / 10, int(y1 * 10 + 0.9) / 10]


make_element = maker(Element)
tenths: Callable[[Box], list[float]] = native.tenths if native else _tenths


def _clipped(text: str) -> str:
    """Return what `clip` does, without a look at all of a long paragraph."""
    head = text[: MAX_SUMMARY + 1]
    if head.isprintable() and "  " not in head and head[0] != " " != head[-1]:  # nothing to put in order, as in most
        kept = head[: MAX_SUMMARY - 1]
        at_word = kept.rpartition(" ")[0]
        return f"{at_word if len(at_word) > MAX_SUMMARY * 0.7 else kept.rstrip()}…"
    short = clip(text[: MAX_SUMMARY + 40])
    return short if short[-1:] == "…" else clip(text)


def _rows(lines: list[Line]) -> list[list[Line]]:
    return [lines] if lines else []


def _settle_fonts(layer: TextLayer, lines: Sequence[Line], body: Body) -> None:
    """Look at both ends of lines whose middle stands out: a bold or monospaced word makes no heading and no code."""
    odd = [
        line
        for line in lines
        if (font := line.font).italic or (font.bold and not body.bold) or (font.mono and not body.mono)
    ]
    for line, first in zip(odd, layer.fonts_at([line.position for line in odd]), strict=True):
        font = last = line.font
        if font.bold or font.italic:
            last = layer.font_at(line, line.length - 1)
        if first is not font or last is not font:
            line.font = Font(
                font.name,
                font.bold and first.bold and last.bold,
                font.italic and first.italic and last.italic,
                font.mono and first.mono,
            )


def _pieces(blocks: Sequence[Block]) -> Iterator[_Piece]:
    items: list[Block] = []
    for block in blocks:
        kind = block.kind
        if items and kind != items[0].kind:
            yield from _lists(items)
            items = []
        if kind == "text":
            yield _piece("text", {"text": text_of(block.lines)}, box_of(block.lines), None)
        elif kind == "heading":
            yield _piece("heading", {"level": block.level, "text": text_of(block.lines)}, box_of(block.lines), None)
        elif kind == "code":
            yield _piece("code", {"text": _listing(block.lines)}, box_of(block.lines), None)
        else:  # an item, or a line of a table of contents
            items.append(block)
    if items:
        yield from _lists(items)


def _lists(blocks: Sequence[Block]) -> Iterator[_Piece]:
    for items in lists_of(blocks):
        yield _Piece("list", list_content(items), box_of([line for item in items for line in item.lines]))


def _listing(lines: Sequence[Line]) -> str:
    """Return lines of code as they are indented."""
    left = min([line.x0 for line in lines])
    wide = sorted([(line.x1 - line.x0) / len(line.text) for line in lines])[len(lines) // 2] or 1.0
    rows: list[str] = []
    last: Line | None = None
    for line in lines:
        if last is not None and abs(line.y0 - last.y0) < 0.5 * line.size and line.x0 > last.x1:
            rows[-1] += " " * max(1, round((line.x0 - last.x1) / wide)) + line.text
        else:
            rows.append(" " * min(round((line.x0 - left) / wide), 80) + line.text + ("-" if line.joined else ""))
        last = line
    return "\n".join(rows)


def _place_tables(parts: _Parts, tables: Sequence[Table]) -> None:
    """Put tables where the text above them ends."""
    for table in tables:
        _insert(parts.pieces, _Piece("table", table.content, table.box))


def _place_pictures(parts: _Parts, pictures: Sequence[Picture]) -> None:
    for picture in pictures:
        _insert(parts.pieces, _Piece("image", picture.content, picture.box, picture))


def _insert(pieces: list[_Piece], piece: _Piece) -> None:
    """Put a piece before the first one below it that shares its column, else behind the last one above it."""
    x0, y0, x1, _ = piece.box
    after = None
    for number, other in enumerate(pieces):
        shares = min(x1, other.box[2]) - max(x0, other.box[0]) > 0
        if shares and other.box[1] >= y0:
            pieces.insert(number, piece)
            return
        if shares:
            after = number
    pieces.insert(len(pieces) if after is None else after + 1, piece)


def _is_scan(text: str, pictures: Sequence[Picture], frame: Frame) -> bool:
    """Whether the text is not what a person sees on the page: none beside a large picture, or signs without meaning."""
    letters = sum(map(str.isalnum, text)) if len(text) < 4 * _FEW_LETTERS else _FEW_LETTERS
    if letters < _FEW_LETTERS:
        shown = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in (picture.box for picture in pictures))
        return shown > 0.3 * frame.width * frame.height
    if text.isascii():
        return False
    data = text.encode("utf-8", "surrogatepass")
    # A look at two bytes saves most pages the search: signs without meaning begin with one of them.
    might = data.count(b"\xee") + data.count(b"\xef")
    return might > _GARBAGE * len(text) and len(_STRANGE.findall(text)) > _GARBAGE * len(text)
