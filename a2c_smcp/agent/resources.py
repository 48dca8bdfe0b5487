"""The methods of the Agent's client for resources, documents and completion of a Computer's MCP servers."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from a2c_smcp.agent.requests import document_uri, read_form
from a2c_smcp.agent.subscriptions import ResourceSubscriptions
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.errors import BadRequest, SMCPError
from a2c_smcp.messages import (
    CompleteRet,
    GetComputerConfigRet,
    GetResourcesRet,
    GetResourceTemplatesRet,
    ReadResourceRet,
)
from a2c_smcp.smcp import (
    COMPLETE_EVENT,
    GET_CONFIG_EVENT,
    GET_RESOURCE_TEMPLATES_EVENT,
    GET_RESOURCES_EVENT,
    READ_RESOURCE_EVENT,
)

log = logging.getLogger(__name__)


class ResourceMethods(ABC):
    """Reads what the MCP servers of a Computer offer."""

    _subscriptions: ResourceSubscriptions

    @abstractmethod
    async def _ask(self, event: str, computer: str, **fields: Any) -> Any:
        """Send a request to a Computer and return the validated reply; fields that are None are omitted."""

    async def get_config(self, computer: str) -> GetComputerConfigRet:
        """Return a Computer's configuration without secrets; raises as `get_tools`.

        Running servers that have instructions for models include them as `instructions`.
        """
        config: GetComputerConfigRet = await self._ask(GET_CONFIG_EVENT, computer)
        return config

    async def read_result(
        self, computer: str, uri: str, *, mcp_server: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> ReadResourceRet:
        """Read a resource of any scheme and return the result of its MCP server: `contents`, and `meta` if present.

        Args:
            mcp_server: The MCP server to read from; required if several serve the URI.
            meta: MCP's `_meta` of the request, such as `{"traceparent": …}`; it reaches the MCP server.

        Raises:
            BadRequest: Several MCP servers serve the URI; `details["mcp_servers"]` names them.
            DocumentNotFound, PageOutOfRange, ElementNotFound: The target of a `dpe://` URI does not exist.
            InvalidDPEUri: A `dpe://` URI is not valid.
            SMCPError: As `get_tools`.
        """
        given = dict(meta) if meta else None
        found: ReadResourceRet = await self._ask(
            READ_RESOURCE_EVENT, computer, uri=uri, mcp_server=mcp_server, meta=given
        )
        return found

    async def read_contents(self, computer: str, uri: str, *, mcp_server: str | None = None) -> list[dict[str, Any]]:
        """Read a resource of any scheme and return its MCP contents unchanged: each has `text` or `blob`.

        Raises as `read_result`.
        """
        return (await self.read_result(computer, uri, mcp_server=mcp_server))["contents"]

    async def read_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> dict[str, Any]:
        """Read a resource of any scheme and return it as a dict; raises as `read_result`.

        JSON objects are parsed; Markdown is in `content_markdown` and other text in `content_text`, with `title` and
        `uri`; binary data is base64 in `blob`.
        """
        return read_form(uri, await self.read_contents(computer, uri, mcp_server=mcp_server))

    async def read_document_metadata(self, computer: str, uri: str) -> dict[str, Any]:
        """Read the metadata of a document; raises as `read_result`."""
        return await self.read_resource(computer, document_uri(uri))

    async def read_document_pages(self, computer: str, uri: str, offset: int = 0, limit: int = 20) -> dict[str, Any]:
        """Read the metadata of a document and a part of its page index; raises as `read_result`."""
        place = document_uri(uri, depth="pages", offset=str(offset), limit=str(limit))
        return await self.read_resource(computer, place)

    async def read_page(
        self,
        computer: str,
        uri: str,
        page_index: int,
        format: str = "json",  # noqa: A002 - the contract's name
    ) -> dict[str, Any]:
        """Read a page of a document, as `json`, `markdown` or `text`; raises as `read_result`."""
        return await self.read_resource(computer, document_uri(uri, f"pages/{page_index}", format=format))

    async def read_element(self, computer: str, uri: str, element_id: str) -> dict[str, Any]:
        """Read an element of a document in full; raises as `read_result`."""
        return await self.read_resource(computer, document_uri(uri, f"elements/{element_id}"))

    async def get_resources(
        self, computer: str, mcp_server: str | None = None, cursor: str | None = None
    ) -> GetResourcesRet:
        """List a page of the resources of one MCP server, or all resources of all servers; raises as `get_tools`.

        Args:
            mcp_server: Its name in the Computer's configuration. Without it, servers that cannot list are omitted.
            cursor: The `next_cursor` of the previous page.
        """
        if mcp_server is None:
            found: GetResourcesRet = await self._all(GET_RESOURCES_EVENT, computer, "resources", cursor)
        else:
            found = await self._ask(GET_RESOURCES_EVENT, computer, mcp_server=mcp_server, cursor=cursor)
        return found

    async def get_resource_templates(
        self, computer: str, mcp_server: str | None = None, cursor: str | None = None
    ) -> GetResourceTemplatesRet:
        """List the resource templates of one MCP server, or of all, as `get_resources` lists resources."""
        if mcp_server is None:
            found: GetResourceTemplatesRet = await self._all(
                GET_RESOURCE_TEMPLATES_EVENT, computer, "resource_templates", cursor
            )
        else:
            found = await self._ask(GET_RESOURCE_TEMPLATES_EVENT, computer, mcp_server=mcp_server, cursor=cursor)
        return found

    async def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
        """Subscribe to updates of a resource of any scheme; they are events of the kind `update_resources`.

        A subscription lasts until it is ended or the Agent joins another office. After the Computer or the connection
        was lost, it is renewed, and the resource is reported as updated.

        Returns:
            The MCP server that serves the resource.

        Raises:
            BadRequest: Several MCP servers serve the URI, or its server does not support subscriptions.
            RateLimited: The Agent has reached the subscription limit of the Computer.
            SMCPError: As `get_tools`.
        """
        return await self._subscriptions.add(computer, uri, mcp_server)

    async def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        """End a subscription, with the same arguments that made it; raises as `get_tools`."""
        await self._subscriptions.remove(computer, uri, mcp_server)

    async def complete(
        self,
        computer: str,
        mcp_server: str | None,
        ref: Mapping[str, Any],
        argument: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> CompleteRet:
        """Complete an argument of a prompt or a resource template; raises as `get_tools`.

        Args:
            mcp_server: The MCP server; None if only one of the Computer's offers what `ref` refers to.
            ref: The MCP reference, such as `{"type": "ref/resource", "uri": "dpe://host/{doc_ref}"}`.
            argument: `{"name": …, "value": the text typed so far}`.
            context: Values chosen earlier: `{"arguments": {…}}`.
            meta: MCP's `_meta` of the request.
        """
        found: CompleteRet = await self._ask(
            COMPLETE_EVENT,
            computer,
            mcp_server=mcp_server,
            ref=dict(ref),
            argument=dict(argument),
            context=dict(context) if context is not None else None,
            meta=dict(meta) if meta else None,
        )
        return found

    async def _all(self, event: str, computer: str, field: str, cursor: str | None) -> Any:
        if cursor is not None:
            raise BadRequest("A cursor belongs to one MCP server: pass mcp_server too")
        servers = (await self.get_config(computer))["servers"]
        lists = await asyncio.gather(
            *(
                self._pages(event, computer, field, name)
                for name, server in servers.items()
                if not server.get("disabled")
            )
        )
        return {field: [item for items in lists for item in items], "req_id": ""}

    async def _pages(self, event: str, computer: str, field: str, mcp_server: str) -> list[dict[str, Any]]:
        async def page(cursor: str | None) -> Page[dict[str, Any]]:
            reply = await self._ask(event, computer, mcp_server=mcp_server, cursor=cursor)
            return reply[field], reply.get("next_cursor")

        def cut(reason: str) -> None:
            log.warning("list truncated: %s event=%s mcp_server=%s", reason, event, mcp_server)

        found: list[dict[str, Any]] = []
        try:
            async for items in walk(page, PageLimits(), cut):
                found += items
        except SMCPError as problem:
            log.info("list failed: %s event=%s mcp_server=%s", problem, event, mcp_server)
        return found
