"""Filling the search index in the background: document by document, each only as far as it is not there yet."""

import asyncio
import logging
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from a2c_smcp.documents import codec
from a2c_smcp.documents.catalogue import CataloguedFile
from a2c_smcp.documents.extraction import Extraction
from a2c_smcp.documents.model import Document, Page
from a2c_smcp.documents.search import (
    Indexed,
    IndexedPart,
    IndexedPassage,
    MatchedPassage,
    SearchIndex,
    document_passage,
    passage_of,
    passages_of,
)
from a2c_smcp.documents.workers import FileChanged, Unreadable
from a2c_smcp.errors import DocumentError

PARTS_AT_ONCE: Final = 64
PAGES_AT_ONCE: Final = 32
CHARACTERS_AT_ONCE: Final = 1 << 20
MAX_WINDOWS: Final = 50
"""How many further windows of a long table are indexed: with 100 rows each, the first 5 000 rows."""

RETRY_FIRST: Final = 30.0
RETRY_LAST: Final = 3_600.0
"""Seconds until a document with pages that could not be read for a passing reason is tried again; each time twice as
long, up to the second number."""

GIVE_UP: Final = 3
"""After so many pages in a row that still cannot be read, the others of the document wait for the next time."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """How many documents can be searched, of how many."""

    indexed: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether all can."""
        return self.indexed >= self.total


