"""Folders as documents for a caller that blocks: which files there are, and what is at any `dpe://` URI below them.

Files are parsed by worker processes, as `DocumentService` does it, without its cache, watch and search. A file that
cannot be read stays in the catalogue without pages, and its summary says why; the others go on.
"""

import asyncio
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from a2c_smcp.documents import codec, resource_reading
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.extraction import (
    DEADLINE,
    FILE_STRIKES,
    OCR_DEADLINE,
    QUARANTINED,
    STRIKES,
    page_in,
)
from a2c_smcp.documents.files import Signature, SourceFile, existing, find_files, signature_of
from a2c_smcp.documents.formats.base import Description, OpenOptions
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.ocr.base import LOCAL_MEMORY
from a2c_smcp.documents.opening import CANNOT, Unsupported
from a2c_smcp.documents.refs import assign_refs
from a2c_smcp.documents.render import Renderer, renderer_for
from a2c_smcp.documents.resource_reading import ResourceReading
from a2c_smcp.documents.worker_main import Operation, WorkerRequest
from a2c_smcp.documents.workers import MEMORY, TIRED, FileChanged, Unreadable, WorkerEnded, WorkerPool
from a2c_smcp.errors import DocumentError, DocumentNotFound
from a2c_smcp.uris.dpe import DEFAULT_FORMAT, ParsedDPEUri, build_dpe_uri, parse_dpe_uri
from a2c_smcp.uris.dpe import Format as ReplyFormat

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrPolicy

AT_ONCE: Final = 32
"""How many documents of a catalogue are described together."""

