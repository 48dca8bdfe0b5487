# Generated from document_walk.py by tools/gen_sync.py. Edit the source, not this file.
"""Iterates over the documents of a Computer: catalogue, document, page, element, each read on demand."""

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
"""Default size of the reply cache."""

PAGE_SIZE: Final = 20
"""Documents or pages per request: the contract's default."""

INVALIDATING_EVENTS: Final = frozenset({"update_finder", "enter_office", "leave_office", "disconnected", "joined"})
"""Events after which cached replies may be out of date: a change, or a period without notifications."""

logger = logging.getLogger(__name__)


class SyncDocumentAgent(Protocol):
    """The methods of an Agent's client that this module needs."""

    @property
    def office_id(self) -> str | None:
        """The office that the Agent is in."""
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
        """Return a page of the catalogue."""
        ...

    def read_resource(self, computer: str, uri: str) -> dict[str, Any]:
        """Read a resource."""
        ...

    def get_tools(self, computer: str) -> list[SMCPTool]:
        """Return the tools of a Computer."""
        ...

    def call_tool(self, computer: str, tool_name: str, params: Mapping[str, Any] | None = None) -> CallToolResult:
        """Call a tool and return its result."""
        ...

    def on(self, kind: str, handler: Callable[[OfficeEvent], None]) -> Callable[[], None]:
        """Call `handler` for every event of a kind; returns an unsubscribe function."""
        ...


class SyncDocuments:
    """The documents of a Computer, in the order of its Finder.

    Iterate over all documents, or over those that `search` finds. Replies are cached until the Computer reports a
    change.

    Args:
        cache_bytes: Size of the cache; 0 disables it.
    """

    def __init__(self, agent: SyncDocumentAgent, computer: str, *, cache_bytes: int = CACHE_BYTES) -> None:
        self.computer = computer
        self._agent = agent
        self._cache = ReplyCache(cache_bytes)
        self._unsubscribe = agent.on("*", self._on_event)

    def __iter__(self) -> Iterator[SyncAgentDocument]:
        return self.search()

    def search(self, *keywords: str, file_type: str | None = None) -> Iterator[SyncAgentDocument]:
        """Yield the documents with any of the keywords in title, keywords or summary, and of the file type if given."""
        seen: set[str] = set()
        offset = 0
        while True:
            reply = self._catalogue(keywords, file_type, offset)
            new = list(document_views.known_documents(reply, seen))
            for uri, data in new:
                yield SyncAgentDocument(self.computer, uri, data, self)
            offset += len(reply.get("documents", ()))
            if not new or offset >= reply.get("total_count", 0):  # stops at a server that repeats itself
                return

    def search_text(self, query: str, limit: int = PAGE_SIZE) -> Iterator[SearchHit]:
        """Yield at most `limit` places where the text of the documents matches a query.

        It calls the tool `search_documents` of the Computer's MCP servers. If they find nothing, or no server has the
        tool, it yields the documents whose catalogue entry contains a word of the query. An empty query finds nothing.
        """
        if not query.strip():
            return
        hits = merge_hits(self._search_with_tools(query, limit), limit)
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
        """Return the number of documents that `search` finds."""
        return (self._catalogue(keywords, file_type, 0)).get("total_count", 0)

    def unavailable(self) -> list[str]:
        """Return the MCP servers whose documents are missing because they did not reply."""
        return (self._catalogue((), None, 0)).get("unavailable", [])

    def open(self, uri: str) -> SyncAgentDocument:
        """Return the document of a `dpe://` URI, which may point at a page or an element of it.

        Raises:
            InvalidDPEUri: The URI is not valid.
            DocumentNotFound: The document does not exist.
        """
        uri = document_uri(uri)
        return SyncAgentDocument(self.computer, uri, self.read(uri), self)

    def page(self, uri: str) -> SyncAgentPage:
        """Return the page of a `dpe://` URI: of a page, of an element, or the first of a document.

        Raises:
            InvalidDPEUri: The URI is not valid.
            DocumentNotFound, PageOutOfRange, ElementNotFound: The target does not exist.
        """
        parsed = parse_dpe_uri(uri)
        document = self.open(uri)
        index = parsed.page_index or 0
        if parsed.element_id is not None:
            index = (document.element(parsed.element_id)).page_index or 0
        return document.page(index)

    def read(self, uri: str) -> Mapping[str, Any]:
        """Read a resource, from the cache if possible.

        Raises:
            SMCPError: As `read_resource` of the client.
        """
        key = self._agent.office_id, uri  # another office may have a Computer of this name
        reply = self._cache.get(key)
        if reply is None:
            version = self._cache.version
            reply = self._agent.read_resource(self.computer, uri)
            self._cache.put(key, reply, version)
        return reply  # type: ignore[no-any-return]

    def refresh(self) -> None:
        """Clear the cache."""
        self._cache.clear()

    def close(self) -> None:
        """Unsubscribe from events and disable the cache."""
        self._unsubscribe()
        self._cache = ReplyCache(0)

    def _on_event(self, event: OfficeEvent) -> None:
        if event.kind in INVALIDATING_EVENTS and event.computer in (None, self.computer):
            self._cache.clear()

    def _catalogue(self, keywords: tuple[str, ...], file_type: str | None, offset: int) -> GetFinderRet:
        key = (self._agent.office_id, keywords, file_type, offset)
        reply = self._cache.get(key)
        if reply is None:
            version = self._cache.version
            reply = self._agent.get_finder(
                self.computer, keywords=list(keywords) or None, file_type=file_type, offset=offset, limit=PAGE_SIZE
            )
            self._cache.put(key, reply, version)
        return reply  # type: ignore[no-any-return]

    def _search_with_tools(self, query: str, limit: int) -> list[list[SearchHit]]:
        tools = search_tools(self._agent.get_tools(self.computer))
        return sync_gather(self._search_with_tool(tool, query, limit) for tool in tools)

    def _search_with_tool(self, tool: SMCPTool, query: str, limit: int) -> list[SearchHit]:
        try:
            result = self._agent.call_tool(self.computer, tool["name"], search_arguments(tool, query, limit))
        except SMCPError as error:
            logger.warning("search failed: %s tool=%s computer=%s", error, tool["name"], self.computer)
            return []
        return list(read_hits(result))


