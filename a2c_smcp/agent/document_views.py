"""Views of documents, pages and elements, read from untrusted replies of MCP servers. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.agent.requests import document_uri
from a2c_smcp.common.token_estimate import TokenCounter, cut
from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.documents.render.text import element_text
from a2c_smcp.errors import InvalidDPEUri, SMCPError
from a2c_smcp.uris.dpe import Format, parse_dpe_uri

MAX_PAGES: Final = 100_000
"""Maximum number of pages of a document whose server returns no page index."""

CONTENT: Final[Mapping[Format, str]] = {"markdown": "content_markdown", "text": "content_text"}
"""The key of the content in a reply, by format."""


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as the catalogue describes it; `data` is the unchanged entry.

    Attributes:
        uri: Canonical `dpe://` URI, without a query.
    """

    computer: str
    uri: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:
        """Title, or the reference if there is none."""
        return _text(self.data, "title") or self.doc_ref

    @property
    def doc_ref(self) -> str:
        """Reference of the document below the host."""
        return parse_dpe_uri(self.uri).doc_ref or ""

    @property
    def page_count(self) -> int:
        """Number of pages."""
        return _number(self.data, "page_count") or 0

    @property
    def file_type(self) -> str:
        """`pdf`, `xlsx`, …"""
        return _text(self.data, "file_type")

    @property
    def summary(self) -> str:
        """Summary; empty if its server gives none."""
        return _text(self.data, "summary")

    @property
    def keywords(self) -> tuple[str, ...]:
        """Keywords; empty if its server gives none."""
        words = self.data.get("keywords")
        return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()

    @property
    def server(self) -> str:
        """MCP server of the document; empty if it did not come from the catalogue."""
        return _text(self.data, "server")

    @property
    def last_modified(self) -> str | None:
        """Time of the last change in ISO 8601, if known."""
        return _text(self.data, "last_modified") or None

    def uri_of(self, sub_path: str | None = None, **params: str) -> str:
        """Return the URI of a part of the document, or of the document in another format."""
        return document_uri(self.uri, sub_path, **params)


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as the page index describes it."""

    uri: str
    index: int
    title: str = ""
    element_count: int | None = None


@dataclass(frozen=True, slots=True)
class ElementView:
    """An element as its page lists it, or in full; `data` is the unchanged entry."""

    uri: str
    id: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def category(self) -> str:
        """One of the 19 categories, if the server conforms."""
        return _text(self.data, "category")

    @property
    def summary(self) -> str:
        """Summary in one line."""
        return _text(self.data, "summary")

    @property
    def content(self) -> Mapping[str, Any]:
        """Content; its shape depends on the category."""
        content = self.data.get("content")
        return content if isinstance(content, Mapping) else {}

    @property
    def page_index(self) -> int | None:
        """Index of its page; only if the element was read in full."""
        return _number(self.data, "page_index")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Origin of the element; only if it was read in full."""
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}

    @property
    def markdown(self) -> str:
        """The element in Markdown."""
        return render_element(self.data, "markdown")


class MarkdownPassage(str):  # noqa: SLOT000 - it carries its origin
    """A part of a document in Markdown: a string with its origin, for citations.

    Attributes:
        uri: The `dpe://` URI of its page.
        page_title: The title of its page.
        tokens: Number of tokens.
        end: Its end in the Markdown of the page, in characters.
        complete: Whether it ends with its page; False if the budget ended first.
    """

    uri: str
    page_index: int
    page_title: str
    tokens: int
    end: int
    complete: bool


class TokenBudget:
    """A number of tokens for passages; None is unlimited."""

    def __init__(self, tokens: int | None, count: TokenCounter) -> None:
        self._left = tokens
        self._count = count

    @property
    def spent(self) -> bool:
        """Whether no tokens are left."""
        return self._left is not None and self._left <= 0

    def take(self, page: PageView, markdown: str, skip: int = 0) -> MarkdownPassage | None:
        """Return as much of a page, after its first `skip` characters, as fits; None if nothing fits."""
        rest = markdown[skip:]
        text = rest if self._left is None else cut(rest, self._left, self._count)
        # The ending of a cut text (an ellipsis, a closed code block) is not part of the page.
        shown = next((place for place, (a, b) in enumerate(zip(text, rest, strict=False)) if a != b), len(text))
        if rest and not shown:
            return None
        passage = MarkdownPassage(text)
        passage.uri, passage.page_index, passage.page_title = page.uri, page.index, page.title
        passage.tokens = self._count(text)
        passage.end, passage.complete = skip + shown, text == rest
        if self._left is not None:
            self._left -= passage.tokens
        return passage


def known_documents(reply: Mapping[str, Any], seen: set[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield URI and entry of the documents of a catalogue page that are not in `seen`."""
    for data in _mappings(reply.get("documents")):
        try:
            uri = document_uri(_text(data, "uri"))
        except InvalidDPEUri:
            continue  # it cannot be read
        if uri not in seen:
            seen.add(uri)
            yield uri, data


def page_total(document: DocumentView, reply: Mapping[str, Any]) -> int:
    """Return the number of pages of a document according to the latest reply."""
    totals = [number for key in ("page_total", "page_count") if (number := _number(reply, key)) is not None]
    return max(totals, default=document.page_count)


def page_window(reply: Mapping[str, Any], start: int, total: int) -> list[tuple[int, Mapping[str, Any]]]:
    """Return index and entry of the pages from `start` on, in order.

    A server may return fewer than requested, or all of them whatever the offset. If it returns no page index, the
    entries are empty.
    """
    entries = {
        index: data
        for data in _mappings(reply.get("pages"))
        if (index := _number(data, "page_index")) is not None and index >= start
    }
    return sorted(entries.items()) if entries else [(index, {}) for index in range(start, min(total, MAX_PAGES))]


def page_of(document: DocumentView, index: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the `PageView` of a page."""
    return {
        "uri": document.uri_of(f"pages/{index}"),
        "index": index,
        "title": _text(data, "title"),
        "element_count": _number(data, "element_count"),
    }


def elements_of(reply: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield id and entry of the elements of a page, in reading order."""
    for data in _mappings(reply.get("elements")):
        if element_id := _text(data, "element_id"):
            yield element_id, data


def content_of(reply: Mapping[str, Any], form: Format) -> str:
    """Return the Markdown or text of a reply; elements of a server that only supports JSON are rendered here."""
    for key in (CONTENT[form], *CONTENT.values()):
        if isinstance(reply.get(key), str):
            return str(reply[key])
    if "elements" in reply:
        return "\n\n".join(filter(None, (render_element(data, form) for _, data in elements_of(reply))))
    return render_element(reply, form)


def render_element(data: Mapping[str, Any], form: Format) -> str:
    """Return an element of a page's JSON in Markdown or text; its summary if the content has a wrong shape."""
    category, summary, content = _text(data, "category"), _text(data, "summary"), data.get("content")
    try:
        element = Element(_text(data, "element_id"), category, validate_content(category, content), summary)  # type: ignore[arg-type]
    except SMCPError:
        plain = _text(content, "text") if isinstance(content, Mapping) else ""
        return plain or (f"[{category}: {summary}]" if summary else "")
    return element_markdown(element) if form == "markdown" else element_text(element)


def _mappings(items: object) -> Iterable[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
