"""Full-text search with the tool `search_documents` of document servers: arguments and results. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.smcp import CallToolResult, SMCPTool
from a2c_smcp.uris.dpe import parse_dpe_uri

TOOL: Final = "search_documents"

_LISTS: Final = ("hits", "results", "result", "documents")
_SNIPPETS: Final = ("snippet", "text", "summary")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search result.

    Attributes:
        uri: The `dpe://` URI of the element, page or document.
        title: Title of the document.
        snippet: An excerpt of one or two lines.
        page_index: Index of the page, if the server reports it.
    """

    uri: str
    title: str
    snippet: str
    page_index: int | None = None


def search_tools(tools: Sequence[SMCPTool]) -> list[SMCPTool]:
    """Return the tools named `search_documents`, with or without the prefix of their server."""
    return [tool for tool in tools if tool["name"] == TOOL or tool["name"].endswith(f"__{TOOL}")]


def search_arguments(tool: SMCPTool, query: str, limit: int) -> dict[str, Any]:
    """Return the arguments of a search call."""
    properties = tool["params_schema"].get("properties")
    known = properties.get("limit") if isinstance(properties, Mapping) else None
    if not isinstance(known, Mapping):
        return {"query": query}
    most = known.get("maximum")
    return {"query": query, "limit": min(limit, most) if isinstance(most, int) else limit}


def read_hits(result: CallToolResult) -> Iterator[SearchHit]:
    """Yield the hits of a search result that have a readable URI; other entries are ignored."""
    for item in _items(result):
        uri = item.get("uri")
        if isinstance(uri, str) and _readable(uri):
            snippet = next((item[key] for key in _SNIPPETS if isinstance(item.get(key), str)), "")
            title, index = item.get("title"), item.get("page_index")
            yield SearchHit(
                uri, title if isinstance(title, str) else "", snippet, index if isinstance(index, int) else None
            )


def merge_hits(answers: Iterable[Iterable[SearchHit]], limit: int) -> list[SearchHit]:
    """Return at most `limit` hits of several servers: the best of each, then the second best, without duplicates."""
    found: dict[str, SearchHit] = {}
    for round_ in zip_longest(*answers):
        for hit in filter(None, round_):
            found.setdefault(hit.uri, hit)
    return list(found.values())[:limit]


def query_keywords(query: str) -> list[str]:
    """Return the keywords of a query: the whole query, then each word."""
    return list(dict.fromkeys(part for part in (query.strip(), *query.split()) if part))


def _items(result: CallToolResult) -> Iterator[Mapping[str, Any]]:
    candidates: list[Any] = [result.get("structuredContent")]
    candidates += [_parsed(item.get("text")) for item in result.get("content") or [] if item.get("type") == "text"]
    for candidate in candidates:
        if isinstance(candidate, Mapping):
            candidate = next((candidate[key] for key in _LISTS if isinstance(candidate.get(key), list)), None)  # noqa: PLW2901
        if isinstance(candidate, list):
            yield from (item for item in candidate if isinstance(item, Mapping))
            return


def _parsed(text: object) -> Any:
    try:
        return FastJson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _readable(uri: str) -> bool:
    try:
        return parse_dpe_uri(uri).doc_ref is not None
    except InvalidDPEUri:
        return False
