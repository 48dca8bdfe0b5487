"""The aggregator of the Finder guide: reads every document of its MCP clients each time.

A Computer uses `FinderCollector` instead, which reads concurrently and caches.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.computer.finder.summaries import plain_uri, summary_of
from a2c_smcp.computer.resources.listing import document_of
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME


class McpClient(Protocol):
    """The required methods of a client: the official SDK's `mcp.Client` has them, and so has our session."""

    async def list_resources(self, *, cursor: str | None = None) -> Any:
        """Return one page of resources and the next cursor."""

    async def read_resource(self, uri: str) -> Any:
        """Return the contents of a resource."""


class FinderAggregator:
    """Collects the documents of MCP servers that support subscriptions.

    Args:
        mcp_clients: Connected clients by the names of their servers.
    """

    def __init__(self, mcp_clients: Mapping[SERVER_NAME, McpClient]) -> None:
        self._clients = mcp_clients
        self._uri_cache: set[str] = set()

    async def collect_documents(self) -> list[DPEDocumentSummary]:
        """Return the summaries of all documents, which may be incomplete. Exceptions of the clients propagate."""
        documents: list[DPEDocumentSummary] = []
        for server, client in self._clients.items():
            if _can_subscribe(client):
                documents += await self._documents_of(server, client)
        return documents

    def update_uri_cache(self, current_uris: Iterable[str]) -> bool:
        """Store these URIs; return whether they differ from those of the previous call."""
        uris = set(current_uris)
        changed, self._uri_cache = uris != self._uri_cache, uris
        return changed

    async def _documents_of(self, server: SERVER_NAME, client: McpClient) -> list[DPEDocumentSummary]:
        async def page(cursor: str | None) -> Page[Mapping[str, Any]]:
            listed = await client.list_resources(cursor=cursor)
            if isinstance(listed, tuple):
                return listed
            return [_as_json(one) for one in listed.resources], getattr(listed, "next_cursor", None)

        found: dict[str, DPEDocumentSummary] = {}
        async for resources in walk(page, PageLimits(), lambda _: None):
            for resource in resources:
                uri = str(resource.get("uri", ""))
                place = document_of(uri)
                if place is None or place[1] is None or uri in found:
                    continue
                metadata = _metadata(await client.read_resource(uri))
                found[uri] = summary_of(metadata, server, place[1], plain_uri(uri), resource)
        return list(found.values())


def _can_subscribe(client: Any) -> bool:
    """Whether the server behind a client declares `resources.subscribe`."""
    if hasattr(client, "has_capability"):
        return bool(client.has_capability("resources.subscribe"))
    if hasattr(client, "status"):
        return bool(client.status.subscribes)
    resources = getattr(getattr(client, "server_capabilities", None), "resources", None)
    return bool(getattr(resources, "subscribe", None))


def _metadata(reply: Any) -> object:
    """Return the JSON of a level-1 reply; None if it has none."""
    contents = reply if isinstance(reply, list) else getattr(reply, "contents", [])
    texts = [_as_json(one).get("text") for one in contents]
    try:
        return json.loads(next(text for text in texts if isinstance(text, str)))
    except (StopIteration, ValueError, RecursionError):
        return None


def _as_json(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    dumped: Mapping[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
