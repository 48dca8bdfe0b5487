"""An open PDF: what the catalogue says of it, and its pages one by one."""

import ctypes
import logging
import math
import re
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from a2c_smcp.documents.descriptors import HeldPath
from a2c_smcp.documents.formats.base import Description, OpenOptions, OutlineEntry, PasswordNeeded
from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element, Page, PageEntry, is_pending
from a2c_smcp.documents.pdf.annotations import Targets
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import LOCK, Engine, FileAccess, engine, is_place
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.frames import Frames
from a2c_smcp.documents.pdf.graphics import survey
from a2c_smcp.documents.pdf.labels import Labels
from a2c_smcp.documents.pdf.outline import Outline
from a2c_smcp.documents.pdf.page import PageContent, Source, read_page
from a2c_smcp.documents.pdf.pictures import jpeg_of
from a2c_smcp.documents.pdf.rendering import draw, scale_for
from a2c_smcp.documents.pdf.scans import recognized
from a2c_smcp.documents.pdf.titles import metadata_title, summary_of, title_of
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = (2 << 30) - 1
"""PDFium counts positions in a file with 31 bits on some platforms."""
MAX_PAGES: Final = 100_000
KEPT_WEIGHT: Final = 4_000
"""How much stays parsed, at most 4 MB or about 80 usual pages: who reads a chapter goes back and forth in it."""
MAX_DPI: Final = 600

_PASSWORD: Final = 4
_REASONS: Final = {
    2: "it is not a PDF, or it cannot be opened",
    3: "it is not a PDF, or it is damaged",
    5: "it is encrypted in a way that is not supported",
    6: "its pages are damaged",
}
_ELEMENT_ID = re.compile(r"p(\d{1,6})-[a-z]{1,6}\d{1,6}")
_TITLES_FOR_KEYWORDS: Final = 12
_FIRST_PAGES: Final = 2
"""How many pages are read for a summary at the most: the first may be a cover without text."""
_RETRY_SECONDS: Final = 10.0
"""For so long a page whose OCR failed is not tried again by who reads it element by element."""

_log = logging.getLogger(__name__)


class _Kept(NamedTuple):
    """A page that stays parsed; `is_whole` unless parts of it are still to be recognized, which `until` puts off."""

    page: Page
    content: PageContent
    is_whole: bool
    until: float = math.inf


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
        self._pages: OrderedDict[int, _Kept] = OrderedDict()
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
        """Return title, keywords and summary from the file's metadata; what they lack comes from the first pages."""
        known, told = self._metadata()
        first = _Beginning(self._elements, min(self._page_count, _FIRST_PAGES))
        title = title_of(told, first)
        summary = known.summary or summary_of(first, title)
        return replace(known, title=title, summary=summary or self._contents())

    def describe_from_metadata(self) -> Description:
        """Return what the file's metadata say of it; no page is read."""
        known, told = self._metadata()
        return replace(known, title=metadata_title(told), summary=known.summary or self._contents())

    def _metadata(self) -> tuple[Description, str]:
        """Return the description without a title, and the title that the metadata tell."""
        with LOCK:
            self._check_open()
            summary = metadata_title(self._told(b"Subject"))
            keywords = _keywords(self._told(b"Keywords")) or self._chapters()
            return Description("", self._page_count, keywords, clip(summary, 200)), self._told(b"Title")

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; it parses those pages, and recognizes no text."""
        end = min(offset + limit, self._page_count)
        return [self._entry(index) for index in range(offset, end)]

    def page(self, index: int) -> Page:
        """Return a page."""
        return self._read(index).page

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element; its id names the page."""
        match = _ELEMENT_ID.fullmatch(element_id)
        index = int(match[1]) if match else self._page_count
        if index >= self._page_count:
            return None
        for element in self._read(index).page.elements:
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
        content = self._read(index).content
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
            kept = self._read(index, recognize=False)
        except Exception as error:  # noqa: BLE001 - one page does not hide the others
            return PageEntry(index, f"{self._title(index)} (cannot be read: {_reason_of(error)})", 0)
        return kept.page.entry if kept.is_whole else PageEntry(index, kept.page.title)

    def _elements(self, index: int) -> Sequence[Element]:
        """Return the elements of a page as far as they are there without OCR; none where it cannot be read."""
        try:
            return self._read(index, recognize=False).page.elements
        except Exception as error:  # noqa: BLE001 - one page does not hide the document
            _reason_of(error)
            return ()

    def _read(self, index: int, *, recognize: bool = True) -> _Kept:
        """Return a page; `recognize` says whether its unread parts are worth the time that OCR takes."""
        known = self._pages.get(index)
        if known is not None and (known.is_whole or (known.until > time.monotonic() if recognize else True)):
            with suppress(KeyError):  # another thread may have let go of it
                self._pages.move_to_end(index)
            return known
        with LOCK:
            self._check_open()
            label = self._labels.of(index)
            content = read_page(self._source, index, label)
        is_whole, until = True, math.inf
        if content.unread and (recognize or self._ocr is None):
            recognized(content, index, self._ocr, lambda dpi: self.render(index, dpi))
            if is_pending(content.elements):
                is_whole, until = False, time.monotonic() + _RETRY_SECONDS
        elif content.unread:
            is_whole, until = False, 0.0
        page = Page(index, self._title(index, label, content.elements), tuple(content.elements))
        kept = _Kept(page, content, is_whole, until)
        with LOCK:
            self._keep(index, kept)
        return kept

    def _keep(self, index: int, kept: _Kept) -> None:
        """Keep a page, and let go of those that nobody has asked for longest."""
        before = self._pages.get(index)
        if before is not None:
            if before.is_whole:  # another thread was quicker
                return
            self._weight -= self._pages.pop(index).content.weight
        self._pages[index] = kept
        self._weight += kept.content.weight
        while self._weight > KEPT_WEIGHT and len(self._pages) > 1:
            self._weight -= self._pages.popitem(last=False)[1].content.weight

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

    def _contents(self) -> str:
        """Return the first titles of the outline, else how many pages there are."""
        with LOCK:
            chapters = self._chapters()
        return clip(" · ".join(chapters), 200) or ("1 page" if self._page_count == 1 else f"{self._page_count} pages")


class _Beginning:
    """The elements of the first pages, each read when it is asked for."""

    def __init__(self, read: Callable[[int], Sequence[Element]], count: int) -> None:
        self._read, self._count = read, count

    def __iter__(self) -> Iterator[Sequence[Element]]:
        return map(self._read, range(self._count))


def _reason_of(error: Exception) -> str:
    if isinstance(error, DocumentError):
        return error.message
    if isinstance(error, ModuleNotFoundError | OSError | MemoryError):  # may pass: nobody is to remember it
        raise error
    _log.info("A page could not be read", exc_info=error)
    return "its parser failed"


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
        page_count=core.FPDF_GetPageCount(document),
        access=access,
    )


def _release(source: Source) -> None:
    with LOCK:
        if source.form:
            source.form.close()
        source.close_pages()
        source.engine.FPDF_CloseDocument(source.document)


def _keywords(told: str) -> tuple[str, ...]:
    words: Any = re.split(r"\s*[,;，；、]\s*", told)
    return tuple(dict.fromkeys(clip(word, 60) for word in words if word))[:20]
