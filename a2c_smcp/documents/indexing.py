"""Filling the search index in the background: document by document, each only as far as it is not there yet."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from a2c_smcp.documents import codec
from a2c_smcp.documents.catalogue import Source
from a2c_smcp.documents.extraction import Extraction
from a2c_smcp.documents.model import Document, Page
from a2c_smcp.documents.search import Found, Passage, SearchIndex, document_passage, passage_of, passages_of
from a2c_smcp.documents.workers import FileChanged
from a2c_smcp.errors import DocumentError

PAGES_AT_ONCE: Final = 32
CHARACTERS_AT_ONCE: Final = 1 << 20
MAX_WINDOWS: Final = 25
"""How many further windows of a long table are indexed: with 200 rows each, the first 5 000 rows."""

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
        self._done: set[bytes] = set()
        self.progress = Progress(0, 0)

    async def bring_up(self, documents: Iterable[tuple[Source, Document]], *, total: int) -> None:
        """Index what is there and drop what is not; `total` counts documents that are not read yet, too."""
        found: dict[bytes, tuple[Source, Document]] = {}
        contents: list[bytes] = []
        private = 0
        for source, document in documents:
            content = self._extraction.identity(source)
            if content is None or self._extraction.is_private(source):
                private += 1
            else:
                contents.append(content)
                found.setdefault(content, (source, document))

        def count() -> None:
            self.progress = Progress(private + sum(content in self._done for content in contents), total)

        state = await self._on_index(lambda index: index.shelve(found.keys()))
        self._done = {content for content, pages in state.items() if pages is None}
        count()
        waiting = [content for content in found if content not in self._done]

        async def work() -> None:
            while waiting:
                content = waiting.pop(0)
                source, document = found[content]
                if await self._index_document(content, source, document, state.get(content) or 0):
                    self._done.add(content)
                    count()

        await asyncio.gather(*(work() for _ in range(min(self._parallel, len(waiting)))))

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
        self._done.clear()

    async def close(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            await self._on_index(lambda index: index.close())
        self._thread.shutdown()

    async def _index_document(self, content: bytes, source: Source, document: Document, done: int) -> bool:
        """Index a document from page `done` on; return whether it is through."""
        passages: list[Passage] = []
        if done == 0:
            name = source.file.path.name
            passages.append(document_passage(document.title, document.keywords, document.summary, name))
        size, room = 0, not self._full
        for number in range(done, document.page_count):
            if not room:
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
                room = await self._add(content, passages, pages=number + 1, complete=False)
                passages, size = [], 0
        if room:
            room = await self._add(content, passages, pages=document.page_count, complete=True)
        if not room and not self._full:
            self._full = True
            _log.warning("The search index is full: further documents are read but not found")
        return True

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

    async def _add(self, content: bytes, passages: list[Passage], *, pages: int, complete: bool) -> bool:
        return await self._on_index(lambda index: index.add(content, passages, pages=pages, complete=complete))

    async def _on_index(self, work: Callable[[SearchIndex], T]) -> T:
        def run() -> T:
            if self._index is None:
                self._index = self._open_index()
            return work(self._index)

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)
