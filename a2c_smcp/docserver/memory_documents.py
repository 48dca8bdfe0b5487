"""Documents in memory that a program creates: from Markdown, from pages, or from functions that return either.

A function is called at the first read of its document, and again after `changed`.
"""

import difflib
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.docserver.ports import OnChange
from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, PagedDocument
from a2c_smcp.documents.formats.markdown import open_text
from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.render import renderer_for
from a2c_smcp.errors import BadRequest, DocumentNotFound, ElementNotFound, PageOutOfRange
from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, parse_dpe_uri

Content: TypeAlias = str | Sequence[Page] | Sequence[Element]
"""Markdown, or pages in their order, or the elements of a single page."""

_log = logging.getLogger(__name__)

ContentFactory: TypeAlias = Callable[[], Content] | Callable[[], Awaitable[Content]]


@dataclass(frozen=True, slots=True)
class DocumentProperties:
    """Properties of a document in the catalogue; missing ones are taken from its content."""

    title: str = ""
    keywords: tuple[str, ...] = ()
    summary: str = ""
    file_uri: str = ""
    file_type: str = "md"


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The `doc_ref`s of added, removed and updated documents."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryResource:
    """The content of a URI."""

    uri: str
    mime_type: str
    text: str


@dataclass(frozen=True, slots=True)
class _BuiltDocument:
    document: Document
    parts: PagedDocument
    pages: tuple[Page, ...]
    problem: str = ""


@dataclass(slots=True)
class _StoredDocument:
    content: Content | ContentFactory
    properties: DocumentProperties
    modified: str
    made: _BuiltDocument | None = None
    version: int = 0


