"""What a document is made of: Document, Page, Element.

A `Document` only describes; its pages are obtained one by one, so that a long book is never whole in memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.errors import BadRequest
from a2c_smcp.types import CATEGORIES, ElementCategory

PENDING: Final = "ocr_pending"
"""The key in an element's metadata that says: OCR failed for a reason that may pass, and is tried again."""

_CATEGORIES: Final = frozenset(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Element:
    """One piece of a page.

    The content is trusted to have the shape of the category: `validate_content` checks it where it enters.

    Attributes:
        id: Unique in the document, and the same each time an unchanged file is read.
        summary: One line that lets a reader decide whether to open the element.
        metadata: Where it comes from and how sure that is, as JSON values.

    Raises:
        BadRequest: The id is empty or the category unknown.
    """

    id: str
    category: ElementCategory
    content: Mapping[str, Any]
    summary: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id:
            raise BadRequest(f"An element needs an id; this {self.category} element has none")
        if self.category not in _CATEGORIES:
            known = ", ".join(CATEGORIES)
            raise BadRequest(f"Element {self.id!r} has the unknown category {self.category!r}; known are {known}")


def is_pending(elements: Iterable[Element]) -> bool:
    """Whether OCR is still to read some of it."""
    return any(PENDING in element.metadata for element in elements)


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page as the page index tells it.

    Attributes:
        element_count: None where it is not known yet: the page has parts that only OCR can read.

    Raises:
        BadRequest: A number is negative.
    """

    index: int
    title: str
    element_count: int | None = None

    def __post_init__(self) -> None:
        _not_negative(index=self.index, element_count=self.element_count or 0)


@dataclass(frozen=True, slots=True)
class Page:
    """One page with its elements in reading order.

    Raises:
        BadRequest: The index is negative, or two elements share an id.
    """

    index: int
    title: str = ""
    elements: tuple[Element, ...] = ()

    def __post_init__(self) -> None:
        _not_negative(index=self.index)
        ids = [element.id for element in self.elements]
        if len(set(ids)) < len(ids):
            twice = next(name for number, name in enumerate(ids) if name in ids[:number])
            raise BadRequest(f"Page {self.index} has two elements with the id {twice!r}")

    @property
    def entry(self) -> PageEntry:
        """This page as the page index tells it."""
        return PageEntry(self.index, self.title, len(self.elements))


@dataclass(frozen=True, slots=True)
class Document:
    """What the catalogue says of a document.

    Attributes:
        host: The authority of its `dpe://` URI.
        doc_ref: Its key below the host, not percent-encoded.
        last_modified: ISO 8601, where known.

    Raises:
        BadRequest: The host or the doc_ref is empty, or the page count negative.
    """

    host: str
    doc_ref: str
    file_uri: str
    file_type: str
    title: str
    page_count: int
    keywords: tuple[str, ...] = ()
    summary: str = ""
    last_modified: str | None = None

    def __post_init__(self) -> None:
        if not self.host or not self.doc_ref:
            raise BadRequest(f"A document needs a host and a doc_ref; got {self.host!r} and {self.doc_ref!r}")
        _not_negative(page_count=self.page_count)


def _not_negative(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise BadRequest(f"{name} must not be negative; got {number}")
