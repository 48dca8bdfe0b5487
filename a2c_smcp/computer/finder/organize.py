"""Selects, sorts and paginates the documents of all MCP servers. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from a2c_smcp.computer.finder.catalogue import (
    FIELD_SEPARATOR,
    NO_SERVER,
    FinderCatalogue,
    fold,
    group_by_server,
    is_entry,
    matching,
    newest_first,
)
from a2c_smcp.computer.tools.history import History, order_servers
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME

_ByServer: TypeAlias = Mapping[SERVER_NAME, Sequence[DPEDocumentSummary]]


def organize_finder(
    documents: FinderCatalogue | Iterable[DPEDocumentSummary],
    keywords: Iterable[str] | None = None,
    file_type: str | None = None,
    history: History | None = None,
    offset: int = 0,
    limit: int = 20,
) -> tuple[list[DPEDocumentSummary], int]:
    """Return one page of the documents that pass the filters, and how many pass in all.

    The documents are neither copied nor modified. Those whose URI is invalid or not of level 1 are dropped. Those
    without a server come last.

    Args:
        documents: Pass a `FinderCatalogue` to organize the same documents repeatedly.
        keywords: At least one must occur in the title, the keywords or the summary, ignoring case. An empty one
            matches everything.
        file_type: The exact type; None or empty matches any.
        history: Tool calls, oldest first.

    Raises:
        BadRequest: `offset` or `limit` is not a non-negative integer, or `keywords` is not a list of strings.
    """
    _check_count("offset", offset)
    _check_count("limit", limit)
    needles = _needles(keywords)
    if isinstance(documents, FinderCatalogue):
        found = _search_catalogue(documents, needles, file_type)
    else:
        found = _search_list(documents, needles, file_type)
    total = sum(map(len, found.values()))
    order = order_servers(found.keys() - {NO_SERVER}, history)
    if NO_SERVER in found:
        order.append(NO_SERVER)
    return _slice([found[server] for server in order], offset, limit), total


def _check_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRequest(f"{name} must be a whole number of 0 or more", details={"argument": name})


def _needles(keywords: object) -> Sequence[str] | None:
    """Return the folded keywords; None matches everything, an empty sequence nothing."""
    if keywords is None:
        return None
    # A string is an iterable of characters, which would match nearly everything.
    words = None if isinstance(keywords, str) or not isinstance(keywords, Iterable) else list(keywords)
    if words is None or not all(isinstance(word, str) for word in words):
        raise BadRequest("keywords must be a list of strings", details={"argument": "keywords"})
    needles = dict.fromkeys(word.casefold() for word in words)
    if not needles or "" in needles:
        return None
    return [needle for needle in needles if FIELD_SEPARATOR not in needle]


def _search_catalogue(catalogue: FinderCatalogue, needles: Sequence[str] | None, file_type: str | None) -> _ByServer:
    found = {}
    for server, entry in catalogue.servers.items():
        hits = entry.documents if needles is None else matching(entry.documents, entry.texts, needles)
        found[server] = _of_type(hits, file_type)
    return found


def _search_list(documents: Iterable[Any], needles: Sequence[str] | None, file_type: str | None) -> _ByServer:
    # The order of the filters does not matter. Parsing URIs and dates is expensive, so it comes last.
    hits: Sequence[Any] = [document for document in documents if isinstance(document, dict)]
    if needles is not None:
        hits = matching(hits, map(fold, hits), needles)
    groups = group_by_server(filter(is_entry, _of_type(hits, file_type)))
    return {server: newest_first(group) for server, group in groups.items()}


def _of_type(documents: Sequence[DPEDocumentSummary], file_type: str | None) -> Sequence[DPEDocumentSummary]:
    if not file_type:
        return documents
    return [document for document in documents if document.get("file_type") == file_type]


def _slice(groups: Iterable[Sequence[DPEDocumentSummary]], offset: int, limit: int) -> list[DPEDocumentSummary]:
    # Group by group, because concatenating all groups would be expensive for the first page.
    page: list[DPEDocumentSummary] = []
    for documents in groups:
        page += documents[offset : offset + limit - len(page)]
        offset = max(offset - len(documents), 0)
    return page