@dataclass(frozen=True, slots=True)
class SyncAgentDocument(DocumentView):
    """A document of a Computer."""

    source: SyncDocuments = field(repr=False, compare=False)

    def pages(self, start: int = 0, stop: int | None = None) -> Iterator[SyncAgentPage]:
        """Yield the pages from `start` up to, not including, `stop`."""
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
        """Return a page by its index, counted from 0.

        Raises:
            PageOutOfRange: The page does not exist.
        """
        reply = self.source.read(self.uri_of(f"pages/{index}"))
        return SyncAgentPage(**document_views.page_of(self, index, reply), document=self)

    def element(self, element_id: str) -> SyncAgentElement:
        """Return an element in full.

        Raises:
            ElementNotFound: The element does not exist.
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
        """Yield the pages from `start` up to, not including, `stop` in Markdown, within a token budget.

        All passages together have at most `token_budget` tokens, so the last may be cut. To continue, start at its page
        with `skip` set to its `end`. Empty pages are omitted.

        Args:
            skip: Characters to skip on the first page.
            count: Returns the number of tokens of a text.
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
        """Yield the elements in reading order; only those of the categories, if given."""
        for element_id, data in document_views.elements_of(self._read("json", categories)):
            if not categories or data.get("category") in categories:
                yield SyncAgentElement(self.document.uri_of(f"elements/{element_id}"), element_id, data, self.document)

    def markdown(self, *categories: ElementCategory) -> str:
        """Return the page in Markdown; only elements of the categories, if given."""
        return document_views.content_of(self._read("markdown", categories), "markdown")

    def text(self, *categories: ElementCategory) -> str:
        """Return the page as plain text; only elements of the categories, if given."""
        return document_views.content_of(self._read("text", categories), "text")

    def _read(self, form: Format, categories: Iterable[str]) -> Mapping[str, Any]:
        params: dict[str, str] = {} if form == "json" else {"format": form}
        if wanted := ",".join(categories):
            params["categories"] = wanted
        return self.document.source.read(self.document.uri_of(f"pages/{self.index}", **params))


@dataclass(frozen=True, slots=True)
class SyncAgentElement(ElementView):
    """An element of a page: as the page lists it, or in full."""

    document: SyncAgentDocument = field(repr=False, compare=False)

    def detail(self) -> SyncAgentElement:
        """Return the element in full."""
        return self.document.element(self.id)
