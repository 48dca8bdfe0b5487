"""One page from handles to elements: what is on it, in reading order."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.annotations import Overlay, Targets
from a2c_smcp.documents.pdf.bullets import with_bullets
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.edges import EdgeRow, Edges, edges_of, runs_on, split_edges, split_footnotes
from a2c_smcp.documents.pdf.engine import Engine, FileAccess
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.forms import Fields, FormEnvironment
from a2c_smcp.documents.pdf.frames import Frame, Frames
from a2c_smcp.documents.pdf.graphics import Paths, survey
from a2c_smcp.documents.pdf.headings import Tags, mark_headings
from a2c_smcp.documents.pdf.layout import (
    blocks_of,
    body_of,
    box_of,
    in_reading_order,
    text_of,
)
from a2c_smcp.documents.pdf.lines import TextLayer
from a2c_smcp.documents.pdf.link_spans import with_links
from a2c_smcp.documents.pdf.outline import Outline
from a2c_smcp.documents.pdf.pictures import Picture, describe_picture, pictures_of
from a2c_smcp.documents.pdf.pieces import elements_of, pieces_of
from a2c_smcp.documents.pdf.structure import headings_of
from a2c_smcp.documents.pdf.tables import find_tables
from a2c_smcp.documents.pdf.unread import FEW_LETTERS, LETTER_HEIGHTS, Unread, unread_outlines, unread_pictures
from a2c_smcp.documents.pdf.words import Box, Line, Piece
from a2c_smcp.errors import DocumentError
from a2c_smcp.types import ElementCategory

MAX_ATTACHMENTS: Final = 200
MAX_ELEMENTS: Final = 5_000

_CHARACTERS: Final = 100
"""So much text takes as much memory as an element without it."""
_NEARBY: Final = (-1, 1, -2, 2)
"""How far from a page its running lines are looked for: left and right pages may have their own."""
_PAGES_AHEAD: Final = 3
_EDGES_KEPT: Final = 256
_MANY_PATHS: Final = 20
"""Pages of fewer paths than that have no text drawn as outlines."""
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
    page_count: int
    form: FormEnvironment | None = None
    access: FileAccess | None = None
    _edges: OrderedDict[int, Edges] = field(default_factory=OrderedDict)
    _ahead: OrderedDict[int, tuple[int, int]] = field(default_factory=OrderedDict)

    def load(self, index: int) -> tuple[int, int]:
        """Return the handles of a page and of its text, which the caller closes.

        Raises:
            DocumentError: The page is damaged.
        """
        ahead = self._ahead.pop(index, None)
        if ahead is not None:
            return ahead
        page = self.engine.FPDF_LoadPage(self.document, index)
        if not page:
            raise DocumentError("the page is damaged")
        return page, self.engine.FPDFText_LoadPage(page)

    def close_page(self, page: int, text_page: int) -> None:
        """Close the handles of `load`."""
        if text_page:
            self.engine.FPDFText_ClosePage(text_page)
        self.engine.FPDF_ClosePage(page)

    def close_pages(self) -> None:
        """Close the pages that were looked at and not read."""
        while self._ahead:
            self.close_page(*self._ahead.popitem()[1])

    def edges(self, index: int) -> Edges:
        """Return the outermost rows of a page, which stays open: who reads a document in turn reads it next."""
        known = self._edges.get(index)
        if known is not None or not 0 <= index < self.page_count:
            return known or Edges()
        try:
            page, text_page = self.load(index)
        except DocumentError:
            return Edges()
        self._ahead[index] = page, text_page
        if len(self._ahead) > _PAGES_AHEAD:
            self.close_page(*self._ahead.popitem(last=False)[1])
        try:
            frame = self.frames.frame(page)
            lines = TextLayer(self.engine, text_page, frame, self.fonts).lines()
        except (DocumentError, ValueError):  # it hides nothing of the page that is read
            lines, frame = [], None
        return self.note_edges(index, lines, frame)

    def note_edges(self, index: int, lines: list[Line], frame: Frame | None) -> Edges:
        """Keep the outermost rows of a page for its neighbours."""
        known = self._edges.get(index)
        if known is None:
            known = self._edges[index] = edges_of(lines, frame.height) if frame and lines else Edges()
            if len(self._edges) > _EDGES_KEPT:
                self._edges.popitem(last=False)
        return known

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


@dataclass(slots=True)
class PageContent:
    """What a page holds.

    Attributes:
        unread: Where it may show text that is not among the elements.
        lines: Where the lines of its text layer are, on a page with unread parts.
    """

    elements: list[Element]
    frame: Frame
    pictures: list[Picture] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    lines: list[Box] = field(default_factory=list)
    characters: int = 0

    @property
    def weight(self) -> int:
        """How much memory it takes, in kilobytes at most."""
        return len(self.elements) + len(self.pictures) + self.characters // _CHARACTERS

    @property
    def has_text(self) -> bool:
        """Whether it has more text than a stamp."""
        return self.characters >= 4 * FEW_LETTERS


def read_page(source: Source, index: int, label: str) -> PageContent:
    """Return what a page holds; the caller holds the lock.

    Raises:
        DocumentError: The page is damaged.
    """
    page, text_page = source.load(index)
    try:
        return _PageReader(source, page, text_page, index, label).read()
    finally:
        source.close_page(page, text_page)


class _PageReader:
    """Reads one open page."""

    def __init__(self, source: Source, page: int, text_page: int, index: int, label: str) -> None:
        self._source, self._engine = source, source.engine
        self._page, self._text_page = page, text_page
        self._index, self._label = index, label
        self._frame = source.frames.frame(page)

    def read(self) -> PageContent:
        """Return its elements in reading order."""
        engine, shown = self._engine, self._frame
        layer, lines = self._text()
        self._source.note_edges(self._index, lines, shown)
        quarter = layer.quarter(lines) if lines else 0
        if quarter:  # a page that is read on its side, like a wide table, is read as if it stood upright
            self._frame = shown.turned(quarter)
            layer, lines = self._text()
        frame = self._frame
        drawings = survey(engine, self._page)
        pictures = pictures_of(engine, frame, drawings.images) if drawings.images else []
        paths = Paths(engine, frame, drawings.paths)
        standing = list(lines)
        header, pieces, footer = self._parts(layer, lines, paths, pictures) if lines else ([], [], [])
        unread = self._unread(layer, standing, pictures, paths)
        pictures += [_outlined_picture(part.box, frame) for part in unread if part.is_outlined]
        for picture in pictures:
            _insert(pieces, Piece("image", picture.content, picture.box))
        pieces = with_links(header + pieces, self._overlay(layer, lines))
        if not self._index:
            pieces += [Piece("annotation", told, (0.0, 0.0, 0.0, 0.0)) for told in self._source.attachments()]
        pieces += footer
        boxes = [(line.x0, line.y0, line.x1, line.y1) for line in standing] if unread else []
        if quarter:
            for piece in pieces:
                piece.box = shown.turned_back(piece.box, quarter)
            for picture in pictures:
                picture.box = shown.turned_back(picture.box, quarter)
            boxes = [shown.turned_back(box, quarter) for box in boxes]
            unread = [Unread(shown.turned_back(part.box, quarter), part.is_outlined) for part in unread]
        elements = elements_of(pieces[:MAX_ELEMENTS], self._index, shown.width, shown.height)
        if pictures:
            _name_pictures(pictures, elements)
        return PageContent(elements, shown, pictures, unread, boxes, len(layer.text))

    def _unread(self, layer: TextLayer, lines: list[Line], pictures: Sequence[Picture], paths: Paths) -> list[Unread]:
        """Return the parts of the page that may show text which its text layer does not have."""
        width, height = self._frame.width, self._frame.height
        if _is_garbage(layer.text):
            lines.clear()  # what is written there is not what is shown
            return [Unread((0.0, 0.0, width, height))]
        found = []
        if pictures:
            boxes = [picture.box for picture in pictures]
            found = unread_pictures(boxes, lines, width, height, layer.is_hidden)
        if len(paths) >= _MANY_PATHS or (paths and not lines):
            found += unread_outlines(paths.outlines(*LETTER_HEIGHTS), lines)
        return found

    def _text(self) -> tuple[TextLayer, list[Line]]:
        layer = TextLayer(self._engine, self._text_page, self._frame, self._source.fonts)
        return layer, layer.lines()

    def _parts(
        self, layer: TextLayer, lines: list[Line], paths: Paths, pictures: Sequence[Picture]
    ) -> tuple[list[Piece], list[Piece], list[Piece]]:
        """Return the running header, the body, and the running footer."""
        frame = self._frame
        body = body_of(lines, frame.width, frame.height)
        layer.settle_fonts(lines, body)
        number = str(self._index + 1)
        header, lines, footer = split_edges(lines, body, self._label or number, number, self._runs)
        # A picture behind all of the page, like a watermark, is no picture of a table's words.
        shown = [picture.box for picture in pictures if picture.box[3] - picture.box[1] < 0.7 * frame.height]
        tables, lines = find_tables(layer, lines, paths, shown, body)
        lines = with_bullets(lines, paths)
        lines = in_reading_order(lines, body) if lines else lines
        lines, notes = split_footnotes(lines, body)
        blocks = blocks_of(lines, body)
        mark_headings(blocks, body, self._index, self._source.outline, self._tags(layer))
        pieces = pieces_of(blocks)
        for table in tables:
            _insert(pieces, Piece("table", table.content, table.box))
        pieces += [
            Piece("annotation", {"text": text_of(note), "annotation_type": "footnote"}, box_of(note)) for note in notes
        ]
        return _running("header", header), pieces, _running("footer", footer)

    def _runs(self, row: EdgeRow, is_top: bool) -> bool:  # noqa: FBT001 - a callback
        """Whether a row is at the same edge of a page nearby; those of the other side of the sheet are asked first."""
        for distance in _NEARBY:
            edges = self._source.edges(self._index + distance)
            if runs_on(row, edges.top if is_top else edges.bottom, distance):
                return True
        return False

    def _tags(self, layer: TextLayer) -> Tags | None:
        # An outline tells as much for less.
        if not self._source.is_tagged or not self._source.outline.is_empty:
            return None
        return lambda: (headings_of(self._engine, self._page), lambda block: layer.content_of(block.lines[0]))

    def _overlay(self, layer: TextLayer, lines: list[Line]) -> list[Piece]:
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


def _running(category: ElementCategory, lines: list[Line]) -> list[Piece]:
    return [Piece(category, {"text": text_of(lines)}, box_of(lines))] if lines else []


def _name_pictures(pictures: Sequence[Picture], elements: Sequence[Element]) -> None:
    """Tell pictures which elements they are."""
    shown = {id(picture.content): picture for picture in pictures}
    for element in elements:
        picture = shown.get(id(element.content))
        if picture:
            picture.element_id = element.id


def _insert(pieces: list[Piece], piece: Piece) -> None:
    """Put a table or picture before the first piece below that shares its column, else after the last one above it."""
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


def _outlined_picture(box: Box, frame: Frame) -> Picture:
    """Return letters that are drawn as the picture that they are."""
    content = {"mime_type": "image/png"}
    content["description"] = describe_picture(content, box, frame).replace("Image", "Drawn text", 1)
    return Picture(content, box)


def _is_garbage(text: str) -> bool:
    """Whether the text is not what a person sees on the page, but signs without meaning."""
    if text.isascii():
        return False
    data = text.encode("utf-8", "surrogatepass")
    # A look at two bytes saves most pages the search: signs without meaning begin with one of them.
    might = data.count(b"\xee") + data.count(b"\xef")
    return might > _GARBAGE * len(text) and len(_STRANGE.findall(text)) > _GARBAGE * len(text)
