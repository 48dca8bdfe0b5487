"""A link to an MCP server on streamable HTTP."""

from contextlib import AsyncExitStack
from typing import cast

from mcp.client.streamable_http import streamable_http_client

from a2c_smcp.computer.mcp_clients.http import HttpLink, WatchedClient
from a2c_smcp.computer.mcp_clients.links import MAX_MESSAGE, Reader, Writer
from a2c_smcp.computer.mcp_clients.masking import Mask
from a2c_smcp.computer.mcp_clients.model import MCPServerStreamableHttpParameters


class StreamableLink(HttpLink):
    """One session with a server on streamable HTTP."""

    def __init__(
        self, parameters: MCPServerStreamableHttpParameters, mask: Mask, max_message: int = MAX_MESSAGE
    ) -> None:
        super().__init__(mask, max_message)
        self._parameters = parameters
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> tuple[Reader, Writer]:
        """Prepare; nothing is sent before the first message."""
        parameters = self._parameters
        client = await self._stack.enter_async_context(
            await WatchedClient.to(
                self,
                headers=parameters.headers,
                patience=parameters.timeout.total_seconds(),
                silence=parameters.sse_read_timeout.total_seconds(),
            )
        )
        streams = await self._stack.enter_async_context(
            streamable_http_client(
                parameters.url,
                http_client=client,
                terminate_on_close=parameters.terminate_on_close,
                # The client has a limit of its own, which fails one request only.
                max_sse_event_size=None,
            )
        )
        return cast("tuple[Reader, Writer]", streams)

    async def __aexit__(self, *error: object) -> None:
        """End the session at the server, if so configured."""
        await self._stack.__aexit__(*error)  # type: ignore[arg-type]

    @property
    def is_sse(self) -> bool:
        """Whether the endpoint refused messages in the way of the older transport, which has another door for them."""
        return self.status in (404, 405)
