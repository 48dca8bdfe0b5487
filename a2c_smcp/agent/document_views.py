"""What is known of documents, pages and elements, read from replies that any MCP server may have written. Pure."""

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
"""How many pages are walked on the word of a server that tells no page index."""

CONTENT: Final[Mapping[Format, str]] = {"markdown": "content_markdown", "text": "content_text"}
"""Under which key the reply to a read has what the format asks for."""


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """What the catalogue says of a document; `data` is all of it, as it came.

    Attributes:
        uri: Its canonical `dpe://` URI, without a query.
    """

    computer: str
    uri: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:
        """Its title, or its reference where it has none."""
        return _text(self.data, "title") or self.doc_ref

    @property
    def doc_ref(self) -> str:
        """Its key below the host."""
        return parse_dpe_uri(self.uri).doc_ref or ""

    @property
    def page_count(self) -> int:
        """How many pages it has."""
        return _number(self.data, "page_count") or 0

    @property
    def file_type(self) -> str:
        """`pdf`, `xlsx`, …"""
        return _text(self.data, "file_type")

    @property
    def summary(self) -> str:
        """What it is about, where its server says so."""
        return _text(self.data, "summary")

    @property
    def keywords(self) -> tuple[str, ...]:
        """Its keywords, where its server gives any."""
        words = self.data.get("keywords")
        return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()

    @property
    def server(self) -> str:
        """The MCP server that has it; empty where the document was not found in the catalogue."""
        return _text(self.data, "server")

    @property
    def last_modified(self) -> str | None:
        """When it changed last, in ISO 8601, where known."""
        return _text(self.data, "last_modified") or None

    def uri_of(self, sub_path: str | None = None, **params: str) -> str:
        """Return the URI of a part of it, or of the whole in another form."""
        return document_uri(self.uri, sub_path, **params)


@dataclass(frozen=True, slots=True)
class PageView:
    """What the page index says of a page."""

    uri: str
    index: int
    title: str = ""
    element_count: int | None = None


@dataclass(frozen=True, slots=True)
class ElementView:
    """An element as its page shows it, or in full; `data` is all of it, as it came."""

    uri: str
    id: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def category(self) -> str:
        """One of the 19 categories, where the server keeps to them."""
        return _text(self.data, "category")

    @property
    def summary(self) -> str:
        """One line that tells whether it is worth opening."""
        return _text(self.data, "summary")

    @property
    def content(self) -> Mapping[str, Any]:
        """What it holds; the shape is that of its category."""
        content = self.data.get("content")
        return content if isinstance(content, Mapping) else {}

    @property
    def page_index(self) -> int | None:
        """The page it is on; there when the element was read in full."""
        return _number(self.data, "page_index")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Where it comes from; there when the element was read in full."""
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}

    @property
    def markdown(self) -> str:
        """The element in Markdown."""
        return render_element(self.data, "markdown")


class MarkdownPassage(str):  # noqa: SLOT000 - it carries where it is from
    """A piece of a document in Markdown: a text that knows where it is from, to be cited.

    Attributes:
        uri: The `dpe://` URI of its page.
        page_title: The title of its page.
        tokens: What it costs.
        end: Where in the Markdown of its page it ends, in characters.
        complete: Whether its page ends there too; False where the budget ended before.
    """

    uri: str
    page_index: int
    page_title: str
    tokens: int
    end: int
    complete: bool


class TokenBudget:
    """Tokens that passages are paid with; None is any number."""

    def __init__(self, tokens: int | None, count: TokenCounter) -> None:
        self._left = tokens
        self._count = count

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self._left is not None and self._left <= 0

    def take(self, page: PageView, markdown: str, skip: int = 0) -> MarkdownPassage | None:
        """Return what of a page, after its first `skip` characters, can be paid for; None where nothing can."""
        rest = markdown[skip:]
        text = rest if self._left is None else cut(rest, self._left, self._count)
        # What a cut text ends with (an ellipsis, the end of a code block) is not of the page.
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
    """Yield what a page of the catalogue tells of documents that are not in `seen`, by URI."""
    for data in _mappings(reply.get("documents")):
        try:
            uri = document_uri(_text(data, "uri"))
        except InvalidDPEUri:
            continue  # nothing could be read of it
        if uri not in seen:
            seen.add(uri)
            yield uri, data


def page_total(document: DocumentView, reply: Mapping[str, Any]) -> int:
    """Return how many pages a document has, as the latest reply tells it."""
    told = [number for key in ("page_total", "page_count") if (number := _number(reply, key)) is not None]
    return max(told, default=document.page_count)


def page_window(reply: Mapping[str, Any], start: int, total: int) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the pages that follow from `start` on by what the page index tells of each, in order.

    A server may tell fewer than asked for, or all of them wherever one starts. Of the pages of one that tells no index
    nothing is known but that they are there.
    """
    told = {
        index: data
        for data in _mappings(reply.get("pages"))
        if (index := _number(data, "page_index")) is not None and index >= start
    }
    return sorted(told.items()) if told else [(index, {}) for index in range(start, min(total, MAX_PAGES))]


def page_of(document: DocumentView, index: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a page, as the fields of `PageView`."""
    return {
        "uri": document.uri_of(f"pages/{index}"),
        "index": index,
        "title": _text(data, "title"),
        "element_count": _number(data, "element_count"),
    }


def elements_of(reply: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the elements that a page tells, by id, in reading order."""
    for data in _mappings(reply.get("elements")):
        if element_id := _text(data, "element_id"):
            yield element_id, data


def content_of(reply: Mapping[str, Any], form: Format) -> str:
    """Return what a read for Markdown or text gave.

    A server that knows JSON alone gets its elements rendered here.
    """
    for key in (CONTENT[form], *CONTENT.values()):
        if isinstance(reply.get(key), str):
            return str(reply[key])
    if "elements" in reply:
        return "\n\n".join(filter(None, (render_element(data, form) for _, data in elements_of(reply))))
    return render_element(reply, form)


def render_element(data: Mapping[str, Any], form: Format) -> str:
    """Return an element of a page's JSON in Markdown or text; by its summary where its content has a wrong shape."""
    category, summary, content = _text(data, "category"), _text(data, "summary"), data.get("content")
    try:
        element = Element(_text(data, "element_id"), category, validate_content(category, content), summary)  # type: ignore[arg-type]
    except SMCPError:
        plain = _text(content, "text") if isinstance(content, Mapping) else ""
        return plain or (f"[{category}: {summary}]" if summary else "")
    return element_markdown(element) if form == "markdown" else element_text(element)


def _mappings(items: object) -> Iterable[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
