"""The base of both HTTP transports, and the streamable one.

Its HTTP client observes every response, and fails a single request instead of the whole transport.
"""

import asyncio
import logging
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from functools import cache
from typing import Any, Final, cast

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, JSONRPCError, RequestId
from pydantic_core import from_json

from a2c_smcp.computer.config.models import MCPServerStreamableHttpParameters
from a2c_smcp.computer.config.secret_detection import ServerMask
from a2c_smcp.computer.mcp import diagnosis
from a2c_smcp.computer.mcp.diagnosis import ServerFailure
from a2c_smcp.computer.mcp.framing import OversizedMessage, SseSplitter
from a2c_smcp.computer.mcp.jsonrpc import encode, replacement_for, too_large
from a2c_smcp.computer.mcp.transport import MAX_MESSAGE, McpTransport, MessageReader, MessageWriter

SESSION_HEADER: Final = "mcp-session-id"
CLOSE_SECONDS: Final = 2.0
# The SDK retries a broken event stream this often and then gives up silently.
SDK_STREAM_RETRIES: Final = 2
NO_REPLY: Final = {"lost": True}
"""The data of the error reply that replaces a missing reply."""


class HttpTransport(McpTransport):
    """The state of a server as its HTTP responses show it.

    Attributes:
        max_message: The size limit of a message from the server, in bytes.
    """

    def __init__(self, mask: ServerMask, max_message: int) -> None:
        super().__init__()
        self.mask = mask
        self.max_message = max_message
        self._status: int | None = None
        self._error: Exception | None = None
        self._session_lost = False
        self._streams = 0
        self._broken_streams = 0
        _mask_logs(mask)

    @property
    def status(self) -> int | None:
        """The HTTP status of the latest response to a message; None if there was no response."""
        return self._status

    @property
    def lost(self) -> ServerFailure | None:
        """The server no longer knows the session, or its event stream is broken."""
        if self._session_lost:
            return diagnosis.session_lost()
        return diagnosis.stream_lost() if self._broken_streams >= SDK_STREAM_RETRIES else None

    def explain(self, *, running: bool) -> ServerFailure | None:
        """Return the failure that the latest response to a message shows."""
        if (failure := self.lost) is not None:
            return failure
        if self._error is not None:
            return unreachable(self._error)
        if running and self._status in (400, 404):
            return diagnosis.session_lost()
        if self._status is not None and self._status >= 300:
            return diagnosis.bad_status(self._status)
        return None

    def on_response(self, request: httpx2.Request, status: int) -> None:
        """Record a response."""
        match request.method:
            case "POST":
                self._status, self._error = status, None
                self._session_lost |= status == 404 and SESSION_HEADER in request.headers
            case "GET" if status < 300:
                self._streams += 1
                self._broken_streams = 0
                if self._streams > 1:
                    self.on_gap()
            case "GET" if self._streams:
                self._broken_streams += 1
                self._session_lost |= status == 404 and SESSION_HEADER in request.headers
            case _:
                # The event stream is optional; servers refuse it with various statuses.
                return
        if status >= 400:
            self.on_doubt()

    def on_unmatched_reply(self, size: int | None) -> None:
        """Record a reply over the limit whose request is unknown."""

    def on_failure(self, request: httpx2.Request, error: Exception) -> None:
        """Record that there was no response, or only a part of one."""
        if request.method == "GET":
            self._broken_streams += 1
        else:
            self._status, self._error = None, error
        self.on_doubt()


