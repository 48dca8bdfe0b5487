"""An open PDF: what the catalogue says of it, and its pages one by one."""

import ctypes
import re
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.descriptors import HeldPath
from a2c_smcp.documents.formats.base import Description, OpenOptions, OutlineEntry, PasswordNeeded
from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.pdf.annotations import Targets
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import LOCK, Engine, FileAccess, engine, is_place
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.frames import Frames
from a2c_smcp.documents.pdf.graphics import survey
from a2c_smcp.documents.pdf.labels import Labels
from a2c_smcp.documents.pdf.native import maker
from a2c_smcp.documents.pdf.outline import Outline
from a2c_smcp.documents.pdf.page import PageContent, Source, read_page
from a2c_smcp.documents.pdf.pictures import jpeg_of
from a2c_smcp.documents.pdf.rendering import draw, scale_for
from a2c_smcp.documents.pdf.scans import recognized
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = (2 << 30) - 1
"""PDFium counts positions in a file with 31 bits on some platforms."""
MAX_PAGES: Final = 100_000
KEPT_WEIGHT: Final = 4_000
"""How much stays parsed, at most 4 MB or about 80 usual pages: who reads a chapter goes back and forth in it."""
MAX_DPI: Final = 600

_PASSWORD: Final = 4
_page = maker(Page)
"""Ids count by category, so that no two of a page are the same."""
_REASONS: Final = {
    2: "it is not a PDF, or it cannot be opened",
    3: "it is not a PDF, or it is damaged",
    5: "it is encrypted in a way that is not supported",
    6: "its pages are damaged",
}
_ELEMENT_ID = re.compile(r"p(\d{1,6})-[a-z]{1,6}\d{1,6}")
_NO_TITLE = re.compile(
    r"\W*(?:untitled|title|document|slide \d+|powerpoint presentation|microsoft word\b.*|no title|无标题.*|unknown"
    r"|anonymous|unspecified)\W*\d*"
    r"|.*\.(?:docx?|dvi|tex|indd|pptx?|xlsx?|rtf|odt|pdf|fm|qxd|pmd|ps|html?|txt|cdr|ai|key|pages)|[\W\d_]*"
    r"|(?=\S*[\d_])\S{9,}",
    re.IGNORECASE,
)
_TITLES_FOR_KEYWORDS: Final = 12