class MemoryDocuments:
    """Documents of one host.

    Raises:
        InvalidDPEUri: The host is not valid in a URI.
    """

    def __init__(self, host: str) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._documents: dict[str, _StoredDocument] = {}
        self._handlers: list[OnChange] = []

    # For the author

    def put(self, doc_ref: str, content: Content | ContentFactory, facts: DocumentProperties | None = None) -> None:
        """Add or replace the document with this `doc_ref`.

        Raises:
            BadRequest: The content of an element does not match its category, or two elements have the same id.
            InvalidDPEUri: The `doc_ref` is not valid in a URI.
        """
        build_dpe_uri(self.host, doc_ref)
        if not callable(content):
            _build(content)  # report errors to the author, not to the first reader
        known = doc_ref in self._documents
        self._documents[doc_ref] = _StoredDocument(content, facts or DocumentProperties(), _now())
        self._notify(DocumentChange(updated=(doc_ref,)) if known else DocumentChange(added=(doc_ref,)))

    def remove(self, doc_ref: str) -> None:
        """Remove a document if it exists."""
        if self._documents.pop(doc_ref, None) is not None:
            self._notify(DocumentChange(removed=(doc_ref,)))

    def changed(self, doc_ref: str) -> None:
        """Report that the function of a document returns new content.

        Raises:
            DocumentNotFound: The document does not exist.
        """
        item = self._stored(doc_ref)
        item.made, item.modified, item.version = None, _now(), item.version + 1
        self._notify(DocumentChange(updated=(doc_ref,)))

    def has(self, doc_ref: str) -> bool:
        """Whether the document exists."""
        return doc_ref in self._documents

    # For the server

    def on_change(self, handler: OnChange) -> Callable[[], None]:
        """Call `handler` after each change; returns an unsubscribe function."""
        self._handlers.append(handler)
        return lambda: self._handlers.remove(handler) if handler in self._handlers else None

    async def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return a part of the catalogue, in the order in which documents were added."""
        end = None if limit is None else offset + limit
        refs = list(self._documents)[offset:end]
        return [(await self._made(ref)).document for ref in refs if ref in self._documents]

    async def read(self, uri: str) -> MemoryResource:
        """Read a `dpe://` URI.

        Raises:
            InvalidDPEUri: The URI is not valid.
            DocumentNotFound: The document does not exist.
            PageOutOfRange: The page does not exist.
            ElementNotFound: The element does not exist.
        """
        parsed = parse_dpe_uri(uri)
        if parsed.host.lower() != self.host.lower():
            raise DocumentNotFound(f"There are no documents at {parsed.host!r}", details={"host": parsed.host})
        renderer = renderer_for(parsed.format)
        if parsed.doc_ref is None:
            return MemoryResource(uri, renderer.MIME_TYPE, renderer.render_catalogue(await self.documents()))
        made = await self._made(parsed.doc_ref)
        return MemoryResource(uri, renderer.MIME_TYPE, _render(made, parsed))

    async def complete_refs(self, prefix: str) -> list[str]:
        """Return the `doc_ref`s with this prefix, sorted."""
        return sorted(ref for ref in self._documents if ref.startswith(prefix))

    async def complete_pages(self, doc_ref: str, prefix: str) -> list[str]:
        """Return the page indexes with this prefix."""
        count = (await self._made(doc_ref)).document.page_count
        return [str(index) for index in range(count) if str(index).startswith(prefix)]

    async def complete_elements(self, doc_ref: str, page_index: int, prefix: str) -> list[str]:
        """Return the ids of the elements of a page with this prefix, sorted."""
        pages = (await self._made(doc_ref)).pages[page_index : page_index + 1]
        return sorted(element.id for page in pages for element in page.elements if element.id.startswith(prefix))

    def _stored(self, doc_ref: str) -> _StoredDocument:
        item = self._documents.get(doc_ref)
        if item is None:
            nearest = difflib.get_close_matches(doc_ref, self._documents, n=3)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise DocumentNotFound(
                f"There is no document {doc_ref!r} at {build_dpe_uri(self.host)}{hint}",
                details={"doc_ref": doc_ref, "nearest": nearest} if nearest else {"doc_ref": doc_ref},
            )
        return item

    async def _made(self, doc_ref: str) -> _BuiltDocument:
        item = self._stored(doc_ref)
        if item.made is not None:
            return item.made
        version = item.version
        try:
            content = item.content() if callable(item.content) else item.content
            parts, pages = _build(await content if inspect.isawaitable(content) else content)
        except Exception as error:  # noqa: BLE001 - code of the author; other documents are not affected
            _log.exception("document function failed", extra={"doc": doc_ref})
            return self._failed(doc_ref, item, error)
        made = _BuiltDocument(self._document(doc_ref, item, parts.describe()), parts, pages)
        if item.version == version:  # otherwise it changed during the call
            item.made = made
        return made

    def _failed(self, doc_ref: str, item: _StoredDocument, error: Exception) -> _BuiltDocument:
        """Return a document without pages whose summary says why; its function is called again at the next read."""
        why = error.message if isinstance(error, BadRequest) else type(error).__name__
        problem = f"Cannot be read: its function failed ({why})"
        document = replace(self._document(doc_ref, item, Description()), summary=problem)
        return _BuiltDocument(document, PagedDocument(Description(), ()), (), problem)

    def _document(self, doc_ref: str, item: _StoredDocument, known: Description) -> Document:
        facts = item.properties
        return Document(
            host=self.host,
            doc_ref=doc_ref,
            file_uri=facts.file_uri or build_dpe_uri(self.host, doc_ref),
            file_type=facts.file_type,
            title=facts.title or known.title or doc_ref,
            page_count=known.page_count,
            keywords=facts.keywords or known.keywords,
            summary=facts.summary or known.summary,
            last_modified=item.modified,
        )

    def _notify(self, change: DocumentChange) -> None:
        for handler in list(self._handlers):
            notify_guarded(_log, "a handler of changed documents", handler, change)


def _build(content: Content) -> tuple[PagedDocument, tuple[Page, ...]]:
    if isinstance(content, str):
        parts = open_text(content)
        return parts, tuple(parts.page(index) for index in range(parts.describe().page_count))
    pages = _pages(content)
    _check(element for page in pages for element in page.elements)
    return PagedDocument(Description(title=pages[0].title if pages else "", page_count=len(pages)), pages), pages


def _pages(content: Sequence[Page] | Sequence[Element]) -> tuple[Page, ...]:
    pages = [part for part in content if isinstance(part, Page)]
    if len(pages) == len(content):
        return tuple(replace(page, index=index) for index, page in enumerate(pages))
    elements = tuple(part for part in content if isinstance(part, Element))
    if len(elements) != len(content):
        raise BadRequest("The content of a document must be Markdown, pages, or the elements of one page")
    return (Page(0, "", elements),)


def _check(elements: Iterable[Element]) -> None:
    seen: set[str] = set()
    for element in elements:
        if element.id in seen:
            raise BadRequest(f"Two elements of the document have the id {element.id!r}")
        seen.add(element.id)
        validate_content(element.category, element.content)


def _render(made: _BuiltDocument, uri: ParsedDPEUri) -> str:
    document, parts, renderer = made.document, made.parts, renderer_for(uri.format)
    if uri.page_index is not None:
        if uri.page_index >= document.page_count:
            why = made.problem or f"it has {document.page_count}, counted from 0"
            raise PageOutOfRange(
                f"{document.doc_ref!r} has no page {uri.page_index}: {why}",
                details={
                    "doc_ref": document.doc_ref,
                    "page_index": uri.page_index,
                    "page_count": document.page_count,
                },
            )
        wanted = uri.categories if "categories" in uri.query_params else None
        return renderer.render_page(document, parts.page(uri.page_index), wanted)
    if uri.element_id is not None:
        found = parts.find(uri.element_id)
        if found is None:
            raise ElementNotFound(
                f"{document.doc_ref!r} has no element {uri.element_id!r}"
                + (f": {made.problem}" if made.problem else ""),
                details={"doc_ref": document.doc_ref, "element_id": uri.element_id},
            )
        return renderer.render_element(document, *found)
    if uri.depth == "pages":
        return renderer.render_document_with_pages(
            document, parts.entries(uri.offset, uri.limit), uri.offset, uri.limit
        )
    return renderer.render_document(document)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