class ObservedHttpClient(httpx2.AsyncClient):
    """An HTTP client that reports every response to its transport.

    If a message cannot be delivered, the client replies with a JSON-RPC error, because in the SDK one failed request
    would fail all others of the server. It replaces a reply over the size limit by an error too, because the SDK has no
    limit for JSON and ends a stream at an event over its limit.
    """

    def __init__(self, transport: HttpTransport, **options: Any) -> None:
        super().__init__(**options)
        self._mcp_transport = transport

    @classmethod
    async def to(
        cls, transport: HttpTransport, *, headers: Mapping[str, str] | None, patience: float, silence: float
    ) -> "ObservedHttpClient":
        """Return a client with the configured headers and timeouts: `patience` to connect, `silence` to read."""
        times = httpx2.Timeout(patience, read=silence)
        certificates = await asyncio.to_thread(_certificates)
        # As bytes, because the client rejects strings that are not ASCII.
        encoded = [(name.encode(), value.encode(errors="replace")) for name, value in (headers or {}).items()]
        return cls(transport, headers=encoded, timeout=times, verify=certificates)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and report the result to the transport. Network errors of a POST become error replies."""
        if request.method == "DELETE":
            return await self._end_session(request, **options)
        stream = options.pop("stream", False)
        try:
            response = await super().send(request, stream=True, **options)
        except httpx2.TransportError as error:
            self._mcp_transport.on_failure(request, error)
            if request.method == "GET":
                raise
            return _no_answer(request, error)
        self._mcp_transport.on_response(request, response.status_code)
        response.stream = _LimitedBody(response, self._mcp_transport)
        # `_LimitedBody` has decoded it already.
        response.headers.pop("content-encoding", None)
        if not stream:
            await response.aread()
        return response

    async def _end_session(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # The session ends in any case: do not wait for a server that is gone.
        if self._mcp_transport.explain(running=True) is None:
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    response = await super().send(request, **options | {"stream": True})
                    await response.aclose()
                    return httpx2.Response(response.status_code, request=request)
            except (httpx2.TransportError, TimeoutError):
                pass
        return httpx2.Response(204, request=request)


@cache
def _certificates() -> ssl.SSLContext:
    # Loading the certificate authorities takes a tenth of a second.
    return httpx2.create_ssl_context()


class _LimitedBody(httpx2.AsyncByteStream):
    """A response body that ends, instead of raising, when the connection breaks, and has no message over the limit."""

    def __init__(self, response: httpx2.Response, transport: HttpTransport) -> None:
        headers = response.headers
        self._transport = transport
        self._request = response.request
        self._stream = cast("httpx2.AsyncByteStream", response.stream)
        self._encoding = headers.get("content-encoding", "identity")
        self._length = headers.get("content-length", "")
        self._is_events = headers.get("content-type", "").lower().startswith("text/event-stream")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self._events() if self._is_events else self._whole()) as pieces:
                async for piece in pieces:
                    yield piece
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            # The SDK reopens a broken notification stream; its response shows whether that works.
            if self._request.method == "GET":
                self._transport.on_doubt()
            else:
                self._transport.on_failure(self._request, error)

    async def aclose(self) -> None:
        """Close the body itself."""
        await self._stream.aclose()

    async def _whole(self) -> AsyncGenerator[bytes, None]:
        limit = self._transport.max_message
        if self._encoding == "identity" and self._length.isdecimal() and int(self._length) > limit:
            yield _json(too_large(_id_of(self._request), limit, int(self._length)))
            return
        body = bytearray()
        async with aclosing(self._decoded()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > limit:
                    yield _json(too_large(_id_of(self._request), limit))
                    return
        yield bytes(body)

    async def _events(self) -> AsyncGenerator[bytes, None]:
        events = SseSplitter(self._transport.max_message)
        replied = False
        async with aclosing(self._decoded()) as chunks:
            async for chunk in chunks:
                for event in events.feed(chunk):
                    if not isinstance(event, OversizedMessage):
                        yield event
                        continue
                    request_id = _id_of(self._request)
                    error = None if replied else replacement_for(event, request_id)
                    if error is not None:
                        if error.id is None:
                            self._transport.on_unmatched_reply(event.size)
                        yield _event(error)
                        if request_id is not None:
                            return
                    elif event.size is not None and not replied:
                        self._transport.on_gap()
                    replied = event.size is None and (replied or error is not None)
        if events.skipping and (request_id := _id_of(self._request)) is not None:
            yield _event(too_large(request_id, self._transport.max_message))

    def _decoded(self) -> AsyncGenerator[bytes, None]:
        if self._encoding == "identity":
            return cast("AsyncGenerator[bytes, None]", aiter(self._stream))
        # The HTTP library decodes in chunks of bounded size, whatever the compression ratio.
        encoded = httpx2.Response(
            200, headers={"content-encoding": self._encoding}, stream=self._stream, request=self._request
        )
        return encoded.aiter_bytes()


def _id_of(request: httpx2.Request) -> RequestId | None:
    """Return the id of the JSON-RPC request in an HTTP request; None if there is none."""
    if request.method != "POST":
        return None
    match from_json(request.content):
        case {"method": _, "id": int() | str() as found}:
            return found
    return None


def _json(error: JSONRPCError) -> bytes:
    return encode(error).encode()


def _event(error: JSONRPCError) -> bytes:
    return b"data: " + _json(error) + b"\n\n"


def _no_answer(request: httpx2.Request, error: Exception) -> httpx2.Response:
    body = {"code": CONNECTION_CLOSED, "message": reason(error), "data": NO_REPLY}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": body}, request=request)


def unreachable(error: Exception) -> ServerFailure:
    """Return the failure of a server that did not respond."""
    return diagnosis.unreachable(reason(error), in_time=not isinstance(error, httpx2.TimeoutException))


def reason(error: Exception) -> str:
    """Describe why there was no response."""
    match error:
        case httpx2.ConnectTimeout():
            return "no connection within the time-out"
        case httpx2.TimeoutException():
            return "no answer within the time-out"
        case httpx2.ConnectError():
            return str(error) or "the connection was refused"
        case _:
            return str(error) or "the connection broke"


class _MaskingFilter(logging.Filter):
    """Masks configured values in the logs of the HTTP libraries: URLs can contain secrets."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: weakref.WeakSet[ServerMask] = weakref.WeakSet()
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask every record; drop none."""
        text = record.getMessage()
        for mask in tuple(self.masks):
            text = mask.hide(text)
        record.msg, record.args = text, None
        if record.exc_info:
            trace = self._formatter.formatException(record.exc_info)
            for mask in tuple(self.masks):
                trace = mask.hide(trace)
            record.exc_text = trace
        return True


_FILTER: Final = _MaskingFilter()


def _mask_logs(mask: ServerMask) -> None:
    for name in ("httpx2", "mcp.client.streamable_http"):
        logging.getLogger(name).addFilter(_FILTER)
    _FILTER.masks.add(mask)


class StreamableTransport(HttpTransport):
    """One session with a server on streamable HTTP."""

    def __init__(
        self, parameters: MCPServerStreamableHttpParameters, mask: ServerMask, max_message: int = MAX_MESSAGE
    ) -> None:
        super().__init__(mask, max_message)
        self._parameters = parameters
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> tuple[MessageReader, MessageWriter]:
        """Create the client; nothing is sent before the first message."""
        parameters = self._parameters
        client = await self._stack.enter_async_context(
            await ObservedHttpClient.to(
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
                # The client enforces its request_id limit, which fails only one request.
                max_sse_event_size=None,
            )
        )
        return cast("tuple[MessageReader, MessageWriter]", streams)

    async def __aexit__(self, *error: object) -> None:
        """End the session at the server, if so configured."""
        await self._stack.__aexit__(*error)  # type: ignore[arg-type]

    @property
    def is_sse(self) -> bool:
        """Whether the endpoint refused a message like a server of the older transport, which expects a GET first."""
        return self.status in (404, 405)
