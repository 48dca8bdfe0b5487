"""The older HTTP transport: one event stream from the server, a POST for every message to it.

The SDK's implementation is not used: it ends the session at an event over 1 MiB, and a request whose POST fails waits
forever.
"""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from a2c_smcp.computer.config.models import MCPSSEParameters
from a2c_smcp.computer.config.secret_detection import ServerMask
from a2c_smcp.computer.mcp import diagnosis
from a2c_smcp.computer.mcp.diagnosis import ServerFailure
from a2c_smcp.computer.mcp.http import HttpTransport, ObservedHttpClient, unreachable
from a2c_smcp.computer.mcp.jsonrpc import bytes_text, decode, encode
from a2c_smcp.computer.mcp.transport import (
    MAX_MESSAGE,
    Incoming,
    MessageReadStream,
    MessageWriteStream,
    TransportOpenError,
)


class SseTransport(HttpTransport):
    """One event stream of a server, and the endpoint that the server announced."""

    def __init__(self, parameters: MCPSSEParameters, mask: ServerMask, max_message: int = MAX_MESSAGE) -> None:
        super().__init__(mask, max_message)
        self._parameters = parameters
        self._stack = AsyncExitStack()
        self.ended = False
        self.too_large: ServerFailure | None = None

    async def __aenter__(self) -> tuple[MessageReadStream, MessageWriteStream]:
        """Open the event stream and wait for the endpoint."""
        try:
            return await self._open()
        except BaseException:
            await self._stack.aclose()
            raise

    async def __aexit__(self, *_: object) -> None:
        """Close the stream."""
        with anyio.CancelScope(shield=True):
            await self._stack.aclose()

    @property
    def lost(self) -> ServerFailure | None:
        """The session ends with its stream."""
        if self.too_large is not None:
            return self.too_large
        return diagnosis.stream_lost() if self.ended else super().lost

    def on_unmatched_reply(self, size: int | None) -> None:
        """End the session: the request of this reply would wait forever."""
        self.too_large = diagnosis.answer_too_large(bytes_text(self.max_message, size), self.max_message)

    async def _open(self) -> tuple[MessageReadStream, MessageWriteStream]:
        url = self._parameters.url
        client = await self._stack.enter_async_context(
            await ObservedHttpClient.to(
                self,
                headers=self._parameters.headers,
                patience=self._parameters.timeout,
                silence=self._parameters.sse_read_timeout,
            )
        )
        request = client.build_request("GET", url, headers={"Accept": "text/event-stream", "Cache-Control": "no-store"})
        try:
            response = await client.send(request, stream=True)
        except httpx2.TransportError as error:
            raise TransportOpenError(unreachable(error)) from error
        self._stack.push_async_callback(response.aclose)
        if response.status_code != 200:
            raise TransportOpenError(diagnosis.bad_status(response.status_code))
        events = aiter(httpx2.EventSource(response, max_event_size=None))
        try:
            endpoint = await _endpoint(events, url)
        except (httpx2.HTTPError, httpx2.SSEError) as error:
            raise TransportOpenError(_no_stream()) from error
        if endpoint is None:
            raise TransportOpenError(_no_stream())
        return _SseReader(events, self), _PostWriter(client, endpoint)


async def _endpoint(events: AsyncIterator[httpx2.ServerSentEvent], url: str) -> str | None:
    async for event in events:
        if event.event == "endpoint":
            endpoint = urljoin(url, event.data)
            # The configured headers go to the endpoint, so it must have the same origin.
            if urlsplit(endpoint)[:2] != urlsplit(url)[:2]:
                raise TransportOpenError(
                    diagnosis.refused_handshake("the server wants messages to be sent to another origin", None)
                )
            return endpoint
    return None


def _no_stream() -> ServerFailure:
    return diagnosis.refused_handshake("the URL gave no event stream of an MCP server", None)


class _SseReader(MessageReadStream):
    """The messages of the event stream."""

    def __init__(self, events: AsyncIterator[httpx2.ServerSentEvent], transport: SseTransport) -> None:
        self._events = events
        self._transport = transport
        self._batch: deque[JSONRPCMessage] = deque()

    async def receive(self) -> Incoming:
        while not self._batch:
            try:
                event = await anext(self._events)
            except (StopAsyncIteration, httpx2.HTTPError, httpx2.SSEError):
                self._transport.ended = True
                raise anyio.EndOfStream from None
            if self._transport.too_large is not None:
                self._transport.ended = True
                raise anyio.EndOfStream
            if event.event == "message" and event.data:
                try:
                    self._batch.extend(decode(event.data))
                except ValueError as error:
                    return error
        return SessionMessage(self._batch.popleft())

    async def aclose(self) -> None:
        """Do nothing: the transport closes the stream."""


class _PostWriter(MessageWriteStream):
    """Posts messages to the endpoint, each in the task that sends it."""

    def __init__(self, client: ObservedHttpClient, endpoint: str) -> None:
        self._client = client
        self._endpoint = endpoint

    async def send(self, item: SessionMessage, /) -> None:
        if self._client.is_closed:
            raise anyio.BrokenResourceError
        response = await self._client.post(
            self._endpoint, content=encode(item.message), headers={"Content-Type": "application/json"}
        )
        if response.status_code >= 300:
            raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        """Do nothing: the transport closes the client."""
