"""Documents that a program makes itself, in memory: of Markdown, of pages, or of functions that give either.

A function is called when its document is first looked at, and again after `changed`.
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
    """What the catalogue says of a document; what is left out comes from its content, where it tells."""

    title: str = ""
    keywords: tuple[str, ...] = ()
    summary: str = ""
    file_uri: str = ""
    file_type: str = "md"


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The `doc_ref`s of what is not as it was."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryResource:
    """What is at a URI."""

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
class _Entry:
    content: Content | ContentFactory
    facts: DocumentProperties
    modified: str
    made: _BuiltDocument | None = None
    version: int = 0


class MemoryDocuments:
    """Documents of one host.

    Raises:
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(self, host: str) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._items: dict[str, _Entry] = {}
        self._handlers: list[OnChange] = []

    # For the author

    def put(self, doc_ref: str, content: Content | ContentFactory, facts: DocumentProperties | None = None) -> None:
        """Put a document under `doc_ref`, in place of one that is there.

        Raises:
            BadRequest: An element's content has not the shape of its category, or two elements share an id.
            InvalidDPEUri: The `doc_ref` cannot stand in a URI.
        """
        build_dpe_uri(self.host, doc_ref)
        if not callable(content):
            _build(content)  # a mistake is told to its author, not to the first reader
        known = doc_ref in self._items
        self._items[doc_ref] = _Entry(content, facts or DocumentProperties(), _now())
        self._tell(DocumentChange(updated=(doc_ref,)) if known else DocumentChange(added=(doc_ref,)))

    def remove(self, doc_ref: str) -> None:
        """Take a document away; one that is not there is no mistake."""
        if self._items.pop(doc_ref, None) is not None:
            self._tell(DocumentChange(removed=(doc_ref,)))

    def changed(self, doc_ref: str) -> None:
        """Say that the function of a document would give something else now.

        Raises:
            DocumentNotFound: There is no such document.
        """
        item = self._item(doc_ref)
        item.made, item.modified, item.version = None, _now(), item.version + 1
        self._tell(DocumentChange(updated=(doc_ref,)))

    def has(self, doc_ref: str) -> bool:
        """Whether there is such a document."""
        return doc_ref in self._items

    # For the server

    def on_change(self, handler: OnChange) -> Callable[[], None]:
        """Call `handler` at each change."""
        self._handlers.append(handler)
        return lambda: self._handlers.remove(handler) if handler in self._handlers else None

    async def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue, in the order in which documents were put."""
        end = None if limit is None else offset + limit
        refs = list(self._items)[offset:end]
        return [(await self._made(ref)).document for ref in refs if ref in self._items]

    async def read(self, uri: str) -> MemoryResource:
        """Return what is at a `dpe://` URI.

        Raises:
            InvalidDPEUri: The URI breaks a rule.
            DocumentNotFound: There is no such document here.
            PageOutOfRange: The document has fewer pages.
            ElementNotFound: The document has no such element.
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
        """Return the `doc_ref`s that begin so."""
        return sorted(ref for ref in self._items if ref.startswith(prefix))

    async def complete_pages(self, doc_ref: str, prefix: str) -> list[str]:
        """Return the page indexes that begin so."""
        count = (await self._made(doc_ref)).document.page_count
        return [str(index) for index in range(count) if str(index).startswith(prefix)]

    async def complete_elements(self, doc_ref: str, page_index: int, prefix: str) -> list[str]:
        """Return the ids of the elements of a page that begin so."""
        pages = (await self._made(doc_ref)).pages[page_index : page_index + 1]
        return sorted(element.id for page in pages for element in page.elements if element.id.startswith(prefix))

    def _item(self, doc_ref: str) -> _Entry:
        item = self._items.get(doc_ref)
        if item is None:
            nearest = difflib.get_close_matches(doc_ref, self._items, n=3)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise DocumentNotFound(
                f"There is no document {doc_ref!r} at {build_dpe_uri(self.host)}{hint}",
                details={"doc_ref": doc_ref, "nearest": nearest} if nearest else {"doc_ref": doc_ref},
            )
        return item

    async def _made(self, doc_ref: str) -> _BuiltDocument:
        item = self._item(doc_ref)
        if item.made is not None:
            return item.made
        version = item.version
        try:
            content = item.content() if callable(item.content) else item.content
            parts, pages = _build(await content if inspect.isawaitable(content) else content)
        except Exception as error:  # noqa: BLE001 - the author's; the other documents go on
            _log.exception("The function of a document failed", extra={"doc": doc_ref})
            return self._failed(doc_ref, item, error)
        made = _BuiltDocument(self._document(doc_ref, item, parts.describe()), parts, pages)
        if item.version == version:  # else it changed while it was made
            item.made = made
        return made

    def _failed(self, doc_ref: str, item: _Entry, error: Exception) -> _BuiltDocument:
        """A document that says why it has no pages; its function is called again at the next look."""
        why = error.message if isinstance(error, BadRequest) else type(error).__name__
        problem = f"Cannot be read: its function failed ({why})"
        document = replace(self._document(doc_ref, item, Description()), summary=problem)
        return _BuiltDocument(document, PagedDocument(Description(), ()), (), problem)

    def _document(self, doc_ref: str, item: _Entry, known: Description) -> Document:
        facts = item.facts
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

    def _tell(self, change: DocumentChange) -> None:
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
        raise BadRequest("A document is made of Markdown, of pages, or of the elements of one page")
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
