"""Folders as documents for many readers: parsed in workers, remembered on disk, watched, and searched.

    async with DocumentService(["reports"], host="com.example.docs") as service:
        page = await service.read("dpe://com.example.docs/annual-report.pdf/pages/3?format=markdown")

The event loop never waits for a disk or a parser.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from a2c_smcp.documents import codec, resource_reading
from a2c_smcp.documents.catalogue import CatalogueChanges, CataloguedFile, DocumentCatalogue
from a2c_smcp.documents.catalogue_keeper import CatalogueKeeper
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.database import cache_folder
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.extraction import Extraction
from a2c_smcp.documents.files import existing
from a2c_smcp.documents.formats.base import OutlineEntry
from a2c_smcp.documents.formats.registry import formats
from a2c_smcp.documents.indexing import Indexer, Progress
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.ocr.base import LOCAL_MEMORY, OcrPolicy
from a2c_smcp.documents.opening import Unsupported
from a2c_smcp.documents.render import Renderer, renderer_for
from a2c_smcp.documents.resource_reading import ResourceReading
from a2c_smcp.documents.search import SearchIndex, SearchMatch, hit_of
from a2c_smcp.documents.store import MAX_BYTES, Store
from a2c_smcp.documents.worker_main import Operation
from a2c_smcp.documents.workers import MEMORY, TIRED, FileChanged, Unreadable, WorkerEnded, WorkerPool
from a2c_smcp.errors import BadRequest, DocumentError
from a2c_smcp.uris.dpe import DEFAULT_FORMAT, ParsedDPEUri, build_dpe_uri, parse_dpe_uri
from a2c_smcp.uris.dpe import Format as ReplyFormat

CATALOGUE_PATIENCE: Final = 20.0
"""Seconds after which the catalogue is told with documents that have not been read yet, and says so of them."""

SEARCH_PATIENCE: Final = 5.0
"""Seconds a search waits for documents that are still being indexed."""

MAX_HITS: Final = 200
DPI: Final = range(18, 601)
_TRIES: Final = 3
T = TypeVar("T")


class DocumentService:
    """The documents in some folders (or single files), served under one host while the context is entered.

    Args:
        cache: Where results and index are kept; by default in the user's cache folder.
        excludes: Patterns as in a `.gitignore` for what to leave out.
        ocr: How text in pictures is recognized; without it, it is not.
        passwords: Gives the password of an encrypted document by its `doc_ref`; called in a thread, once for each
            version of a file. What it opens is not kept on disk and not searched.
        workers: The most worker processes; by default one a core, at most four.
        watch: Whether to watch the folders; without it they are looked at when they are asked for.
        deadline: The seconds a request may take; by default 30, with OCR 180.
        memory: The most address space of a worker.
        cache_bytes: How much the results may take on disk.
        index: Whether to index for searching; without it `search` finds nothing.

    Raises:
        BadRequest: A root does not exist, or a pattern is none.
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(
        self,
        roots: Iterable[str | Path],
        *,
        host: str,
        cache: Path | None = None,
        excludes: Sequence[str] = (),
        ocr: OcrPolicy | None = None,
        passwords: Callable[[str], str | None] | None = None,
        workers: int | None = None,
        watch: bool = True,
        deadline: float | None = None,
        memory: int | None = None,
        cache_bytes: int = MAX_BYTES,
        index: bool = True,
    ) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._roots = [existing(root) for root in roots]
        self._excludes = Excludes.of(excludes)
        self._cache = cache or cache_folder()
        self._cache_bytes = cache_bytes
        self._ocr = ocr
        self._passwords = passwords
        self._watch = watch
        self._deadline = deadline
        self._index = index
        extra = LOCAL_MEMORY if ocr is not None and ocr.is_local else 0
        self._pool = WorkerPool(workers, memory=(memory or MEMORY) + extra, tired=TIRED + extra)
        self._catalogue = DocumentCatalogue(self.host)
        self._rendered: dict[ReplyFormat, tuple[int, str]] = {}

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(formats)  # or finding them would count as what it costs to look at the folders
        store = await asyncio.to_thread(Store, self._cache, max_bytes=self._cache_bytes)
        self._extraction = await asyncio.to_thread(
            Extraction, self._pool, store, ocr=self._ocr, passwords=self._passwords, deadline=self._deadline
        )
        shelf = hashlib.sha256("\0".join(map(str, self._roots)).encode("utf-8", "surrogatepass")).digest()
        self._indexer = Indexer(
            self._extraction, lambda: SearchIndex(self._cache, shelf), parallel=max(1, self._pool.size - 1)
        )
        self._keeper = CatalogueKeeper(
            self._catalogue,
            self._roots,
            self._excludes,
            self._extraction,
            self._indexer,
            host=self.host,
            at_once=self._pool.size * 2,
            watch=self._watch,
            index=self._index,
        )
        try:
            await self._keeper.start()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._keeper.close()
        await self._pool.close()
        await self._extraction.close()
        await self._indexer.close()

    @property
    def uri(self) -> str:
        """The URI of the catalogue."""
        return build_dpe_uri(self.host)

    @property
    def progress(self) -> Progress:
        """How many documents can be searched, of how many."""
        indexed = self._indexer.progress
        return Progress(indexed.indexed, max(len(self._catalogue), indexed.indexed))

    @property
    def worker_pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        return self._pool.pids

    def on_change(self, handler: Callable[[CatalogueChanges], None]) -> Callable[[], None]:
        """Call a handler with what has changed, a burst at a time; return what ends that."""
        return self._keeper.on_change(handler)

    async def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue, which is in the order of the paths."""
        await self._keeper.freshen()
        window = self._catalogue.window(offset, limit)
        await self._keeper.described(window, CATALOGUE_PATIENCE)
        return [self._catalogue.entry(source) for source in window]

    async def document(self, doc_ref: str) -> Document:
        """Return what the catalogue says of a document.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        return (await self._with(doc_ref, self._described))[1]

    async def read(self, uri: str, *, default_format: ReplyFormat = DEFAULT_FORMAT) -> ResourceReading:
        """Return what is at a `dpe://` URI, in the format it asks for.

        Raises:
            InvalidDPEUri: The URI breaks a rule.
            DocumentNotFound: It leads to no document of this service.
            PageOutOfRange: The document has fewer pages.
            ElementNotFound: The document has no such element.
            DocumentError: What is there cannot be made out.
        """
        parsed = resource_reading.parse_at(uri, self.host)
        reply: ReplyFormat = parsed.format if "format" in parsed.query_params else default_format
        renderer = renderer_for(reply)
        if parsed.doc_ref is None:
            text, title = await self._read_catalogue(reply), self.host
        else:
            text, title = await self._read_document(parsed, parsed.doc_ref, renderer)
        return ResourceReading(uri, renderer.MIME_TYPE, text, title)

    async def entries(self, doc_ref: str, offset: int, limit: int) -> list[PageEntry]:
        """Return that part of a document's page index; a page that cannot be read is in it, and says so.

        Raises:
            DocumentNotFound: There is no such document.
        """
        return await self._with(doc_ref, lambda source: self._entries(source, offset, limit))

    async def page(self, doc_ref: str, index: int) -> Page:
        """Return a page.

        Raises:
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
            DocumentError: The page cannot be made out.
        """
        return await self._with(doc_ref, lambda source: self._page(source, index))

    async def element(self, doc_ref: str, element_id: str) -> tuple[int, Element]:
        """Return an element in full, with the index of its page.

        Raises:
            DocumentNotFound: There is no such document.
            ElementNotFound: It has no such element.
            DocumentError: The element cannot be made out.
        """
        return await self._with(doc_ref, lambda source: self._element(source, element_id))

    async def outline(self, doc_ref: str) -> list[OutlineEntry]:
        """Return a document's own table of contents, empty where it has none.

        Raises:
            DocumentNotFound: There is no such document.
            DocumentError: It cannot be made out.
        """
        read = await self._with(doc_ref, lambda source: self._ask(source, "The outline", "outline"))
        return codec.decode_outline(read)

    async def render_page(self, doc_ref: str, page_index: int, dpi: int = 110) -> bytes:
        """Return a page as PNG.

        Raises:
            BadRequest: That is no resolution.
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
            DocumentError: Its pages have no look, or this one cannot be drawn.
        """
        if dpi not in DPI:
            raise BadRequest(f"dpi must be an integer from {DPI.start} to {DPI.stop - 1}; got {dpi!r}")

        async def work(source: CataloguedFile) -> bytes:
            await self._check_page(source, page_index)
            return await self._ask(source, f"Page {page_index}", "render", page_index, dpi)

        return await self._with(doc_ref, work)

    async def element_image(self, doc_ref: str, element_id: str) -> tuple[str, bytes]:
        """Return the MIME type and the bytes of the picture of an element.

        Raises:
            DocumentNotFound: There is no such document.
            ElementNotFound: It has no such element, or that has no picture.
            DocumentError: The picture cannot be made out.
        """

        async def work(source: CataloguedFile) -> tuple[str, bytes]:
            what = f"The picture of element {element_id!r}"
            picture = codec.decode_picture(await self._ask(source, what, "image", element_id))
            if picture is None:
                record, document = await self._described(source)
                problem = record.problem or "there is none with a picture"
                raise resource_reading.no_element(source.doc_ref, element_id, document.page_count, problem)
            return picture

        return await self._with(doc_ref, work)

    async def complete_refs(self, prefix: str = "") -> list[str]:
        """Return every `doc_ref` that begins so, sorted."""
        await self._keeper.freshen()
        wanted = prefix.casefold()
        return sorted(ref for ref in self._catalogue.refs if ref.casefold().startswith(wanted))

    async def complete_pages(self, doc_ref: str, prefix: str = "") -> list[str]:
        """Return every page index of a document that begins so, in their order.

        Raises:
            DocumentNotFound: There is no such document.
        """
        count = (await self.document(doc_ref)).page_count
        return [number for number in map(str, range(count)) if number.startswith(prefix)]

    async def complete_elements(self, doc_ref: str, page_index: int, prefix: str = "") -> list[str]:
        """Return the id of every element of a page that begins so, sorted.

        Raises:
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
            DocumentError: The page cannot be made out.
        """
        page = await self.page(doc_ref, page_index)
        return sorted(element.id for element in page.elements if element.id.startswith(prefix))

    async def search(self, query: str, *, limit: int = 20, doc_ref: str | None = None) -> list[SearchMatch]:
        """Return what matches best, the best first: words, `"phrases"`, `beginn*`, in any script.

        Documents that are still being indexed after a few seconds are not found yet: see `progress`.

        Raises:
            BadRequest: There is no word in the query, or the limit is none.
            DocumentNotFound: There is no such document.
        """
        if not 1 <= limit <= MAX_HITS:
            raise BadRequest(f"limit must be an integer from 1 to {MAX_HITS}; got {limit!r}")
        await self._keeper.freshen()
        only = None if doc_ref is None else await self._keeper.source(doc_ref)
        await self._keeper.wait_until_indexed(SEARCH_PATIENCE)
        places: dict[bytes, str] = {}
        for source in self._catalogue.sources if only is None else [only]:
            places.setdefault(self._extraction.identity(source) or b"", source.doc_ref)
        found = await self._indexer.search(query, limit, None if only is None else places)
        documents = [self._catalogue.document(places.get(one.content, "")) for one in found]
        hits = [hit_of(one, document) for one, document in zip(found, documents, strict=True) if document is not None]
        # Equals come in the order of the catalogue, whichever was indexed first.
        return sorted(hits, key=lambda hit: (-hit.score, hit.doc_ref))

    async def clear_cache(self) -> None:
        """Forget what is on disk; everything is read and indexed anew when it is needed."""
        await self._extraction.clear()
        await self._indexer.clear()
        self._keeper.reindex()

    async def _read_catalogue(self, reply: ReplyFormat) -> str:
        documents = await self.documents()
        if reply == "json":
            return self._catalogue.json()
        version = self._catalogue.version
        known = self._rendered.get(reply)
        if known is None or known[0] != version:
            known = version, await asyncio.to_thread(renderer_for(reply).render_catalogue, documents)
            self._rendered[reply] = known
        return known[1]

    async def _read_document(self, uri: ParsedDPEUri, doc_ref: str, renderer: Renderer) -> tuple[str, str]:
        async def work(source: CataloguedFile) -> tuple[str, str]:
            _, document = await self._described(source)
            if uri.page_index is not None:
                page = await self._page(source, uri.page_index)
                wanted = uri.categories if "categories" in uri.query_params else None
                return renderer.render_page(document, page, wanted), page.title
            if uri.element_id is not None:
                index, element = await self._element(source, uri.element_id)
                return renderer.render_element(document, index, element), element.summary
            if uri.depth == "pages":
                entries = await self._entries(source, uri.offset, uri.limit)
                return renderer.render_document_with_pages(document, entries, uri.offset, uri.limit), document.title
            return renderer.render_document(document), document.title

        return await self._with(doc_ref, work)

    async def _with(self, doc_ref: str, work: Callable[[CataloguedFile], Awaitable[T]]) -> T:
        """Do something with a document's file; where it changes meanwhile, with what it is then."""
        for _ in range(_TRIES):
            source = await self._keeper.source(doc_ref)
            try:
                return await work(source)
            except FileChanged:
                await self._keeper.refresh()
        raise DocumentError(f"{doc_ref!r} keeps changing: ask again when it is written", details={"doc_ref": doc_ref})

    async def _described(self, source: CataloguedFile) -> tuple[Record, Document]:
        record = await self._keeper.record(source)
        document = self._catalogue.document(source.doc_ref)
        if document is None:
            raise FileChanged
        return record, document

    async def _check_page(self, source: CataloguedFile, index: int) -> None:
        record = await self._keeper.record(source)
        count = record.description.page_count
        if not 0 <= index < count:
            raise resource_reading.no_page(source.doc_ref, index, count, record.problem)

    async def _page(self, source: CataloguedFile, index: int) -> Page:
        await self._check_page(source, index)
        return codec.decode_page(await self._ask(source, f"Page {index}", "page", index))

    async def _element(self, source: CataloguedFile, element_id: str) -> tuple[int, Element]:
        record = await self._keeper.record(source)
        found = None
        if not record.problem:
            found = codec.decode_found(await self._ask(source, f"Element {element_id!r}", "find", element_id))
        if found is None:
            raise resource_reading.no_element(source.doc_ref, element_id, record.description.page_count, record.problem)
        return found

    async def _entries(self, source: CataloguedFile, offset: int, limit: int) -> list[PageEntry]:
        record = await self._keeper.record(source)
        window = range(record.description.page_count)[offset : offset + limit]
        return await self._extraction.entries(source, window.start, len(window)) if window else []

    async def _ask(self, source: CataloguedFile, what: str, operation: Operation, *arguments: object) -> bytes:
        try:
            return await self._extraction.read(source, operation, *arguments)
        except (Unreadable, WorkerEnded, Unsupported) as error:
            raise resource_reading.unreadable(source.doc_ref, what, error.message) from error
