"""Filling the search index in the background: document by document, each only as far as it is not there yet."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from a2c_smcp.documents import codec
from a2c_smcp.documents.catalogue import Source
from a2c_smcp.documents.extraction import Extraction
from a2c_smcp.documents.model import Document, Page
from a2c_smcp.documents.search import Found, Part, Passage, SearchIndex, document_passage, passage_of, passages_of
from a2c_smcp.documents.workers import FileChanged
from a2c_smcp.errors import DocumentError

PARTS_AT_ONCE: Final = 64
PAGES_AT_ONCE: Final = 32
CHARACTERS_AT_ONCE: Final = 1 << 20
MAX_WINDOWS: Final = 50
"""How many further windows of a long table are indexed: with 100 rows each, the first 5 000 rows."""

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
        self.progress = Progress(0, 0)

    async def bring_up(self, documents: Iterable[tuple[Source, Document]], *, total: int) -> None:
        """Index what is there and drop what is not; `total` counts documents that are not read yet, too."""
        found: dict[bytes, tuple[Source, Document]] = {}
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
        done = private + sum(copies[content] for content, pages in state.items() if pages is None)
        self.progress = Progress(done, total)
        waiting = deque(content for content in found if state.get(content, 0) is not None)
        batch = _Batch()

        async def work() -> None:
            while waiting:
                content = waiting.popleft()
                if await self._index_document(content, *found[content], state.get(content) or 0, batch):
                    batch.done += copies[content]
                if batch.is_full:
                    await self._write(batch)

        await asyncio.gather(*(work() for _ in range(min(self._parallel, len(waiting)))))
        await self._write(batch)

    async def search(self, query: str, limit: int, contents: Iterable[bytes] | None = None) -> list[Found]:
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

    async def _index_document(
        self, content: bytes, source: Source, document: Document, done: int, batch: "_Batch"
    ) -> bool:
        """Put a document from page `done` on into batches; return whether it is through."""
        passages: list[Passage] = []
        if done == 0:
            name = source.file.path.name
            passages.append(document_passage(document.title, document.keywords, document.summary, name))
        size = 0
        for number in range(done, document.page_count):
            if self._full:
                break
            try:
                page = codec.decode_page(await self._extraction.read(source, "page", number, background=True))
                found = [*passages_of(page), *await self._windows(source, page)]
            except FileChanged:
                return False
            except DocumentError:
                continue  # a page that cannot be read cannot be found
            passages += found
            size += sum(len(passage.body) for passage in found)
            if size > CHARACTERS_AT_ONCE or (number + 1 - done) % PAGES_AT_ONCE == 0:
                batch.add(Part(content, passages, number + 1, complete=False), size)
                passages, size = [], 0
                await self._write(batch)
        if not self._full:
            batch.add(Part(content, passages, document.page_count, complete=True), size)
        return True

    async def _write(self, batch: "_Batch") -> None:
        parts, done = batch.take()
        if parts and not await self._on_index(lambda index: index.add(parts)) and not self._full:
            self._full = True
            _log.warning("The search index is full: further documents are read but not found")
        self.progress = replace(self.progress, indexed=self.progress.indexed + done)

    async def _windows(self, source: Source, page: Page) -> list[Passage]:
        """Return the further windows of the long tables of a page."""
        passages: list[Passage] = []
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


class _Batch:
    """What waits to be written together, because a transaction for each small document would take longer than that."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._size = 0
        self.done = 0

    @property
    def is_full(self) -> bool:
        return len(self._parts) >= PARTS_AT_ONCE or self._size > CHARACTERS_AT_ONCE

    def add(self, part: Part, size: int) -> None:
        self._parts.append(part)
        self._size += size

    def take(self) -> tuple[list[Part], int]:
        taken = self._parts, self.done
        self._parts, self._size, self.done = [], 0, 0
        return taken
