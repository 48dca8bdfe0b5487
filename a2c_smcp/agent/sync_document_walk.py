# Generated from document_walk.py by tools/gen_sync.py. Edit the source, not this file.
"""Walking the documents of a Computer: catalogue, document, page, element, each read when it is reached."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from a2c_smcp.agent import document_views
from a2c_smcp.agent.concurrency import sync_gather
from a2c_smcp.agent.document_views import DocumentView, ElementView, MarkdownPassage, PageView
from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.agent.reply_cache import ReplyCache
from a2c_smcp.agent.requests import document_uri
from a2c_smcp.agent.search_hits import SearchHit, merge_hits, query_keywords, read_hits, search_arguments, search_tools
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import CallToolResult, GetFinderRet, SMCPTool
from a2c_smcp.types import ElementCategory
from a2c_smcp.uris.dpe import Format, parse_dpe_uri

CACHE_BYTES: Final = 32_000_000
"""How much of what was read is kept, unless told otherwise."""

PAGE_SIZE: Final = 20
"""How many documents or pages are asked for at a time: the contract's default, and what a server has to open."""

INVALIDATING_EVENTS: Final = frozenset({"update_finder", "enter_office", "leave_office", "disconnected", "joined"})
"""Events after which what was read may be old: a change, or a time in which changes went unheard."""

logger = logging.getLogger(__name__)


