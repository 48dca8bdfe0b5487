# Generated from resources.py by tools/gen_sync.py. Edit the source, not this file.
"""The methods of the Agent's client for resources, documents and completion of a Computer's MCP servers."""

from collections.abc import Mapping
from typing import Any

from a2c_smcp.agent.loop_thread import BlockingClientBase
from a2c_smcp.messages import (
    CompleteRet,
    GetComputerConfigRet,
    GetResourceTemplatesRet,
    GetResourcesRet,
    ReadResourceRet,
)


class SyncResourceMethods(BlockingClientBase):
    """Reads what the MCP servers of a Computer offer."""

    def get_config(self, computer: str) -> GetComputerConfigRet:
        """Return a Computer's configuration without secrets; raises as `get_tools`.

        Running servers that have instructions for models include them as `instructions`.
        """
        return self._thread.run(self._agent.get_config(computer))

    def read_result(
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
        return self._thread.run(self._agent.read_result(computer, uri, mcp_server=mcp_server, meta=meta))

    def read_contents(self, computer: str, uri: str, *, mcp_server: str | None = None) -> list[dict[str, Any]]:
        """Read a resource of any scheme and return its MCP contents unchanged: each has `text` or `blob`.

        Raises as `read_result`.
        """
        return self._thread.run(self._agent.read_contents(computer, uri, mcp_server=mcp_server))

    def read_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> dict[str, Any]:
        """Read a resource of any scheme and return it as a dict; raises as `read_result`.

        JSON objects are parsed; Markdown is in `content_markdown` and other text in `content_text`, with `title` and
        `uri`; binary data is base64 in `blob`.
        """
        return self._thread.run(self._agent.read_resource(computer, uri, mcp_server=mcp_server))

    def read_document_metadata(self, computer: str, uri: str) -> dict[str, Any]:
        """Read the metadata of a document; raises as `read_result`."""
        return self._thread.run(self._agent.read_document_metadata(computer, uri))

    def read_document_pages(self, computer: str, uri: str, offset: int = 0, limit: int = 20) -> dict[str, Any]:
        """Read the metadata of a document and a part of its page index; raises as `read_result`."""
        return self._thread.run(self._agent.read_document_pages(computer, uri, offset, limit))

    def read_page(
        self,
        computer: str,
        uri: str,
        page_index: int,
        format: str = "json",  # noqa: A002 - the contract's name
    ) -> dict[str, Any]:
        """Read a page of a document, as `json`, `markdown` or `text`; raises as `read_result`."""
        return self._thread.run(self._agent.read_page(computer, uri, page_index, format))

    def read_element(self, computer: str, uri: str, element_id: str) -> dict[str, Any]:
        """Read an element of a document in full; raises as `read_result`."""
        return self._thread.run(self._agent.read_element(computer, uri, element_id))

    def get_resources(
        self, computer: str, mcp_server: str | None = None, cursor: str | None = None
    ) -> GetResourcesRet:
        """List a page of the resources of one MCP server, or all resources of all servers; raises as `get_tools`.

        Args:
            mcp_server: Its name in the Computer's configuration. Without it, servers that cannot list are omitted.
            cursor: The `next_cursor` of the previous page.
        """
        return self._thread.run(self._agent.get_resources(computer, mcp_server, cursor))

    def get_resource_templates(
        self, computer: str, mcp_server: str | None = None, cursor: str | None = None
    ) -> GetResourceTemplatesRet:
        """List the resource templates of one MCP server, or of all, as `get_resources` lists resources."""
        return self._thread.run(self._agent.get_resource_templates(computer, mcp_server, cursor))

    def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
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
        return self._thread.run(self._agent.subscribe_resource(computer, uri, mcp_server=mcp_server))

    def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        """End a subscription, with the same arguments that made it; raises as `get_tools`."""
        return self._thread.run(self._agent.unsubscribe_resource(computer, uri, mcp_server=mcp_server))

    def complete(
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
        return self._thread.run(self._agent.complete(computer, mcp_server, ref, argument, context, meta=meta))
