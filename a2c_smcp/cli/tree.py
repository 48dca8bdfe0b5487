"""Documents, their pages and elements as a tree: first as plain data, then as lines for a person."""

from collections.abc import Iterator, Sequence
from typing import Final, NotRequired, cast

from typing_extensions import TypedDict

from a2c_smcp.cli.docs import DEPTHS
from a2c_smcp.cli.terminal import Terminal, columns, one_line
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Document, Element, PageEntry
from a2c_smcp.documents.render.json import document_json, element_uri, page_uri
from a2c_smcp.documents.render.replies import DocumentReply
from a2c_smcp.errors import DocumentError

_SEPARATOR: Final = "  "


class ElementBranch(TypedDict):
    """An element in the tree."""

    element_id: str
    category: str
    summary: str
    uri: str


class PageBranch(TypedDict):
    """A page in the tree, with some of its elements where the depth asks for them."""

    page_index: int
    title: str
    element_count: NotRequired[int]
    uri: str
    elements: NotRequired[list[ElementBranch]]


class DocumentBranch(DocumentReply):
    """A document in the tree: its level 1, with some of its pages where the depth asks for them."""

    pages: NotRequired[list[PageBranch]]


class Tree(TypedDict):
    """Some of the documents of a library."""

    host: str
    uri: str
    documents: list[DocumentBranch]
    total_count: int


def tree_of(library: Library, depth: str, limit: int) -> Tree:
    """Return the tree, with at most `limit` branches at each level."""
    documents = [_document_branch(library, document, depth, limit) for document in library.documents(0, limit)]
    return {"host": library.host, "uri": library.uri, "documents": documents, "total_count": len(library.refs)}


def tree_lines(tree: Tree, folders: Sequence[str], terminal: Terminal) -> Iterator[str]:
    """Yield the tree as lines; what the limit left out is counted."""
    count = tree["total_count"]
    where = ", ".join(folders)
    yield terminal.bold(f"{counted(count, 'document')} in {one_line(where)}") + _SEPARATOR + terminal.dim(tree["uri"])
    for number, document in enumerate(tree["documents"], start=1):
        yield ""
        yield from _document_lines(number, document, terminal)
    if left := count - len(tree["documents"]):
        yield ""
        yield terminal.dim(f"… {left} more: --limit {count} shows all")


def counted(count: int, word: str) -> str:
    """Return "1 page" or "3 pages"."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def document_line(document: DocumentReply, terminal: Terminal) -> str:
    """Return a document on one line."""
    facts = f"{document['file_type']}, {counted(document['page_count'], 'page')}"
    return _SEPARATOR.join((terminal.bold(one_line(document["title"])), facts, terminal.dim(document["uri"])))


def element_line(element: ElementBranch, terminal: Terminal, indent: int) -> str:
    """Return an element on one line; on a terminal the summary gives way so that the URI can be seen."""
    head = f"{element['element_id']}{_SEPARATOR}{element['category']}"
    summary = one_line(element["summary"])
    if terminal.width is not None:
        taken = indent + columns(head) + columns(element["uri"]) + 2 * len(_SEPARATOR)
        summary = terminal.fit(summary, min(taken, terminal.width - 24))
    shown = f"{terminal.cyan(element['element_id'])}{_SEPARATOR}{element['category']}"
    return _SEPARATOR.join(filter(None, (shown, summary, terminal.dim(element["uri"]))))


def page_line(page: PageBranch, terminal: Terminal) -> str:
    """Return a page on one line."""
    title = one_line(page["title"]) or f"page {page['page_index']}"
    size = f"({counted(page['element_count'], 'element')})" if "element_count" in page else ""
    return _SEPARATOR.join(filter(None, (title, size, terminal.dim(page["uri"]))))


def page_branch(document: Document, entry: PageEntry) -> PageBranch:
    """Return a page without its elements."""
    branch: PageBranch = {"page_index": entry.index, "title": entry.title, "uri": page_uri(document, entry.index)}
    if entry.element_count is not None:
        branch["element_count"] = entry.element_count
    return branch


def element_branch(document: Document, element: Element) -> ElementBranch:
    """Return an element without its content."""
    uri = element_uri(document, element.id)
    return {"element_id": element.id, "category": element.category, "summary": element.summary, "uri": uri}


def _document_branch(library: Library, document: Document, depth: str, limit: int) -> DocumentBranch:
    branch = cast("DocumentBranch", document_json(document))
    if depth == DEPTHS[0]:
        return branch
    try:
        entries = library.entries(document.doc_ref, 0, limit)
    except DocumentError as error:  # the other documents are still worth a tree
        branch["summary"] = error.message
        return branch
    branch["pages"] = [_page_branch(library, document, entry, depth, limit) for entry in entries]
    return branch


def _page_branch(library: Library, document: Document, entry: PageEntry, depth: str, limit: int) -> PageBranch:
    page = page_branch(document, entry)
    if depth != DEPTHS[-1]:
        return page
    try:
        whole = library.page(document.doc_ref, entry.index).elements
    except DocumentError as error:
        page["title"], whole = error.message, ()
    else:
        page["element_count"] = len(whole)
    elements = whole[:limit]
    page["elements"] = [element_branch(document, element) for element in elements]
    return page


def _document_lines(number: int, document: DocumentBranch, terminal: Terminal) -> Iterator[str]:
    margin = " " * (len(str(number)) + 2)
    yield f"{number}. {document_line(document, terminal)}"
    if summary := one_line(document.get("summary", "")):
        yield margin + terminal.fit(summary, len(margin))
    pages = document.get("pages", [])
    left = document["page_count"] - len(pages) if "pages" in document else 0
    for page, (arm, rail) in zip(pages, _rails(len(pages), more=left > 0), strict=True):
        yield margin + arm + page_line(page, terminal)
        yield from _element_lines(page, margin + rail, terminal)
    if left > 0:
        yield margin + terminal.dim(f"└─ … {counted(left, 'more page')}")


def _element_lines(page: PageBranch, margin: str, terminal: Terminal) -> Iterator[str]:
    elements = page.get("elements", [])
    left = page.get("element_count", 0) - len(elements) if "elements" in page else 0
    for element, (arm, _) in zip(elements, _rails(len(elements), more=left > 0), strict=True):
        yield margin + arm + element_line(element, terminal, len(margin + arm))
    if left > 0:
        yield margin + terminal.dim(f"└─ … {counted(left, 'more element')}")


def _rails(count: int, *, more: bool) -> list[tuple[str, str]]:
    """Return, for each of `count` branches, what stands before it and before what is below it."""
    rails = [("├─ ", "│  ")] * count
    if rails and not more:
        rails[-1] = ("└─ ", "   ")
    return rails