_TRIES: Final = 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document as it was described; `options` are those that opened it."""

    file: SourceFile
    signature: Signature
    record: Record
    document: Document
    options: OpenOptions


class Library:
    """The documents in some folders (or single files), served under one host.

    Args:
        excludes: Patterns as in a `.gitignore` for what to leave out.
        ocr: How text in pictures is recognized.
        passwords: Gives the password of an encrypted document by its `doc_ref`.
        deadline: The seconds a request may take; by default 30, with OCR 180.
        memory: The most address space of a worker.

    Use it as a context manager, or `close` it, to end its workers; they end with the process in any case.

    Raises:
        BadRequest: A root does not exist, or a pattern is none.
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(
        self,
        roots: Iterable[str | Path],
        *,
        host: str,
        excludes: Sequence[str] = (),
        ocr: "OcrPolicy | None" = None,
        passwords: Callable[[str], str | None] | None = None,
        deadline: float | None = None,
        memory: int = MEMORY,
    ) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._roots = [existing(root) for root in roots]
        self._excludes = Excludes.of(excludes)
        self._options = OpenOptions(ocr=ocr)
        self._passwords = passwords
        self._deadline = deadline or (DEADLINE if ocr is None else OCR_DEADLINE)
        self._files: Mapping[str, SourceFile] = {}
        self._described: dict[str, _Entry] = {}
        self._strikes: Counter[tuple[str, Signature, Operation, tuple[Any, ...]]] = Counter()
        self._bad_pages: dict[tuple[str, Signature], set[int]] = {}
        self.refresh()
        extra = LOCAL_MEMORY if ocr is not None and ocr.is_local else 0
        self._workers = _Workers(WorkerPool(memory=memory + extra, tired=TIRED + extra))
        self._end = weakref.finalize(self, self._workers.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        self._end()

    def refresh(self) -> None:
        """Look at the folders again."""
        self._files = assign_refs(find_files(self._roots, self._excludes))
        self._described = {ref: known for ref, known in self._described.items() if ref in self._files}

    @property
    def uri(self) -> str:
        """The URI of the catalogue."""
        return build_dpe_uri(self.host)

    @property
    def refs(self) -> Sequence[str]:
        """The `doc_ref` of every document, in the order of the catalogue."""
        return tuple(self._files)

    def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue, which is in the order of the paths."""
        end = None if limit is None else offset + limit
        found = []
        refs = self.refs[offset:end]
        for start in range(0, len(refs), AT_ONCE):
            part = refs[start : start + AT_ONCE]
            self._describe(part)
            for ref in part:
                try:
                    found.append(self.document(ref))
                except DocumentNotFound:  # the file has gone since the folders were looked at
                    continue
        return found

    def document(self, doc_ref: str) -> Document:
        """Return what the catalogue says of a document.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        return self._open(doc_ref).document

    def entries(self, doc_ref: str, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of a document's page index; a page that cannot be read is in it, and says so.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        window = range(self._open(doc_ref).document.page_count)[offset : offset + limit]
        if not window:
            return []
        try:
            found = self._ask(doc_ref, "The page index", "entries", window.start, len(window))
            return codec.decode_entries(found)
        except DocumentNotFound:
            raise
        except DocumentError:
            return [self._entry(doc_ref, index) for index in window]

    def page(self, doc_ref: str, index: int) -> Page:
        """Return a page.

        Raises:
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
            DocumentError: The page cannot be made out.
        """
        entry = self._open(doc_ref)
        count = entry.document.page_count
        if not 0 <= index < count:
            raise resource_reading.no_page(doc_ref, index, count, entry.record.problem)
        return codec.decode_page(self._ask(doc_ref, f"Page {index}", "page", index))

    def element(self, doc_ref: str, element_id: str) -> tuple[int, Element]:
        """Return an element in full, with the index of its page.

        Raises:
            DocumentNotFound: There is no such document.
            ElementNotFound: It has no such element.
            DocumentError: The element cannot be made out.
        """
        entry, found = self._open(doc_ref), None
        if not entry.record.problem:
            found = codec.decode_found(self._ask(doc_ref, f"Element {element_id!r}", "find", element_id))
        if found is None:
            raise resource_reading.no_element(doc_ref, element_id, entry.document.page_count, entry.record.problem)
        return found

    def read(self, uri: str, *, default_format: ReplyFormat = DEFAULT_FORMAT) -> ResourceReading:
        """Return what is at a `dpe://` URI, in the format it asks for.

        Raises:
            InvalidDPEUri: The URI breaks a rule.
            DocumentNotFound: It leads to no document of this library.
            PageOutOfRange: The document has fewer pages.
            ElementNotFound: The document has no such element.
            DocumentError: What is there cannot be made out.
        """
        parsed = resource_reading.parse_at(uri, self.host)
        renderer = renderer_for(parsed.query_params.get("format", default_format))
        text, title = self._render(parsed, renderer)
        return ResourceReading(uri, renderer.MIME_TYPE, text, title)

    def _render(self, uri: ParsedDPEUri, renderer: Renderer) -> tuple[str, str]:
        if uri.doc_ref is None:
            self.refresh()
            return renderer.render_catalogue(self.documents()), self.host
        document = self.document(uri.doc_ref)
        if uri.page_index is not None:
            page = self.page(uri.doc_ref, uri.page_index)
            wanted = uri.categories if "categories" in uri.query_params else None
            return renderer.render_page(document, page, wanted), page.title
        if uri.element_id is not None:
            index, element = self.element(uri.doc_ref, uri.element_id)
            return renderer.render_element(document, index, element), element.summary
        if uri.depth == "pages":
            entries = self.entries(uri.doc_ref, uri.offset, uri.limit)
            return renderer.render_document_with_pages(document, entries, uri.offset, uri.limit), document.title
        return renderer.render_document(document), document.title

    def _file(self, doc_ref: str) -> SourceFile:
        if doc_ref not in self._files:
            self.refresh()
        file = self._files.get(doc_ref)
        if file is None:
            raise resource_reading.no_document(doc_ref, self.host, self.refs)
        return file

    def _open(self, doc_ref: str) -> _Entry:
        """Return a document as it is now.

        Raises:
            DocumentNotFound: Its file is gone.
        """
        for _ in range(_TRIES):
            file = self._file(doc_ref)
            signature = signature_of(file.path)
            if signature is None:
                raise resource_reading.gone(doc_ref)
            known = self._described.get(doc_ref)
            if known is None or known.file != file or known.signature != signature:
                self._described.pop(doc_ref, None)
                self._describe([doc_ref])
                known = self._described.get(doc_ref)
            if known is not None:
                return self._unlocked(doc_ref, known)
        raise DocumentError(f"{doc_ref!r} keeps changing: ask again when it is written", details={"doc_ref": doc_ref})

    def _describe(self, refs: Iterable[str]) -> None:
        """Learn what these documents are, together; one that changes meanwhile stays unknown."""
        wanted = []
        for ref in refs:
            file = self._files.get(ref)
            signature = None if file is None or ref in self._described else signature_of(file.path)
            if file is not None and signature is not None:
                wanted.append((ref, file, signature))
        if wanted:
            records = self._workers.run(self._records([(file, signature) for _, file, signature in wanted]))
            for (ref, file, signature), record in zip(wanted, records, strict=True):
                if record is not None:
                    self._learn(ref, file, signature, record, self._options)

    async def _records(self, files: Iterable[tuple[SourceFile, Signature]]) -> list[Record | None]:
        return await asyncio.gather(*(self._record(file, signature, self._options) for file, signature in files))

    def _learn(self, ref: str, file: SourceFile, signature: Signature, record: Record, options: OpenOptions) -> _Entry:
        document = resource_reading.describe(self.host, ref, file, signature, record.description, record.file_type)
        entry = self._described[ref] = _Entry(file, signature, record, document, options)
        return entry

    def _unlocked(self, doc_ref: str, entry: _Entry) -> _Entry:
        """Open a document with its password, once for each version of its file."""
        if not entry.record.locked or self._passwords is None or entry.options.password is not None:
            return entry
        password = self._passwords(doc_ref)
        if not password:
            return entry
        options = OpenOptions(password, self._options.ocr)
        record = self._workers.run(self._record(entry.file, entry.signature, options))
        return entry if record is None else self._learn(doc_ref, entry.file, entry.signature, record, options)

    async def _record(self, file: SourceFile, signature: Signature, options: OpenOptions) -> Record | None:
        try:
            return codec.decode_record(await self._call(file, signature, options, "describe"))
        except FileChanged:
            return None
        except (Unreadable, WorkerEnded) as error:
            problem = CANNOT + error.message
            failed = Record(Description(summary=problem), file.file_type, problem, lasting=False)
            if isinstance(error, Unreadable):
                return failed
        try:  # what ended the worker was a page, and the document has others
            return codec.decode_record(await self._call(file, signature, options, "describe", codec.WITHOUT_PAGES))
        except FileChanged:
            return None
        except (Unreadable, Unsupported, WorkerEnded):
            return failed

    def _ask(self, doc_ref: str, what: str, operation: Operation, *arguments: Any) -> bytes:
        for _ in range(_TRIES):
            entry = self._open(doc_ref)
            try:
                call = self._call(entry.file, entry.signature, entry.options, operation, *arguments)
                return self._workers.run(call)
            except FileChanged:
                continue
            except (Unreadable, Unsupported, WorkerEnded) as error:
                raise resource_reading.unreadable(doc_ref, what, error.message) from error
        raise resource_reading.gone(doc_ref)

    async def _call(
        self, file: SourceFile, signature: Signature, options: OpenOptions, operation: Operation, *arguments: Any
    ) -> bytes:
        struck = file.place, signature, operation, arguments
        if self._strikes[struck] >= STRIKES:
            raise WorkerEnded(QUARANTINED.format(self._strikes[struck]))
        chosen = None if options == OpenOptions() else options
        request = WorkerRequest(operation, file.place, signature, arguments, chosen, self._deadline, file.root)
        try:
            return await self._workers.pool.call(request)
        except WorkerEnded:
            self._strikes[struck] += 1
            page = page_in(request)
            if page is not None:
                self._bad_pages.setdefault((file.place, signature), set()).add(page)
            raise

    def _entry(self, doc_ref: str, index: int) -> PageEntry:
        known = self._open(doc_ref)
        bad = self._bad_pages.get((known.file.place, known.signature), set())
        if index not in bad and len(bad) >= FILE_STRIKES:  # no further page is tried unless somebody asks for it
            return PageEntry(index, f"Page {index + 1}")
        try:
            return codec.decode_entries(self._ask(doc_ref, f"Page {index}", "entries", index, 1))[0]
        except DocumentNotFound:
            raise
        except DocumentError as error:
            return PageEntry(index, error.message, 0)


class _Workers:
    """A pool and the thread of its event loop, which the first request starts."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something that the pool does."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, name="a2c-library", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the workers and the thread."""
        if self._loop is None or self._thread is None:
            return
        self.run(self.pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None
