"""Links, comments and media that lie on top of a page."""

import ctypes
import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import BOX_BYTES, Engine, Quad, Rect, is_place
from a2c_smcp.documents.pdf.lines import TextLayer
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Box, Line, Piece
from a2c_smcp.types import ElementCategory

MAX_ANNOTATIONS: Final = 2_000
"""A page with more is read up to here."""
MAX_QUADS: Final = 200
_MANY_TARGETS: Final = 100
"""From so many on, a document is being walked through rather than looked into."""

LINK, POPUP, WIDGET = 2, 16, 20
_KINDS: Final = {
    1: "comment",
    3: "free_text",
    4: "line",
    5: "square",
    6: "circle",
    7: "polygon",
    8: "polyline",
    9: "highlight",
    10: "underline",
    11: "squiggly",
    12: "strikeout",
    13: "stamp",
    14: "insertion",
    15: "ink",
    17: "file_attachment",
    28: "redaction",
}
_MARKUP: Final = frozenset({9, 10, 11, 12})
_MEDIA: Final[dict[int, ElementCategory]] = {18: "audio", 19: "video", 21: "video", 26: "video", 27: "video"}
_GO_TO_REMOTE, _URI, _LAUNCH = 2, 3, 4
_DATE = re.compile(
    r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?\s*(?:(Z)|([+-])(\d{2})'?(\d{2})?)?",
)

_unpack = struct.Struct("4f").unpack


class Targets:
    """The pages that links of a document lead to, each found once."""

    def __init__(self, engine: Engine, document: int) -> None:
        self._engine, self._document = engine, document
        self.known: dict[int | None, int] = {}

    def page(self, destination: int) -> int:
        """Return the index of the page that a destination names; -1 where there is none."""
        index = self.known.get(destination)
        if index is None:
            if len(self.known) == _MANY_TARGETS:
                # PDFium looks through all pages that it has not met. When it meets the last one, it knows all.
                engine, size = self._engine, ctypes.create_string_buffer(8)
                last = engine.FPDF_GetPageCount(self._document) - 1
                engine.FPDF_GetPageSizeByIndexF(self._document, last, ctypes.addressof(size))
            index = self._engine.FPDFDest_GetDestPageIndex(self._document, destination)
            self.known[destination] = index
        return index


class Overlay:
    """The annotations of one open page."""

    def __init__(
        self, engine: Engine, document: int, targets: Targets, page: int, layer: TextLayer, lines: list[Line]
    ) -> None:
        self._engine, self._document, self._targets, self._page = engine, document, targets, page
        self._frame, self._layer, self._lines = layer.frame, layer, lines
        self._rect = Rect()
        self.count = engine.FPDFPage_GetAnnotCount(page)
        self.has_widgets = False
        self._links = 0
        self._heights: list[float] = []
        self._numbers: list[int] = []

    def links(self) -> list[Piece]:
        """Return where the page leads to, other documents and other pages."""
        links = links_of(self._engine, self._document, self._page, self._targets.known)
        self._links = len(links)
        found: list[Piece] = []
        for destination, index, address, place in links:
            url = f"#page={index + 1}" if index is not None and index >= 0 else self._url(destination, address)
            if not url or place is None:
                continue
            text, box = self._text_in(*place)
            last = found[-1] if found else None
            if last and text and last.content["url"] == url and url[0] != "#":
                # A link that goes on in the next line is drawn as two.
                last.content["text"] = f"{last.content['text']} {text}".strip()
                last.box = _union(last.box, box)
            else:
                found.append(Piece("link", {"text": text, "url": url}, box))
        return found

    def notes(self) -> list[Piece]:
        """Return comments, marked passages and media; ask after `links`, which counts what need not be looked at."""
        if self.count <= self._links:
            return []
        engine, page = self._engine, self._page
        found: list[Piece] = []
        by_index: dict[int, Piece] = {}
        replies: list[tuple[int, dict[str, Any]]] = []
        for index in range(min(self.count, MAX_ANNOTATIONS)):
            handle = engine.FPDFPage_GetAnnot(page, index)
            if not handle:
                continue
            try:
                kind = engine.FPDFAnnot_GetSubtype(handle)
                if kind == WIDGET:
                    self.has_widgets = True
                elif kind not in (LINK, POPUP, 0):
                    parent = self._parent(handle)
                    note = self._note(handle, kind)
                    if note and parent is not None and note.category == "annotation":
                        replies.append((parent, note.content))
                    elif note:
                        by_index[index] = note
                        found.append(note)
            finally:
                engine.FPDFPage_CloseAnnot(handle)
        for parent, content in replies:
            if parent in by_index:
                kept = {key: content[key] for key in ("text", "author", "created") if key in content}
                by_index[parent].content.setdefault("replies", []).append(kept)
        return found

    def _url(self, destination: int | None, address: str | None) -> str:
        """Return what a link leads to that is not known yet."""
        opened = clean(address).strip() if address else ""
        if opened or not destination:
            return opened
        index = self._targets.page(destination)
        return f"#page={index + 1}" if index >= 0 else ""

    def _text_in(self, left: float, bottom: float, right: float, top: float) -> tuple[str, Box]:
        """Return the text inside a rectangle of PDF space, on one line, and the rectangle as shown."""
        box = self._frame.box(left, bottom, right, top)
        return self._layer.text_in(self._near(box[1], box[3]), box), box

    def _near(self, top: float, bottom: float) -> list[Line]:
        """Return the lines whose middles are between two heights, in their order."""
        lines = self._lines
        if not self._heights and lines:
            by_height = sorted([(line.y0 + line.y1, number) for number, line in enumerate(lines)])
            self._heights, self._numbers = [height for height, _ in by_height], [number for _, number in by_height]
        numbers = self._numbers[bisect_left(self._heights, 2 * top) : bisect_right(self._heights, 2 * bottom)]
        return [lines[number] for number in sorted(numbers)]

    def _note(self, handle: int, kind: int) -> Piece | None:
        text = self._value(handle, b"Contents").strip()
        self._engine.FPDFAnnot_GetRect(handle, ctypes.addressof(self._rect))
        box = self._frame.box(*self._rect.sides)
        if kind in _MEDIA:
            return Piece(_MEDIA[kind], {"title": text or self._value(handle, b"T")}, box)
        named = _KINDS.get(kind)
        if named is None:
            return None
        content: dict[str, Any] = {"text": text, "annotation_type": named}
        if kind in _MARKUP:
            passage = self._passage(handle)
            if passage:
                content["target"] = passage
                content["text"] = text or passage
        if not content["text"] and named in ("line", "square", "circle", "polygon", "polyline", "ink"):
            return None  # a drawing that says nothing
        author = self._value(handle, b"T").strip()
        created = iso_date(self._value(handle, b"CreationDate") or self._value(handle, b"M"))
        return Piece("annotation", content | _known(author=author, created=created), box)

    def _passage(self, handle: int) -> str:
        engine = self._engine
        quad = Quad()
        parts = []
        for number in range(min(engine.FPDFAnnot_CountAttachmentPoints(handle), MAX_QUADS)):
            if engine.FPDFAnnot_GetAttachmentPoints(handle, number, ctypes.addressof(quad)):
                xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                if not is_place(*xs, *ys):
                    continue
                # A little inside, or the lines above and below would be part of it.
                inset = (max(ys) - min(ys)) * 0.15
                parts.append(self._text_in(min(xs), min(ys) + inset, max(xs), max(ys) - inset)[0])
        return " ".join(filter(None, parts))

    def _parent(self, handle: int) -> int | None:
        engine = self._engine
        if not engine.FPDFAnnot_HasKey(handle, b"IRT"):
            return None
        linked = engine.FPDFAnnot_GetLinkedAnnot(handle, b"IRT")
        if not linked:
            return None
        index: int = engine.FPDFPage_GetAnnotIndex(self._page, linked)
        engine.FPDFPage_CloseAnnot(linked)
        return index

    def _value(self, handle: int, key: bytes) -> str:
        return clean(self._engine.string(self._engine.FPDFAnnot_GetStringValue, handle, key))


Link: TypeAlias = tuple[int | None, int | None, str | None, Box | None]
"""What it leads to inside the document, the index of that page where it is known, what it opens outside, its place."""


def links_of(engine: Engine, document: int, page: int, known: Mapping[int | None, int]) -> list[Link]:
    """Return the links of a page; `known` are the pages that destinations are on."""
    if native:
        found: list[Link] = native.links_of(document, page, known, MAX_ANNOTATIONS)
        return found
    return _links_of(engine, document, page, known)


def _links_of(engine: Engine, document: int, page: int, known: Mapping[int | None, int]) -> list[Link]:
    bare, room = engine.bare, engine.room()
    link, holder, within = ctypes.c_void_p(), ctypes.c_void_p(document), ctypes.c_void_p(page)
    to_position, to_link = ctypes.byref(ctypes.c_int(0)), ctypes.byref(link)
    to_rect, rect = room.boxes[0], room.view[:BOX_BYTES]
    found: list[Link] = []
    while len(found) < MAX_ANNOTATIONS and bare.next_link(within, to_position, to_link):
        place: Box | None = None
        if bare.link_rect(link, to_rect):
            left, top, right, bottom = _unpack(rect)
            place = (left, bottom, right, top) if is_place(left, bottom, right, top) else None
        destination = bare.link_target(holder, link)
        # Most links lead to a page that others have led to.
        index = known.get(destination)
        found.append((destination, index, None if index is not None else _address(engine, document, link), place))
    return found


def _address(engine: Engine, document: int, link: ctypes.c_void_p) -> str | None:
    """Return what a link opens outside of the document; None where it opens nothing."""
    action = engine.FPDFLink_GetAction(link)
    kind = engine.FPDFAction_GetType(action) if action else 0
    if kind == _URI:
        return engine.string(engine.FPDFAction_GetURIPath, document, action, encoding="utf-8")
    if kind in (_GO_TO_REMOTE, _LAUNCH):
        return engine.string(engine.FPDFAction_GetFilePath, action, encoding="utf-8")
    return None


def iso_date(told: str) -> str:
    """Return a date as PDF writes it in ISO 8601; empty where it is none."""
    match = _DATE.match(told)
    if not match:
        return ""
    year, month, day, hour, minute, second, utc, sign, hours, minutes = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return date
    zone = "Z" if utc else f"{sign}{hours}:{minutes or '00'}" if sign else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"


def _known(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _union(first: Box, second: Box) -> Box:
    return min(first[0], second[0]), min(first[1], second[1]), max(first[2], second[2]), max(first[3], second[3])
