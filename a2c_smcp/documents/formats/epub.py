"""E-books: the chapters of the spine are pages, each read when it is asked for."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from a2c_smcp.documents.epub.book import Contents, EpubBook, closed, read_book
from a2c_smcp.documents.formats.base import Description, OpenDocument, OutlineEntry, suffix_of
from a2c_smcp.documents.formats.elements import clip, page_title
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.ooxml.package import open_package
from a2c_smcp.documents.page_elements import PageElementMaker, page_of
from a2c_smcp.documents.web.page import elements_of_html
from a2c_smcp.documents.web.parse import decode
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 1 << 30
MAX_CHAPTER: Final = 16 << 20
MAX_PICTURE: Final = 32 << 20
PAGES_KEPT: Final = 4

_TAG = re.compile(r"<[^<>]*>")


class EpubFormat:
    """EPUB 2 and 3."""

    def file_type(self, name: str) -> str | None:
        """Accept `.epub`."""
        return "epub" if suffix_of(name) == "epub" else None

    def open(self, path: Path) -> OpenDocument:
        """Read what the book says of itself, and no chapter."""
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise DocumentError("not an EPUB: it is no ZIP archive")
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        with open_package(path) as package:
            return EpubDocument(path, read_book(package))


FORMAT: Final = EpubFormat()


def _titles(book: EpubBook) -> dict[str, str]:
    """Return the title of each chapter file; one that holds several entries and is none itself names the first two."""
    lines: dict[str, list[Contents]] = {}
    for line in book.contents:
        if line.title:
            lines.setdefault(line.path, []).append(line)
    titles: dict[str, str] = {}
    for path, found in lines.items():
        whole = next((line.title for line in found if not line.inside), "")
        more = " …" if len(found) > 2 else ""
        titles[path] = whole or " · ".join(line.title for line in found[:2]) + more
    return titles


class EpubDocument:
    """A book; a page is read when it is asked for, and the last few are kept."""

    def __init__(self, path: Path, book: EpubBook) -> None:
        self._path = path
        self._book = book
        self._titles = _titles(book)
        self.page = lru_cache(PAGES_KEPT)(self._read)

    def describe(self) -> Description:
        """Return what the book says of itself."""
        book = self._book
        by = f"By {', '.join(book.creators)}" if book.creators else ""
        told = " ".join(_TAG.sub(" ", book.description).split())
        count = len(book.chapters)
        named = " · ".join(self._titles.values())
        contents = f"{count} chapters{': ' if named else ''}{named}"
        return Description(
            title=book.title,
            page_count=count,
            keywords=tuple(dict.fromkeys((*book.subjects, *book.creators)))[:20],
            summary=clip(". ".join(filter(None, (by, told or contents))), 200),
        )

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; its chapters are read."""
        return [self.page(index).entry for index in range(len(self._book.chapters))[offset : offset + limit]]

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element with the index of its page."""
        index = page_of(element_id)
        if index is None or index >= len(self._book.chapters):
            return None
        return next(((index, element) for element in self.page(index).elements if element.id == element_id), None)

    def outline(self) -> Sequence[OutlineEntry]:
        """Return the table of contents."""
        pages = {item.path: index for index, item in reversed(list(enumerate(self._book.chapters)))}
        return [OutlineEntry(line.title, pages.get(line.path), line.level) for line in self._book.contents]

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return a picture of the book."""
        found = self.find(element_id)
        name = found[1].metadata.get("part", "") if found else ""
        if not name:
            return None
        with open_package(self._path) as package:
            return self._book.items[name].media_type, package.read(name, MAX_PICTURE)

    def _read(self, index: int) -> Page:
        item = self._book.chapters[index]
        with open_package(self._path) as package:
            html = closed(decode(package.read(item.path, MAX_CHAPTER)))
        elements = [self._with_part(element, item.path) for element in elements_of_html(html, PageElementMaker(index))]
        title = self._titles.get(item.path) or page_title(elements) or posixpath.basename(item.path)
        return Page(index, clip(title, 80), tuple(elements))

    def _with_part(self, element: Element, chapter: str) -> Element:
        """Note which file of the book a picture is."""
        url = element.content.get("url", "")
        if element.category != "image" or not url or "://" in url:
            return element
        path = posixpath.normpath(posixpath.join(posixpath.dirname(chapter), unquote(url)))
        if path not in self._book.items:
            return element
        kind = self._book.items[path].media_type
        return replace(
            element, content={**element.content, "mime_type": kind}, metadata={**element.metadata, "part": path}
        )