class PdfDocument:
    """A PDF whose pages are parsed when they are asked for.

    Raises:
        DocumentError: It cannot be read; the message says why.
        PasswordNeeded: It is encrypted, and the password is missing or wrong.
    """

    def __init__(self, path: Path, options: OpenOptions) -> None:
        self._ocr = options.ocr
        size = path.stat().st_size
        if not size:
            raise DocumentError("the file is empty")
        if size > MAX_BYTES:
            raise DocumentError("larger than the 2 GiB that are read of this file type")
        with LOCK:
            self._source = _load(engine(), path, options.password)
            self._page_count: int = self._source.engine.FPDF_GetPageCount(self._source.document)
        self._close = weakref.finalize(self, _release, self._source)
        self._pages: OrderedDict[int, tuple[Page, PageContent]] = OrderedDict()
        self._weight = 0
        self._labels = Labels(self._source.engine, self._source.document, self._page_count)
        if self._page_count > MAX_PAGES:
            self.close()
            raise DocumentError(f"more than the {MAX_PAGES:,} pages that are read of a file")

    def close(self) -> None:
        """Let go of the file; what is asked afterwards is an error."""
        self._close()
        self._pages.clear()
        self._weight = 0

    def describe(self) -> Description:
        """Return title, keywords and summary from the file's metadata; the first page only where it has no title."""
        with LOCK:
            self._check_open()
            title = _sane_title(self._told(b"Title"))
            summary = _sane_title(self._told(b"Subject"))
            keywords = _keywords(self._told(b"Keywords")) or self._chapters()
        if not title and self._page_count:
            title, first = self._beginning()
            summary = summary or first
        return Description(title, self._page_count, keywords, clip(summary or self._size(), 200))

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; it parses those pages."""
        end = min(offset + limit, self._page_count)
        return [self._entry(index) for index in range(offset, end)]

    def page(self, index: int) -> Page:
        """Return a page."""
        return self._read(index)[0]

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element; its id names the page."""
        match = _ELEMENT_ID.fullmatch(element_id)
        index = int(match[1]) if match else self._page_count
        if index >= self._page_count:
            return None
        for element in self._read(index)[0].elements:
            if element.id == element_id:
                return index, element
        return None

    def outline(self) -> Sequence[OutlineEntry]:
        """Return the outline with the pages it leads to."""
        with LOCK:
            self._check_open()
            return self._source.outline.entries()

    def render(self, index: int, dpi: int) -> bytes:
        """Return a page as PNG; a page too large for `dpi` comes smaller.

        Raises:
            DocumentError: There is no such page, or no such resolution.
        """
        if not 0 <= index < self._page_count:
            raise DocumentError(f"there is no page {index}: it has {self._page_count}, counted from 0")
        if not 1 <= dpi <= MAX_DPI:
            raise DocumentError(f"a resolution of 1 to {MAX_DPI} dots per inch can be drawn, not {dpi}")
        with LOCK:
            self._check_open()
            return self._draw(index, dpi)

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture of an image element: the stored JPEG, else what the page shows there as PNG."""
        found = self.find(element_id)
        if found is None or found[1].category != "image":
            return None
        index = found[0]
        content = self._read(index)[1]
        picture = next((picture for picture in content.pictures if picture.element_id == element_id), None)
        if picture is None:
            return None
        with LOCK:
            self._check_open()
            if picture.content.get("mime_type") == "image/jpeg":
                jpeg = self._jpeg(index, picture.number)
                if jpeg:
                    return "image/jpeg", jpeg
            return "image/png", self._draw(index, 200, picture.box)

    def _check_open(self) -> None:
        if not self._close.alive:
            raise DocumentError("it is closed")

    def _entry(self, index: int) -> PageEntry:
        try:
            return self.page(index).entry
        except DocumentError as error:
            return PageEntry(index, f"{self._title(index)} (cannot be read: {error.message})", 0)

    def _read(self, index: int) -> tuple[Page, PageContent]:
        known = self._pages.get(index)
        if known is not None:
            with suppress(KeyError):  # another thread may have let go of it
                self._pages.move_to_end(index)
            return known
        with LOCK:
            self._check_open()
            label = self._labels.of(index)
            content = read_page(self._source, index, label)
        if content.is_scan:
            recognized(content, index, self._ocr, lambda dpi: self.render(index, dpi))
        kept = _page(index, self._title(index, label, content.elements), tuple(content.elements)), content
        with LOCK:
            self._keep(index, kept)
        return kept

    def _keep(self, index: int, kept: tuple[Page, PageContent]) -> None:
        """Keep a page, and let go of those that nobody has asked for longest."""
        if index in self._pages:  # another thread was quicker
            return
        self._pages[index] = kept
        self._weight += kept[1].weight
        while self._weight > KEPT_WEIGHT and len(self._pages) > 1:
            self._weight -= self._pages.popitem(last=False)[1][1].weight

    def _title(self, index: int, label: str = "", elements: Sequence[Element] = ()) -> str:
        for element in elements:
            if element.category == "heading":
                return f"Page {label or index + 1} · {clip(element.summary, 80)}"
        return f"Page {label or index + 1}"

    def _draw(self, index: int, dpi: float, crop: tuple[float, float, float, float] | None = None) -> bytes:
        source = self._source
        core = source.engine
        page = core.FPDF_LoadPage(source.document, index)
        if not page:
            raise DocumentError("the page is damaged")
        try:
            size = core.FPDF_GetPageWidthF(page), core.FPDF_GetPageHeightF(page)
            if not is_place(*size):
                raise DocumentError("the page has no size")
            area = (crop[2] - crop[0], crop[3] - crop[1]) if crop else size
            scale = scale_for(area[0], area[1], dpi)
            if crop is None or scale * max(size) < 2**30:
                return draw(core, page, size, scale, form=source.form.handle if source.form else 0, crop=crop)
            raise DocumentError("the page is too large to be drawn")
        finally:
            core.FPDF_ClosePage(page)

    def _jpeg(self, index: int, number: int) -> bytes | None:
        core = self._source.engine
        page = core.FPDF_LoadPage(self._source.document, index)
        try:
            images = survey(core, page).images
            return jpeg_of(core, images[number][0]) if number < len(images) else None
        finally:
            core.FPDF_ClosePage(page)

    def _told(self, key: bytes) -> str:
        source = self._source
        told = source.engine.string(source.engine.FPDF_GetMetaText, source.document, key)
        return " ".join(clean(told).split())

    def _chapters(self) -> tuple[str, ...]:
        titles = self._source.outline.top_titles(_TITLES_FOR_KEYWORDS)
        return tuple(dict.fromkeys(clip(title, 60) for title in titles if title))

    def _beginning(self) -> tuple[str, str]:
        """Return the title that the first page shows, and how its text begins."""
        try:
            elements = self._read(0)[0].elements
        except DocumentError:
            return "", ""
        headings = [element for element in elements if element.category == "heading"]
        title = min(headings, key=lambda heading: heading.content["level"], default=None)
        text = next((element for element in elements if element.category == "text"), None)
        return (clip(title.summary, 120) if title else ""), (text.content["text"] if text else "")

    def _size(self) -> str:
        return "1 page" if self._page_count == 1 else f"{self._page_count} pages"


def _load(core: Engine, path: Path, password: str | None) -> Source:
    secret, access = password.encode() if password is not None else None, None
    if isinstance(path, HeldPath):
        access = FileAccess(path.held)
        document = core.FPDF_LoadCustomDocument(ctypes.addressof(access), secret)
    else:
        document = core.FPDF_LoadDocument(str(path).encode("utf-8", "surrogateescape"), secret)
    if not document:
        code = core.FPDF_GetLastError()
        if code == _PASSWORD:
            raise PasswordNeeded("the password is wrong" if password else "it is encrypted and needs a password")
        raise DocumentError(_REASONS.get(code, "it is damaged"))
    return Source(
        core,
        document,
        FontBook(),
        Frames(core),
        Outline(core, document),
        Targets(core, document),
        is_tagged=bool(core.FPDFCatalog_IsTagged(document)),
        access=access,
    )


def _release(source: Source) -> None:
    with LOCK:
        if source.form:
            source.form.close()
        source.engine.FPDF_CloseDocument(source.document)


def _sane_title(title: str) -> str:
    if len(title) < 3 or _NO_TITLE.fullmatch(title):
        return ""
    return clip(title, 200)


def _keywords(told: str) -> tuple[str, ...]:
    words: Any = re.split(r"\s*[,;，；、]\s*", told)
    return tuple(dict.fromkeys(clip(word, 60) for word in words if word))[:20]
