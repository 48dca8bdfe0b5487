"""The JSON of levels 0 to 3, keys in the order of the specification."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic_core import to_json

from a2c_smcp.documents.content import TableContent
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render.replies import (
    CatalogueReply,
    DocumentPagesReply,
    DocumentReply,
    ElementReply,
    PageElementReply,
    PageEntryReply,
    PageReply,
)
from a2c_smcp.documents.render.values import clean_json, columns, is_window
from a2c_smcp.uris.dpe import build_dpe_uri

MIME_TYPE: Final = "application/json"

# What `clean` would change, as it looks once written as JSON; a hit may be a false alarm, a miss never is one.
_ESCAPES: Final = (b"\\u00", b"\\r", b"\\b", b"\\f", b"\x7f", b"\xc2")
_SUSPICIOUS: Final = re.compile(r"\\u00[01]|\\[rbf]|[\x7f-\x9f\ud800-\udfff]")


def render_catalogue(documents: Iterable[Document]) -> str:
    """Level 0: every document of a host."""
    return dumps(catalogue_json(documents))


def render_document(document: Document) -> str:
    """Level 1, `depth=metadata`."""
    return dumps(document_json(document))


def render_document_with_pages(document: Document, entries: Sequence[PageEntry], offset: int, limit: int) -> str:
    """Level 1, `depth=pages`."""
    return dumps(document_with_pages_json(document, entries, offset, limit))


def render_page(document: Document, page: Page, categories: Collection[str] | None = None) -> str:
    """Level 2."""
    return dumps(page_json(document, page, categories))


def render_element(document: Document, page_index: int, element: Element) -> str:
    """Level 3."""
    return dumps(element_json(document, page_index, element))


def catalogue_json(documents: Iterable[Document]) -> CatalogueReply:
    """Level 0: every document of a host."""
    entries = [document_json(document) for document in documents]
    return {"documents": entries, "total_count": len(entries)}


def document_json(document: Document) -> DocumentReply:
    """Level 1, `depth=metadata`. What is not known is left out."""
    reply: DocumentReply = {
        "doc_ref": document.doc_ref,
        "uri": document_uri(document),
        "file_uri": document.file_uri,
        "file_type": document.file_type,
        "title": document.title,
        "page_count": document.page_count,
    }
    if document.keywords:
        reply["keywords"] = list(document.keywords)
    if document.summary:
        reply["summary"] = document.summary
    if document.last_modified:
        reply["last_modified"] = document.last_modified
    return reply


def document_with_pages_json(
    document: Document, entries: Sequence[PageEntry], offset: int, limit: int
) -> DocumentPagesReply:
    """Level 1, `depth=pages`: `entries` is the window of the page index that `offset` and `limit` ask for."""
    return {
        **document_json(document),
        "pages": [_page_entry_json(document, entry) for entry in entries],
        "page_offset": offset,
        "page_limit": limit,
        "page_total": document.page_count,
    }


def page_json(document: Document, page: Page, categories: Collection[str] | None = None) -> PageReply:
    """Level 2, all elements or those of some categories."""
    elements = [_page_element_json(element) for element in select(page, categories)]
    return {
        "page_index": page.index,
        "title": page.title,
        "doc_ref": document.doc_ref,
        "uri": page_uri(document, page.index),
        "elements": elements,
        "element_count": len(elements),
    }


def element_json(document: Document, page_index: int, element: Element) -> ElementReply:
    """Level 3. A table says how large it is, whoever made it."""
    reply: ElementReply = {
        "element_id": element.id,
        "category": element.category,
        "doc_ref": document.doc_ref,
        "page_index": page_index,
        "uri": element_uri(document, element.id),
        "summary": element.summary,
        "content": _full(element.content) if element.category == "table" else dict(element.content),
    }
    if element.metadata:
        reply["metadata"] = dict(element.metadata)
    return reply


def dumps(reply: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return a reply as JSON text, which is valid whatever characters and numbers the document holds."""
    # Writing twice is rare; looking at every string before writing would cost every reply.
    if indent is None and (quick := _write_quickly(reply)) is not None:
        return quick
    try:
        written = _write(reply, indent)
    except ValueError:  # a number that JSON cannot write
        return _write(clean_json(reply), indent)
    return _write(clean_json(reply), indent) if _SUSPICIOUS.search(written) else written


def select(page: Page, categories: Collection[str] | None) -> tuple[Element, ...]:
    """Return the elements of these categories in reading order; all where `categories` is None."""
    if categories is None:
        return page.elements
    return tuple(element for element in page.elements if element.category in categories)


def document_uri(document: Document) -> str:
    """The level 1 URI."""
    return build_dpe_uri(document.host, document.doc_ref)


def page_uri(document: Document, index: int) -> str:
    """The level 2 URI of a page."""
    return build_dpe_uri(document.host, document.doc_ref, f"pages/{index}")


def element_uri(document: Document, element_id: str) -> str:
    """The level 3 URI of an element."""
    return build_dpe_uri(document.host, document.doc_ref, f"elements/{element_id}")


def _write_quickly(reply: Mapping[str, Any]) -> str | None:
    """Return what most replies are, several times as fast as otherwise; None where something may have to be cleaned."""
    try:
        written = to_json(reply, inf_nan_mode="null")
    except ValueError:  # half a character, or nested very deep
        return None
    return None if any(escape in written for escape in _ESCAPES) else written.decode()


def _write(reply: Mapping[str, Any], indent: int | None) -> str:
    separators = (",", ":") if indent is None else None
    return json.dumps(reply, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def _page_entry_json(document: Document, entry: PageEntry) -> PageEntryReply:
    reply: PageEntryReply = {"page_index": entry.index, "title": entry.title}  # type: ignore[typeddict-item]
    if entry.element_count is not None:
        reply["element_count"] = entry.element_count
    reply["uri"], reply["doc_ref"] = page_uri(document, entry.index), document.doc_ref
    return reply


def _page_element_json(element: Element) -> PageElementReply:
    return {
        "element_id": element.id,
        "category": element.category,
        "summary": element.summary,
        "content": _brief(element.content) if element.category == "table" else dict(element.content),
    }


def _brief(content: Mapping[str, Any]) -> dict[str, Any]:
    # The totals of a table that is here in full can be counted; those of a window are news.
    return dict(content) if is_window(cast("TableContent", content)) else _without_totals(content)


def _full(content: Mapping[str, Any]) -> dict[str, Any]:
    headers, rows = content["headers"], content["rows"]
    return _without_totals(content) | {
        "total_rows": content.get("total_rows", content.get("row_offset", 0) + len(rows)),
        "total_columns": content.get("total_columns", columns(headers, rows)),
    }


def _without_totals(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in {"total_rows", "total_columns"}}
