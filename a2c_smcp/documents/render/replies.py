"""The JSON of the four levels: what a read of a `dpe://` URI answers."""

from typing import Any, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from a2c_smcp.types import ElementCategory

_reply = with_config(ConfigDict(use_attribute_docstrings=True))


@_reply
class DocumentReply(TypedDict):
    """Level 1, `depth=metadata`: what is known of a document."""

    doc_ref: str
    uri: str
    file_uri: str
    file_type: str
    title: str
    page_count: int
    keywords: NotRequired[list[str]]
    summary: NotRequired[str]
    last_modified: NotRequired[str]
    """ISO 8601."""


@_reply
class CatalogueReply(TypedDict):
    """Level 0: every document of a host."""

    documents: list[DocumentReply]
    total_count: int


@_reply
class PageEntryReply(TypedDict):
    """A line of the page index."""

    page_index: int
    """Counted from 0."""
    title: str
    element_count: NotRequired[int]
    """Absent where it is not known yet: parts of the page are to be recognized when it is read."""
    uri: str
    doc_ref: str


@_reply
class DocumentPagesReply(DocumentReply):
    """Level 1, `depth=pages`: the document and a window of its page index."""

    pages: list[PageEntryReply]
    page_offset: int
    page_limit: int
    page_total: int


@_reply
class PageElementReply(TypedDict):
    """An element as its page shows it."""

    element_id: str
    category: ElementCategory
    summary: str
    content: dict[str, Any]


@_reply
class PageReply(TypedDict):
    """Level 2: a page and its elements."""

    page_index: int
    title: str
    doc_ref: str
    uri: str
    elements: list[PageElementReply]
    element_count: int
    """How many `elements` there are: with `categories`, those that were asked for."""


@_reply
class ElementReply(TypedDict):
    """Level 3: an element in full."""

    element_id: str
    category: ElementCategory
    doc_ref: str
    page_index: int
    uri: str
    summary: str
    content: dict[str, Any]
    metadata: NotRequired[dict[str, Any]]