class Indexer:
    """Keeps an index up with the documents of a service.

    Args:
        open_index: Makes the index; called in the thread that uses it.
        parallel: How many documents are read at a time.
    """

    def __init__(self, extraction: Extraction, open_index: Callable[[], SearchIndex], *, parallel: int) -> None:
        self._extraction = extraction
        self._open_index = open_index
        self._parallel = parallel
        self._thread = ThreadPoolExecutor(1, "a2c-documents-index")
        self._index: SearchIndex | None = None
        self._full = False
        self._retries: dict[bytes, tuple[float, float]] = {}
        self.progress = Progress(0, 0)

    @property
    def retry_in(self) -> float | None:
        """Seconds until documents are to be tried again; None where all were read."""
        due = min((at for at, _ in self._retries.values()), default=None)
        return None if due is None else max(due - time.monotonic(), 0.0)

    async def bring_up(self, documents: Iterable[tuple[CataloguedFile, Document]], *, total: int) -> None:
        """Index what is there and drop what is not; `total` counts documents that are not read yet, too."""
        found: dict[bytes, tuple[CataloguedFile, Document]] = {}
        copies: Counter[bytes] = Counter()
        private = 0
        for source, document in documents:
            content = self._extraction.identity(source)
            if content is None or self._extraction.is_private(source):
                private += 1
            else:
                copies[content] += 1
                found.setdefault(content, (source, document))
        state = await self._on_index(lambda index: index.shelve(found.keys()))
        done = private + sum(copies[content] for content, indexed in state.items() if indexed.is_whole)
        self.progress = Progress(done, total)
        self._retries = {content: retry for content, retry in self._retries.items() if content in found}
        waiting = deque(content for content in found if self._is_due(content, state.get(content, Indexed())))
        batch = _Batch()

        async def work() -> None:
            while waiting:
                content = waiting.popleft()
                if await self._index_document(content, *found[content], state.get(content, Indexed()), batch):
                    batch.done += copies[content]
                if batch.is_full:
                    await self._write(batch)

        await asyncio.gather(*(work() for _ in range(min(self._parallel, len(waiting)))))
        await self._write(batch)

    async def search(self, query: str, limit: int, contents: Iterable[bytes] | None = None) -> list[MatchedPassage]:
        """Return the best matches.

        Raises:
            BadRequest: There is no word in the query, or too many.
        """
        among = None if contents is None else list(contents)
        return await self._on_index(lambda index: index.search(query, limit, among))

    async def clear(self) -> None:
        """Forget everything; the next `bring_up` begins anew."""
        await self._on_index(lambda index: index.clear())

    async def close(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            await self._on_index(lambda index: index.close())
        self._thread.shutdown()

    def _is_due(self, content: bytes, indexed: Indexed) -> bool:
        if not indexed.complete:
            return True
        return bool(indexed.pending) and self._retries.get(content, (0.0, 0.0))[0] <= time.monotonic()

    async def _index_document(
        self, content: bytes, source: CataloguedFile, document: Document, indexed: Indexed, batch: "_Batch"
    ) -> bool:
        """Put what is not indexed of a document into batches; return whether nothing of it is left to be read."""
        done = indexed.pages
        passages: list[IndexedPassage] = []
        if done == 0 and not indexed.complete:
            name = source.file.path.name
            passages.append(document_passage(document.title, document.keywords, document.summary, name))
        try:
            again, is_whole = await self._read_again(source, indexed.pending)
            if again:
                batch.add(again.of(content, done, complete=indexed.complete), again.size)
            pages = _Pages(passages)
            for number in range(done, document.page_count):
                if self._full:
                    break
                await self._read_page(source, number, pages)
                if pages.size > CHARACTERS_AT_ONCE or (number + 1 - done) % PAGES_AT_ONCE == 0:
                    batch.add(pages.of(content, number + 1, complete=False), pages.size)
                    is_whole = is_whole and not pages.pending
                    pages = _Pages([])
                    await self._write(batch)
        except FileChanged:
            return False
        if not self._full and not indexed.complete:
            batch.add(pages.of(content, document.page_count, complete=True), pages.size)
        is_whole = is_whole and not pages.pending
        self._note_retry(content, is_whole=is_whole)
        return is_whole

    async def _read_again(self, source: CataloguedFile, pending: Sequence[int]) -> tuple["_Pages | None", bool]:
        """Read pages that were pending; return what they gave, and whether none is left."""
        pages, failed = _Pages([]), 0
        # Not always in the same order, so that a few that never succeed do not keep the others waiting.
        for number in random.sample(pending, len(pending)):
            before = len(pages.pending)
            await self._read_page(source, number, pages)
            pages.read_again.append(number)
            failed = failed + 1 if len(pages.pending) > before else 0
            if failed == GIVE_UP:
                break
        left = len(pending) - len(pages.read_again) + len(pages.pending)
        return pages if pages.read_again else None, left == 0

    async def _read_page(self, source: CataloguedFile, number: int, pages: "_Pages") -> None:
        try:
            answer = await self._extraction.read(source, "page", number, background=True)
            page = codec.decode_page(answer)
            pages.add([*passages_of(page), *await self._windows(source, page)])
            if isinstance(answer, codec.Passing):
                pages.pending.append(number)
        except FileChanged:
            raise
        except DocumentError as error:
            # A page that cannot be read cannot be found; what may pass is tried again.
            if not isinstance(error, Unreadable) or not error.lasting:
                pages.pending.append(number)

    def _note_retry(self, content: bytes, *, is_whole: bool) -> None:
        if is_whole:
            self._retries.pop(content, None)
            return
        delay = min(self._retries.get(content, (0.0, RETRY_FIRST / 2))[1] * 2, RETRY_LAST)
        self._retries[content] = time.monotonic() + delay, delay

    async def _write(self, batch: "_Batch") -> None:
        parts, done = batch.take()
        if parts and not await self._on_index(lambda index: index.add(parts)) and not self._full:
            self._full = True
            _log.warning("The search index is full: further documents are read but not found")
        self.progress = replace(self.progress, indexed=self.progress.indexed + done)

    async def _windows(self, source: CataloguedFile, page: Page) -> list[IndexedPassage]:
        """Return the further windows of the long tables of a page."""
        passages: list[IndexedPassage] = []
        for element in page.elements:
            following = element.metadata.get("next")
            for _ in range(MAX_WINDOWS):
                if not isinstance(following, str):
                    break
                found = codec.decode_found(await self._extraction.read(source, "find", following, background=True))
                if found is None:
                    break
                passage = passage_of(*found)
                passages += [passage] if passage else []
                following = found[1].metadata.get("next")
        return passages

    async def _on_index(self, work: Callable[[SearchIndex], T]) -> T:
        def run() -> T:
            if self._index is None:
                self._index = self._open_index()
            return work(self._index)

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)


class _Pages:
    """What some pages of a document give to be found."""

    def __init__(self, passages: list[IndexedPassage]) -> None:
        self.passages = passages
        self.size = 0
        self.pending: list[int] = []
        self.read_again: list[int] = []

    def add(self, found: Sequence[IndexedPassage]) -> None:
        self.passages += found
        self.size += sum(len(passage.body) for passage in found)

    def of(self, content: bytes, pages: int, *, complete: bool) -> IndexedPart:
        return IndexedPart(content, self.passages, pages, complete, self.pending, self.read_again)


class _Batch:
    """What waits to be written together, because a transaction for each small document would take longer than that."""

    def __init__(self) -> None:
        self._parts: list[IndexedPart] = []
        self._size = 0
        self.done = 0

    @property
    def is_full(self) -> bool:
        return len(self._parts) >= PARTS_AT_ONCE or self._size > CHARACTERS_AT_ONCE

    def add(self, part: IndexedPart, size: int) -> None:
        self._parts.append(part)
        self._size += size

    def take(self) -> tuple[list[IndexedPart], int]:
        taken = self._parts, self.done
        self._parts, self._size, self.done = [], 0, 0
        return taken