class SyncDocumentAgent(Protocol):
    """What is asked of an Agent's client."""

    @property
    def office_id(self) -> str | None:
        """The office it is in."""
        ...

    def get_finder(
        self,
        computer: str,
        *,
        keywords: list[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> GetFinderRet:
        """A page of the catalogue."""
        ...

    def read_resource(self, computer: str, uri: str) -> dict[str, Any]:
        """What is at a URI."""
        ...

    def get_tools(self, computer: str) -> list[SMCPTool]:
        """The tools of a Computer."""
        ...

    def call_tool(self, computer: str, tool_name: str, params: Mapping[str, Any] | None = None) -> CallToolResult:
        """What a tool gave back."""
        ...

    def on(self, kind: str, handler: Callable[[OfficeEvent], None]) -> Callable[[], None]:
        """Call the handler at every event of a kind, until what is returned is called."""
        ...


class SyncDocuments:
    """The documents of a Computer, in the order of its Finder.

    Iterating gives every document; `search` those that match. What was read is kept until the Computer tells of a
    change.

    Args:
        cache_bytes: How much to keep; 0 is nothing.
    """

    def __init__(self, agent: SyncDocumentAgent, computer: str, *, cache_bytes: int = CACHE_BYTES) -> None:
        self.computer = computer
        self._agent = agent
        self._shelf = ReplyCache(cache_bytes)
        self._unsubscribe = agent.on("*", self._on_event)

    def __iter__(self) -> Iterator[SyncAgentDocument]:
        return self.search()

    def search(self, *keywords: str, file_type: str | None = None) -> Iterator[SyncAgentDocument]:
        """Yield the documents with any of the keywords in title, keywords or summary, or of a file type, or both."""
        seen: set[str] = set()
        offset = 0
        while True:
            reply = self._catalogue(keywords, file_type, offset)
            new = list(document_views.known_documents(reply, seen))
            for uri, data in new:
                yield SyncAgentDocument(self.computer, uri, data, self)
            offset += len(reply.get("documents", ()))
            if not new or offset >= reply.get("total_count", 0):  # one that goes in circles is left
                return

    def search_text(self, query: str, limit: int = PAGE_SIZE) -> Iterator[SearchHit]:
        """Yield the places, at most `limit`, where the text of the documents matches a query.

        The MCP servers of the Computer that have the tool `search_documents` search. Where they find nothing, or there
        is none, it yields the documents of which the catalogue has a word of the query. A query without words finds
        nothing.
        """
        if not query.strip():
            return
        hits = merge_hits(self._ask_tools(query, limit), limit)
        for hit in hits:
            yield hit
        if hits or limit < 1:
            return
        for document in self.search(*query_keywords(query)):
            yield SearchHit(document.uri, document.title, document.summary)
            limit -= 1
            if not limit:
                return

    def count(self, *keywords: str, file_type: str | None = None) -> int:
        """Return how many documents `search` finds."""
        return (self._catalogue(keywords, file_type, 0)).get("total_count", 0)

    def unavailable(self) -> list[str]:
        """Return the MCP servers whose documents are missing because they could not be asked."""
        return (self._catalogue((), None, 0)).get("unavailable", [])

    def open(self, uri: str) -> SyncAgentDocument:
        """Return the document that a `dpe://` URI, its own or that of a page or an element, belongs to.

        Raises:
            InvalidDPEUri: It is no such URI.
            DocumentNotFound: There is no such document.
        """
        uri = document_uri(uri)
        return SyncAgentDocument(self.computer, uri, self.read(uri), self)

    def page(self, uri: str) -> SyncAgentPage:
        """Return the page that a `dpe://` URI points at: its own, the one its element is on, or a document's first.

        Raises:
            InvalidDPEUri: It is no such URI.
            DocumentNotFound, PageOutOfRange, ElementNotFound: It points at nothing.
        """
        parsed = parse_dpe_uri(uri)
        document = self.open(uri)
        index = parsed.page_index or 0
        if parsed.element_id is not None:
            index = (document.element(parsed.element_id)).page_index or 0
        return document.page(index)

    def read(self, uri: str) -> Mapping[str, Any]:
        """Return what is at a URI, from what is kept where it is there.

        Raises:
            SMCPError: As `read_resource` of the client.
        """
        key = self._agent.office_id, uri  # another office may have a Computer of the same name
        reply = self._shelf.get(key)
        if reply is None:
            edition = self._shelf.edition
            reply = self._agent.read_resource(self.computer, uri)
            self._shelf.put(key, reply, edition)
        return reply  # type: ignore[no-any-return]

    def refresh(self) -> None:
        """Forget what was read."""
        self._shelf.clear()

    def close(self) -> None:
        """Listen to no more events, and keep nothing."""
        self._unsubscribe()
        self._shelf = ReplyCache(0)

    def _on_event(self, event: OfficeEvent) -> None:
        if event.kind in INVALIDATING_EVENTS and event.computer in (None, self.computer):
            self._shelf.clear()

    def _catalogue(self, keywords: tuple[str, ...], file_type: str | None, offset: int) -> GetFinderRet:
        key = (self._agent.office_id, keywords, file_type, offset)
        reply = self._shelf.get(key)
        if reply is None:
            edition = self._shelf.edition
            reply = self._agent.get_finder(
                self.computer, keywords=list(keywords) or None, file_type=file_type, offset=offset, limit=PAGE_SIZE
            )
            self._shelf.put(key, reply, edition)
        return reply  # type: ignore[no-any-return]

    def _ask_tools(self, query: str, limit: int) -> list[list[SearchHit]]:
        tools = search_tools(self._agent.get_tools(self.computer))
        return sync_gather(self._ask_tool(tool, query, limit) for tool in tools)

    def _ask_tool(self, tool: SMCPTool, query: str, limit: int) -> list[SearchHit]:
        try:
            result = self._agent.call_tool(self.computer, tool["name"], search_arguments(tool, query, limit))
        except SMCPError as error:
            logger.warning("%s of %s cannot be asked: %s", tool["name"], self.computer, error)
            return []
        return list(read_hits(result))


@dataclass(frozen=True, slots=True)
class SyncAgentDocument(DocumentView):
    """A document of a Computer."""

    source: SyncDocuments = field(repr=False, compare=False)

    def pages(self, start: int = 0, stop: int | None = None) -> Iterator[SyncAgentPage]:
        """Yield the pages from `start` to before `stop`, with what the page index tells of each."""
        following = start
        while stop is None or following < stop:
            limit = PAGE_SIZE if stop is None else min(PAGE_SIZE, stop - following)
            reply = self.source.read(self.uri_of(depth="pages", offset=str(following), limit=str(limit)))
            total = document_views.page_total(self, reply)
            window = document_views.page_window(reply, following, total)
            for index, data in window:
                if stop is not None and index >= stop:
                    return
                yield SyncAgentPage(**document_views.page_of(self, index, data), document=self)
                following = index + 1
            if not window or following >= total:
                return

    def page(self, index: int) -> SyncAgentPage:
        """Return a page, counted from 0.

        Raises:
            PageOutOfRange: There is no such page.
        """
        reply = self.source.read(self.uri_of(f"pages/{index}"))
        return SyncAgentPage(**document_views.page_of(self, index, reply), document=self)

    def element(self, element_id: str) -> SyncAgentElement:
        """Return an element in full.

        Raises:
            ElementNotFound: There is no such element.
        """
        uri = self.uri_of(f"elements/{element_id}")
        return SyncAgentElement(uri, element_id, self.source.read(uri), self)

    def iter_markdown(
        self,
        token_budget: int | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
        skip: int = 0,
        count: TokenCounter = estimate_tokens,
    ) -> Iterator[MarkdownPassage]:
        """Yield the pages from `start` to before `stop` in Markdown, as far as the budget goes.

        All passages together cost at most `token_budget`. The last one is cut where the budget ends in it; to go on,
        start at its page and skip what was read of it, its `end`. Pages on which there is nothing are left out.

        Args:
            skip: How many characters of the first page to leave out.
            count: What a text costs.
        """
        budget = document_views.TokenBudget(token_budget, count)
        for index in range(start, self.page_count if stop is None else min(stop, self.page_count)):
            if budget.spent:
                return
            reply = self.source.read(self.uri_of(f"pages/{index}", format="markdown"))
            page = PageView(**document_views.page_of(self, index, reply))
            passage = budget.take(page, document_views.content_of(reply, "markdown"), skip if index == start else 0)
            if passage:
                yield passage
            if passage is None or not passage.complete:
                return


@dataclass(frozen=True, slots=True)
class SyncAgentPage(PageView):
    """A page of a document."""

    document: SyncAgentDocument = field(repr=False, compare=False, kw_only=True)

    def elements(self, *categories: ElementCategory) -> Iterator[SyncAgentElement]:
        """Yield the elements in reading order, all or those of some categories."""
        for element_id, data in document_views.elements_of(self._read("json", categories)):
            if not categories or data.get("category") in categories:
                yield SyncAgentElement(self.document.uri_of(f"elements/{element_id}"), element_id, data, self.document)

    def markdown(self, *categories: ElementCategory) -> str:
        """Return the page in Markdown, all of it or the elements of some categories."""
        return document_views.content_of(self._read("markdown", categories), "markdown")

    def text(self, *categories: ElementCategory) -> str:
        """Return the page as plain text, all of it or the elements of some categories."""
        return document_views.content_of(self._read("text", categories), "text")

    def _read(self, form: Format, categories: Iterable[str]) -> Mapping[str, Any]:
        params: dict[str, str] = {} if form == "json" else {"format": form}
        if wanted := ",".join(categories):
            params["categories"] = wanted
        return self.document.source.read(self.document.uri_of(f"pages/{self.index}", **params))


@dataclass(frozen=True, slots=True)
class SyncAgentElement(ElementView):
    """An element of a page: as the page shows it, or in full."""

    document: SyncAgentDocument = field(repr=False, compare=False)

    def detail(self) -> SyncAgentElement:
        """Return the element in full."""
        return self.document.element(self.id)
