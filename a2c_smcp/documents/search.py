"""Full-text search over the elements of documents, in SQLite's FTS5.

    contents   a file that is indexed, or partly: `pages` says how far
    shelves    which library has which content; what is on no shelf leaves
    passages   one element of a content, or the content as a whole (no page)
    words      its text, to be searched
    pending    pages of a content that could not be read for a reason that may pass, and are read again

A content is indexed once, wherever it lies and whoever reads it. Every call is blocking; several processes may share
one file.
"""

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, cast

from a2c_smcp.documents.database import Database, remove
from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.queries import attempts, joined, parted
from a2c_smcp.documents.render.json import document_uri, element_uri
from a2c_smcp.documents.render.text import element_text
from a2c_smcp.documents.render.values import cell_text
from a2c_smcp.types import ElementCategory

NAME: Final = "search-3.sqlite3"
EARLIER: Final = ("search-1.sqlite3", "search-2.sqlite3")

MAX_BYTES: Final = 1 << 30
"""How much text is indexed; what comes after that is read but not found."""

MAX_ELEMENT: Final = 200_000
"""How many characters of one element are indexed."""

FORGET_AFTER: Final = 30 * 86_400
"""Seconds after which a library that nobody opens leaves the index."""

_SNIPPET_WORDS: Final = 40
_MERGE_PAGES: Final = 2_000
_MERGE_STEPS: Final = 10_000
_HEADING_WEIGHT: Final = 3.0

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS contents (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, pages INTEGER NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS shelves (library BLOB NOT NULL, content INTEGER NOT NULL, PRIMARY KEY (library, content))
    WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS shelves_by_content ON shelves (content);
CREATE TABLE IF NOT EXISTS libraries (library BLOB PRIMARY KEY, seen REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages (id INTEGER PRIMARY KEY, content INTEGER NOT NULL, page INTEGER, element TEXT,
    category TEXT);
CREATE INDEX IF NOT EXISTS passages_by_content ON passages (content, page);
CREATE TABLE IF NOT EXISTS pending (content INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (content, page))
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
INSERT OR IGNORE INTO total VALUES (1, 0);
CREATE TRIGGER IF NOT EXISTS content_grown AFTER UPDATE OF bytes ON contents
    BEGIN UPDATE total SET bytes = bytes + new.bytes - old.bytes; END;
CREATE TRIGGER IF NOT EXISTS content_left AFTER DELETE ON contents
    BEGIN UPDATE total SET bytes = bytes - old.bytes; END;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (heading, body, tokenize = "unicode61 remove_diacritics 2")
"""


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """Something that was found.

    Attributes:
        uri: Where to read it: the element, or the document where its title, keywords or summary match.
        page_index: None for the document as a whole, and so are the element's id and category.
        title: Of the document.
        snippet: The words around what was looked for.
        score: How well it matches; higher is better, and only comparable within one search.
    """

    uri: str
    doc_ref: str
    page_index: int | None
    element_id: str | None
    category: ElementCategory | None
    title: str
    snippet: str
    score: float


class IndexedPassage(NamedTuple):
    """A row of the index: `heading` counts for more than `body`."""

    page: int | None
    element: str | None
    category: ElementCategory | None
    heading: str
    body: str


class IndexedPart(NamedTuple):
    """Passages of a content, of which `pages` pages are then done.

    Attributes:
        pending: Pages that could not be read, or not whole, for a reason that may pass.
        read_again: Pages that were pending; what is indexed of them is replaced.
    """

    content: bytes
    passages: Sequence[IndexedPassage]
    pages: int
    complete: bool
    pending: Sequence[int] = ()
    read_again: Sequence[int] = ()


class Indexed(NamedTuple):
    """How far a content is indexed: `complete` says that no page comes after `pages`."""

    pages: int = 0
    complete: bool = False
    pending: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is left to be read."""
        return self.complete and not self.pending


class MatchedPassage(NamedTuple):
    """A passage that matches, with the content it is in."""

    content: bytes
    page: int | None
    element: str | None
    category: ElementCategory | None
    snippet: str
    score: float


def hit_of(found: MatchedPassage, document: Document) -> SearchMatch:
    """Return what was found in a document."""
    uri = document_uri(document) if found.element is None else element_uri(document, found.element)
    place = document.doc_ref, found.page, found.element, found.category
    return SearchMatch(uri, *place, document.title, found.snippet, found.score)


def passages_of(page: Page) -> Iterator[IndexedPassage]:
    """Yield what a page gives to be found."""
    for element in page.elements:
        passage = passage_of(page.index, element)
        if passage is not None:
            yield passage


def passage_of(page_index: int, element: Element) -> IndexedPassage | None:
    """Return what an element gives to be found, None where it has no words."""
    text = f"{element_text(element)}{_values_behind(element)}"[:MAX_ELEMENT]
    if not any(character.isalnum() for character in text):
        return None
    heading, body = (text, "") if element.category == "heading" else ("", text)
    return IndexedPassage(page_index, element.id, element.category, heading, body)


def _values_behind(element: Element) -> str:
    """Return the values of the cells that show something else, which are looked for as well: 1250 behind "1,250"."""
    shown = element.content.get("shown_rows") if element.category in ("table", "pivot_table") else None
    if not shown:
        return ""
    rows = zip(element.content["rows"], shown, strict=False)
    values = (cell_text(value) for row, texts in rows for value, text in zip(row, texts, strict=False) if text)
    return "\n" + " ".join(values)


class SearchIndex:
    """The index as one library sees it.

    Args:
        folder: Where the file is.
        library: The same for the same roots.
    """

    def __init__(self, folder: Path, library: bytes, *, max_bytes: int = MAX_BYTES) -> None:
        self._database = Database(folder / NAME, _SCHEMA, earlier=EARLIER)
        self._library = library
        self._max_bytes = max_bytes
        self._swept = False
        self._database.write(self._arrive, None)
        self._compact()

    def shelve(self, contents: Collection[bytes]) -> dict[bytes, Indexed]:
        """Say which contents the library has now; what no library has any more leaves the index.

        Returns:
            How far each is indexed.
        """
        wanted = set(contents)

        def work(connection: sqlite3.Connection) -> dict[bytes, Indexed]:
            sql = "SELECT key, id FROM contents JOIN shelves ON content = id WHERE library = ?"
            present = dict(connection.execute(sql, (self._library,)).fetchall())
            leaving = [(self._library, number) for key, number in present.items() if key not in wanted]
            connection.executemany("DELETE FROM shelves WHERE library = ? AND content = ?", leaving)
            arriving = [(key,) for key in wanted - present.keys()]
            connection.executemany("INSERT OR IGNORE INTO contents (key, pages) VALUES (?, 0)", arriving)
            put = "INSERT OR IGNORE INTO shelves SELECT ?, id FROM contents WHERE key = ?"
            connection.executemany(put, [(self._library, key) for (key,) in arriving])
            self._sweep(connection)
            sql = "SELECT key, pages, complete FROM contents JOIN shelves ON content = id WHERE library = ?"
            rows = connection.execute(sql, (self._library,))
            state = {key: Indexed(pages, bool(complete)) for key, pages, complete in rows}
            sql = """SELECT key, page FROM pending JOIN contents ON contents.id = pending.content
                JOIN shelves ON shelves.content = contents.id WHERE library = ? ORDER BY page"""
            for key, page in connection.execute(sql, (self._library,)):
                state[key] = state[key]._replace(pending=(*state[key].pending, page))
            return state

        state: dict[bytes, Indexed] = self._database.write(work, {})
        self._compact()
        return state

    def add(self, parts: Sequence[IndexedPart]) -> bool:
        """Index parts of contents together; return whether there was room for them."""
        rows = [
            (part, [(passage, parted(passage.heading), parted(passage.body)) for passage in part.passages])
            for part in parts
        ]

        def work(connection: sqlite3.Connection) -> bool:
            [total] = connection.execute("SELECT bytes FROM total").fetchone()
            for part, passages in rows:
                found = connection.execute("SELECT id FROM contents WHERE key = ?", (part.content,)).fetchone()
                if found is None:  # it left while it was read
                    continue
                size = sum(len(heading) + len(body) for _, heading, body in passages)
                total += size
                if total > self._max_bytes:
                    return False
                size -= _take_out(connection, found[0], part.read_again)
                _insert(connection, found[0], passages)
                put = "INSERT OR IGNORE INTO pending VALUES (?, ?)"
                connection.executemany(put, [(found[0], page) for page in part.pending])
                done = "UPDATE contents SET pages = max(pages, ?), complete = ?, bytes = bytes + ? WHERE id = ?"
                connection.execute(done, (part.pages, part.complete, size, found[0]))
            return True

        return self._database.write(work, True)

    def search(self, query: str, limit: int, contents: Collection[bytes] | None = None) -> list[MatchedPassage]:
        """Return the best matches, the best first, in all contents of the library or in some.

        A content as a whole is among them only where none of its elements is.

        Raises:
            BadRequest: There is no word in the query, or too many.
        """
        for attempt in attempts(query):
            found = self._match(attempt, limit * 2, contents)
            if found:
                inside = {one.content for one in found if one.element is not None}
                return [one for one in found if one.element is not None or one.content not in inside][:limit]
        return []

    def clear(self) -> None:
        """Forget everything."""
        self._database.clear()
        self._database.write(self._arrive, None)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _match(self, written: str, limit: int, contents: Collection[bytes] | None) -> list[MatchedPassage]:
        among = "" if contents is None else f" AND key IN ({','.join('?' * len(contents))})"
        sql = f"""
            SELECT key, page, element, category, snippet(words, -1, '', '', '…', {_SNIPPET_WORDS}),
                bm25(words, {_HEADING_WEIGHT}, 1.0) AS rank_
            FROM words JOIN passages ON passages.id = words.rowid
                JOIN shelves ON shelves.content = passages.content JOIN contents ON contents.id = passages.content
            WHERE words MATCH ? AND library = ?{among}
            ORDER BY rank_, passages.content, page, passages.id LIMIT ?
        """  # noqa: S608
        values = (written, self._library, *(contents or ()), limit)

        def work(connection: sqlite3.Connection) -> list[MatchedPassage]:
            return [
                MatchedPassage(key, page, element, cast("ElementCategory | None", category), _tidy(snippet), -rank)
                for key, page, element, category, snippet, rank in connection.execute(sql, values)
            ]

        return self._database.read(work, [])

    def _arrive(self, connection: sqlite3.Connection) -> None:
        now = time.time()
        connection.execute("INSERT OR REPLACE INTO libraries VALUES (?, ?)", (self._library, now))
        forgotten = connection.execute("SELECT library FROM libraries WHERE seen < ?", (now - FORGET_AFTER,)).fetchall()
        connection.executemany("DELETE FROM shelves WHERE library = ?", forgotten)
        connection.executemany("DELETE FROM libraries WHERE library = ?", forgotten)
        self._sweep(connection)

    def _sweep(self, connection: sqlite3.Connection) -> None:
        """Remove what is on no shelf."""
        orphans = connection.execute(
            "SELECT id FROM contents WHERE NOT EXISTS (SELECT 1 FROM shelves WHERE content = id)"
        ).fetchall()
        for orphan in orphans:
            connection.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE content = ?)", orphan)
            connection.execute("DELETE FROM passages WHERE content = ?", orphan)
            connection.execute("DELETE FROM pending WHERE content = ?", orphan)
            connection.execute("DELETE FROM contents WHERE id = ?", orphan)
        if orphans:
            self._swept = True
            self._database.scrub_soon()

    def _compact(self) -> None:
        """Take the words of what was removed out of the index itself, which else keeps them until it is merged.

        In steps, so that others can search meanwhile.
        """
        if not self._swept:
            return
        self._swept = False
        pages = -_MERGE_PAGES  # the first step takes all parts of the index together
        for _ in range(_MERGE_STEPS):

            def merge(connection: sqlite3.Connection, pages: int = pages) -> int:
                before = connection.total_changes
                connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
                return connection.total_changes - before

            if self._database.write(merge, 0) < 2:  # as SQLite documents: nothing is left to do
                break
            pages = _MERGE_PAGES
        self._database.scrub_soon()
        self._database.write(lambda _: None, None)


def clear_index(folder: Path) -> None:
    """Delete the index on disk; a service that runs goes on with what it has."""
    remove(folder / NAME)


def document_passage(title: str, keywords: Iterable[str], summary: str, name: str) -> IndexedPassage:
    """Return what a document as a whole gives to be found."""
    stem = name.replace("_", " ").replace("-", " ")
    return IndexedPassage(None, None, None, title, "\n".join([summary, ", ".join(keywords), name, stem]))


def _insert(connection: sqlite3.Connection, content: int, rows: Sequence[tuple[IndexedPassage, str, str]]) -> None:
    put = "INSERT INTO passages (content, page, element, category) VALUES (?, ?, ?, ?)"
    for passage, heading, body in rows:
        number = connection.execute(put, (content, passage.page, passage.element, passage.category)).lastrowid
        connection.execute("INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)", (number, heading, body))


def _take_out(connection: sqlite3.Connection, content: int, pages: Iterable[int]) -> int:
    """Remove what is indexed of pages that were read again; return how much text that was."""
    size = 0
    for page in pages:
        place = content, page
        inside = "SELECT id FROM passages WHERE content = ? AND page = ?"
        sql = f"SELECT coalesce(sum(length(heading) + length(body)), 0) FROM words WHERE rowid IN ({inside})"  # noqa: S608
        size += connection.execute(sql, place).fetchone()[0]
        connection.execute(f"DELETE FROM words WHERE rowid IN ({inside})", place)  # noqa: S608
        connection.execute("DELETE FROM passages WHERE content = ? AND page = ?", place)
        connection.execute("DELETE FROM pending WHERE content = ? AND page = ?", place)
    return size


def _tidy(snippet: str) -> str:
    return " ".join(joined(snippet).split())
