"""One page from handles to elements: what is on it, in reading order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.annotations import Overlay, Targets
from a2c_smcp.documents.pdf.bullets import with_bullets
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.edges import split_edges, split_footnotes
from a2c_smcp.documents.pdf.engine import Engine, FileAccess
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.forms import Fields, FormEnvironment
from a2c_smcp.documents.pdf.frames import Frame, Frames
from a2c_smcp.documents.pdf.graphics import Drawings, Paths, survey
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
from a2c_smcp.documents.pdf.pictures import Picture, pictures_of
from a2c_smcp.documents.pdf.pieces import elements_of, pieces_of
from a2c_smcp.documents.pdf.structure import headings_of
from a2c_smcp.documents.pdf.tables import find_tables
from a2c_smcp.documents.pdf.words import Line, Piece
from a2c_smcp.errors import DocumentError
from a2c_smcp.types import ElementCategory

MAX_ATTACHMENTS: Final = 200
MAX_ELEMENTS: Final = 5_000

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
    access: FileAccess | None = None

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


def read_page(source: Source, index: int, label: str) -> PageContent:
    """Return what a page holds; the caller holds the lock.

    Raises:
        DocumentError: The page is damaged.
    """
    engine = source.engine
    page = engine.FPDF_LoadPage(source.document, index)
    if not page:
        raise DocumentError(f"page {index} is damaged")
    text_page = engine.FPDFText_LoadPage(page)
    try:
        return _PageReader(source, page, text_page, index, label).read()
    finally:
        if text_page:
            engine.FPDFText_ClosePage(text_page)
        engine.FPDF_ClosePage(page)


class _PageReader:
    """Reads one open page."""

    def __init__(self, source: Source, page: int, text_page: int, index: int, label: str) -> None:
        self._source, self._engine = source, source.engine
        self._page, self._text_page = page, text_page
        self._index, self._label = index, label
        self._frame = source.frames.frame(page)

    def read(self) -> PageContent:
        """Return its elements in reading order."""
        engine, frame = self._engine, self._frame
        layer = TextLayer(engine, self._text_page, frame, self._source.fonts)
        lines = layer.lines()
        drawings = survey(engine, self._page)
        pictures = pictures_of(engine, frame, drawings.images) if drawings.images else []
        header, pieces, footer = self._parts(layer, lines, drawings, pictures) if lines else ([], [], [])
        for picture in pictures:
            _insert(pieces, Piece("image", picture.content, picture.box))
        pieces = with_links(header + pieces, self._overlay(layer, lines))
        if not self._index:
            pieces += [Piece("annotation", told, (0.0, 0.0, 0.0, 0.0)) for told in self._source.attachments()]
        pieces += footer
        elements = elements_of(pieces[:MAX_ELEMENTS], self._index, frame.width, frame.height)
        if pictures:
            _name_pictures(pictures, elements)
        is_scan = _is_scan(layer.text, pictures, frame)
        return PageContent(elements, frame, pictures, is_scan, len(layer.text))

    def _parts(
        self, layer: TextLayer, lines: list[Line], drawings: Drawings, pictures: Sequence[Picture]
    ) -> tuple[list[Piece], list[Piece], list[Piece]]:
        """Return the running header, the body, and the running footer."""
        frame = self._frame
        body = body_of(lines, frame.width, frame.height)
        layer.settle_fonts(lines, body)
        header, lines, footer = split_edges(lines, body, self._label or str(self._index + 1))
        # A picture behind all of the page, like a watermark, is no picture of a table's words.
        shown = [picture.box for picture in pictures if picture.box[3] - picture.box[1] < 0.7 * frame.height]
        paths = Paths(self._engine, frame, drawings.paths)
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
