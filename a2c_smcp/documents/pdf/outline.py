"""The outline of a document: its titles are read when a page first needs them, its targets one by one."""

import ctypes
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from a2c_smcp.documents.formats.base import OutlineEntry
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.native import native

MAX_ENTRIES: Final = 20_000
"""Larger outlines exist only to do harm, or list every line."""
MAX_LEVEL: Final = 16

_TITLE_BYTES: Final = 2_048
_NO_WORD = re.compile(r"[\W_]+")
_NO_LETTERS: Final = {code: None for code in range(128) if not chr(code).isalnum()}
_NUMBERING = re.compile(
    r"\s*(?:(?:chapter|section|appendix|part|kapitel|chapitre)\s+)?"
    r"(?:(?:\d+|[A-Z]|[IVXLC]+)(?:\.\d+)*[.):]?\s+|第\s*[一二三四五六七八九十百\d]+\s*[章节篇部]\s*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline as PDFium knows it."""

    handle: int
    title: str
    level: int


def _tidy(title: str) -> str:
    if title.isprintable() and "  " not in title and title[:1] != " " != title[-1:]:
        return title  # as most titles are
    return " ".join(clean(title).split())


def folded(text: str) -> str:
    """Return what is left of a title when spacing, case and punctuation do not count."""
    if text.isascii():
        return text.translate(_NO_LETTERS).lower()
    return _NO_WORD.sub("", unicodedata.normalize("NFKC", text)).casefold()


def unnumbered(text: str) -> str:
    """Return a title without the number before it."""
    match = _NUMBERING.match(text)
    return text[match.end() :] if match else text


class Outline:
    """The outline of an open document."""

    def __init__(self, engine: Engine, document: int) -> None:
        self._engine, self._document = engine, document
        self._pages: dict[int, int | None] = {}

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._engine.FPDFBookmark_GetFirstChild(self._document, None)

    @cached_property
    def bookmarks(self) -> list[Bookmark]:
        """Every entry in reading order."""
        found = native.bookmarks(self._document, MAX_ENTRIES, MAX_LEVEL) if native else self._walk()
        return [Bookmark(handle, _tidy(title), level) for handle, title, level in found]

    @cached_property
    def titles(self) -> dict[str, list[Bookmark]]:
        """The entries by their folded titles, with and without numbers."""
        found: dict[str, list[Bookmark]] = {}
        for bookmark in self.bookmarks:
            bare = unnumbered(bookmark.title)
            for title in {folded(bookmark.title), folded(bare)} if bare != bookmark.title else {folded(bare)}:
                if title:
                    found.setdefault(title, []).append(bookmark)
        return found

    def entries(self) -> list[OutlineEntry]:
        """Return the outline with the pages it leads to."""
        return [OutlineEntry(mark.title, self.page_of(mark), mark.level) for mark in self.bookmarks]

    def top_titles(self, most: int) -> list[str]:
        """Return the first titles of the highest level, without reading the rest."""
        engine = self._engine
        titles: list[str] = []
        handle = engine.FPDFBookmark_GetFirstChild(self._document, None)
        while handle and len(titles) < most:
            titles.append(_tidy(engine.string(engine.FPDFBookmark_GetTitle, handle)))
            handle = engine.FPDFBookmark_GetNextSibling(self._document, handle)
        return titles

    def page_of(self, bookmark: Bookmark) -> int | None:
        """Return the index of the page that an entry leads to, which is looked up once."""
        if bookmark.handle not in self._pages:
            self._pages[bookmark.handle] = self._page_of(bookmark)
        return self._pages[bookmark.handle]

    def _page_of(self, bookmark: Bookmark) -> int | None:
        engine = self._engine
        target = engine.FPDFBookmark_GetDest(self._document, bookmark.handle)
        if not target:
            action = engine.FPDFBookmark_GetAction(bookmark.handle)
            target = engine.FPDFAction_GetDest(self._document, action) if action else None
        index = engine.FPDFDest_GetDestPageIndex(self._document, target) if target else -1
        return index if index >= 0 else None

    def _walk(self) -> Iterator[tuple[int, str, int]]:
        """Yield the handle, the title and the level of every entry."""
        engine, document = self._engine, self._document
        first, after, title = (
            engine.FPDFBookmark_GetFirstChild,
            engine.FPDFBookmark_GetNextSibling,
            engine.FPDFBookmark_GetTitle,
        )
        buffer = ctypes.create_string_buffer(_TITLE_BYTES)
        address = ctypes.addressof(buffer)
        seen: set[int] = set()
        waiting = [(first(document, None), 1)]
        while waiting and len(seen) < MAX_ENTRIES:
            handle, level = waiting.pop()
            if not handle or handle in seen:  # a broken outline may lead back into itself
                continue
            seen.add(handle)
            length = title(handle, address, _TITLE_BYTES)
            told = buffer.raw[: max(0, length - 2)].decode("utf-16-le", "replace") if length <= _TITLE_BYTES else ""
            yield handle, told, level
            waiting.append((after(document, handle), level))
            if level < MAX_LEVEL:
                waiting.append((first(document, handle), level + 1))
