"""Protocols of document sources, so that folders on disk and documents in memory are served alike."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from a2c_smcp.documents.model import Document


class ResourceText(Protocol):
    """The content of a URI."""

    @property
    def uri(self) -> str:
        """The requested URI."""
        ...

    @property
    def mime_type(self) -> str:
        """`application/json`, `text/markdown` or `text/plain`."""
        ...

    @property
    def text(self) -> str:
        """The content."""
        ...


class ChangedDocuments(Protocol):
    """The `doc_ref`s of changed documents."""

    @property
    def added(self) -> Sequence[str]:
        """New documents."""
        ...

    @property
    def removed(self) -> Sequence[str]:
        """Removed documents."""
        ...

    @property
    def updated(self) -> Sequence[str]:
        """Documents with new content."""
        ...


OnChange: TypeAlias = Callable[[ChangedDocuments], None]


class DocumentSource(Protocol):
    """Documents of one host. `a2c_smcp.documents.service.DocumentService` is one, a `Shelf` another."""

    @property
    def host(self) -> str:
        """The authority of their URIs."""
        ...

    async def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return a part of the catalogue."""
        ...

    async def read(self, uri: str, /) -> ResourceText:
        """Read a `dpe://` URI; raises an SMCPError if it does not exist."""
        ...

    async def complete_refs(self, prefix: str, /) -> list[str]:
        """Return the `doc_ref`s with this prefix, sorted."""
        ...

    async def complete_pages(self, doc_ref: str, prefix: str, /) -> list[str]:
        """Return the page indexes of a document with this prefix, in order."""
        ...

    async def complete_elements(self, doc_ref: str, page_index: int, prefix: str, /) -> list[str]:
        """Return the ids of the elements of a page with this prefix, sorted."""
        ...

    def on_change(self, handler: OnChange, /) -> Callable[[], None]:
        """Call `handler` after changes; returns an unsubscribe function."""
        ...


class FoundPlace(Protocol):
    """A search result."""

    @property
    def uri(self) -> str:
        """URI of the element, or of the document if its title, keywords or summary match."""
        ...

    @property
    def doc_ref(self) -> str:
        """Of the document."""
        ...

    @property
    def page_index(self) -> int | None:
        """Of the page; None, like the next two, for a match of the document itself."""
        ...

    @property
    def element_id(self) -> str | None:
        """Id of the element."""
        ...

    @property
    def category(self) -> str | None:
        """Category of the element."""
        ...

    @property
    def title(self) -> str:
        """Of the document."""
        ...

    @property
    def snippet(self) -> str:
        """Excerpt around the match."""
        ...

    @property
    def score(self) -> float:
        """Relevance; higher is better."""
        ...


@runtime_checkable
class Searchable(Protocol):
    """A document source with full-text search."""

    async def search(self, query: str, *, limit: int = 20, doc_ref: str | None = None) -> Sequence[FoundPlace]:
        """Return the matches, best first."""
        ...


@runtime_checkable
class PageImages(Protocol):
    """A document source that renders pages and images."""

    async def render_page(self, doc_ref: str, page_index: int, dpi: int = 110) -> bytes:
        """Return a page as PNG."""
        ...

    async def element_image(self, doc_ref: str, element_id: str) -> tuple[str, bytes]:
        """Return the image of an element: MIME type and bytes."""
        ...


ProgressCallback: TypeAlias = Callable[[float, float | None, str], Awaitable[None]]
"""Called with progress, total if known, and the last step."""


class DigestInfo(Protocol):
    """A digest, which is also a document."""

    @property
    def uri(self) -> str:
        """Of the digest."""
        ...

    @property
    def doc_ref(self) -> str:
        """Of the digest."""
        ...

    @property
    def title(self) -> str:
        """Of the digest."""
        ...

    @property
    def by(self) -> str:
        """`model`, `extract` where no language model has written it, or `model+extract`."""
        ...

    @property
    def source_pages(self) -> int:
        """Number of pages of the source."""
        ...

    @property
    def sections(self) -> Sequence[Mapping[str, Any]]:
        """Each section: `title`, `pages`, `by`, and `error` if the model failed."""
        ...

    @property
    def unread(self) -> Sequence[int]:
        """Pages that could not be read, counted from 1."""
        ...


@runtime_checkable
class Digestible(Protocol):
    """A document source that makes digests. Cancelling ends the run and its processes."""

    async def digest(
        self, doc_ref: str, *, section_ranges: Sequence[Sequence[int]] | None, dpi: int, tell: ProgressCallback
    ) -> DigestInfo:
        """Make a digest, add it to the documents, and return it."""
        ...
