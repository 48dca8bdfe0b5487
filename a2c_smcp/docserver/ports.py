"""What a server of documents is made over: Protocols, so that a folder on disk and a shelf in memory look alike."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from a2c_smcp.documents.model import Document


class ResourceText(Protocol):
    """What is at a URI."""

    @property
    def uri(self) -> str:
        """As it was asked for."""
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
    """The `doc_ref`s of what is not as it was."""

    @property
    def added(self) -> Sequence[str]:
        """Documents that are new."""
        ...

    @property
    def removed(self) -> Sequence[str]:
        """Documents that are gone."""
        ...

    @property
    def updated(self) -> Sequence[str]:
        """Documents with other contents."""
        ...


OnChange: TypeAlias = Callable[[ChangedDocuments], None]


class DocumentSource(Protocol):
    """Documents of one host. `a2c_smcp.documents.service.DocumentService` is one, a `Shelf` another."""

    @property
    def host(self) -> str:
        """The authority of their URIs."""
        ...

    async def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue."""
        ...

    async def read(self, uri: str, /) -> ResourceText:
        """Return what is at a `dpe://` URI, or raise the error that says why not."""
        ...

    async def complete_refs(self, prefix: str, /) -> list[str]:
        """Return the `doc_ref`s that begin so, sorted."""
        ...

    async def complete_pages(self, doc_ref: str, prefix: str, /) -> list[str]:
        """Return the page indexes of a document that begin so, in their order."""
        ...

    async def complete_elements(self, doc_ref: str, page_index: int, prefix: str, /) -> list[str]:
        """Return the ids of the elements of a page that begin so, sorted."""
        ...

    def on_change(self, handler: OnChange, /) -> Callable[[], None]:
        """Call `handler` after changes; what is returned ends that."""
        ...


class FoundPlace(Protocol):
    """A place that a search has found."""

    @property
    def uri(self) -> str:
        """Of the element, or of the document where its title, keywords or summary have the words."""
        ...

    @property
    def doc_ref(self) -> str:
        """Of its document."""
        ...

    @property
    def page_index(self) -> int | None:
        """Of its page; None, like the next two, for the document as a whole."""
        ...

    @property
    def element_id(self) -> str | None:
        """Its id."""
        ...

    @property
    def category(self) -> str | None:
        """What it is."""
        ...

    @property
    def title(self) -> str:
        """Of its document."""
        ...

    @property
    def snippet(self) -> str:
        """The words around what was found."""
        ...

    @property
    def score(self) -> float:
        """How well it fits, more is better."""
        ...


@runtime_checkable
class Searchable(Protocol):
    """Documents that can be searched."""

    async def search(self, query: str, *, limit: int = 20, doc_ref: str | None = None) -> Sequence[FoundPlace]:
        """Return where the words are, the best first."""
        ...


@runtime_checkable
class PageImages(Protocol):
    """Documents whose pages can be looked at."""

    async def render_page(self, doc_ref: str, page_index: int, dpi: int = 110) -> bytes:
        """Return a page as PNG."""
        ...

    async def element_image(self, doc_ref: str, element_id: str) -> tuple[str, bytes]:
        """Return the picture of an element: its MIME type and its bytes."""
        ...


ProgressCallback: TypeAlias = Callable[[float, float | None, str], Awaitable[None]]
"""Told how far something is: how much is done, of how much if that is known, and what was done last."""


class DigestInfo(Protocol):
    """A digest that was made, which is a document like the others."""

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
        """How many pages it is a digest of."""
        ...

    @property
    def sections(self) -> Sequence[Mapping[str, Any]]:
        """What became of each section: `title`, `pages`, `by`, and `error` where the model failed."""
        ...

    @property
    def unread(self) -> Sequence[int]:
        """Pages that could not be read, counted from 1."""
        ...


@runtime_checkable
class Digestible(Protocol):
    """Documents of which digests can be made. Cancelling ends the run and whatever works for it."""

    async def digest(
        self, doc_ref: str, *, section_ranges: Sequence[Sequence[int]] | None, dpi: int, tell: ProgressCallback
    ) -> DigestInfo:
        """Make a digest, put it among the documents, and return where it is."""
        ...
