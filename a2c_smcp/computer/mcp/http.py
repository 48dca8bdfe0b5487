"""What the two HTTP links share: a client that sees every answer, and fails one request instead of the whole link."""

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
from a2c_smcp.computer.mcp.jsonrpc import encode, in_place_of, too_large
from a2c_smcp.computer.mcp.transport import MAX_MESSAGE, McpTransport, MessageReader, MessageWriter

SESSION_HEADER: Final = "mcp-session-id"
CLOSE_SECONDS: Final = 2.0
# The SDK tries a broken event stream again so often, and then says nothing more.
GIVES_UP_AFTER: Final = 2
NO_REPLY: Final = {"lost": True}
"""The data of the error that stands for an answer that never came."""


class HttpTransport(McpTransport):
    """What is known of a server from its HTTP answers.

    Attributes:
        max_message: Bytes of the longest message taken from it.
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
        _hide_in_logs(mask)

    @property
    def status(self) -> int | None:
        """The HTTP status of the latest answer to a message; None if it brought none."""
        return self._status

    @property
    def lost(self) -> ServerFailure | None:
        """The server forgot us, or cannot tell us of changes any more."""
        if self._session_lost:
            return diagnosis.session_lost()
        return diagnosis.stream_lost() if self._broken_streams >= GIVES_UP_AFTER else None

    def explain(self, *, running: bool) -> ServerFailure | None:
        """Judge by the latest answer to a message."""
        if (failure := self.lost) is not None:
            return failure
        if self._error is not None:
            return unreachable(self._error)
        if running and self._status in (400, 404):
            return diagnosis.session_lost()
        if self._status is not None and self._status >= 300:
            return diagnosis.bad_status(self._status)
        return None

    def answered(self, request: httpx2.Request, status: int) -> None:
        """Take note of an answer."""
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
                # A server need not offer such a stream, and says so with one status or another.
                return
        if status >= 400:
            self.on_doubt()

    def unattributed(self, size: int | None) -> None:
        """Take note of an answer over the limit that belongs to a request nobody can tell."""

    def failed(self, request: httpx2.Request, error: Exception) -> None:
        """Take note that there was no answer, or that it broke off."""
        if request.method == "GET":
            self._broken_streams += 1
        else:
            self._status, self._error = None, error
        self.on_doubt()


class ObservedHttpClient(httpx2.AsyncClient):
    """An HTTP client whose link learns of every answer.

    A message that cannot be delivered is answered here with a JSON-RPC error, because the SDK would let one failed
    request take down all others of the server. An answer over the limit is replaced by one, because the SDK has no
    limit for JSON, and ends a stream at an event over its limit.
    """

    def __init__(self, link: HttpTransport, **options: Any) -> None:
        super().__init__(**options)
        self._link = link

    @classmethod
    async def to(
        cls, link: HttpTransport, *, headers: Mapping[str, str] | None, patience: float, silence: float
    ) -> "ObservedHttpClient":
        """Return a client with the configured headers, and the seconds for a connection and for silence on it."""
        times = httpx2.Timeout(patience, read=silence)
        certificates = await asyncio.to_thread(_certificates)
        # As bytes, because a text with other letters than ASCII would be refused.
        encoded = [(name.encode(), value.encode(errors="replace")) for name, value in (headers or {}).items()]
        return cls(link, headers=encoded, timeout=times, verify=certificates)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send, tell the link how it went, and let no network error through."""
        if request.method == "DELETE":
            return await self._take_leave(request, **options)
        stream = options.pop("stream", False)
        try:
            response = await super().send(request, stream=True, **options)
        except httpx2.TransportError as error:
            self._link.failed(request, error)
            if request.method == "GET":
                raise
            return _no_answer(request, error)
        self._link.answered(request, response.status_code)
        response.stream = _Watched(response, self._link)
        # It is decoded where it is counted.
        response.headers.pop("content-encoding", None)
        if not stream:
            await response.aread()
        return response

    async def _take_leave(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # The session ends in any case; a server that is gone need not be waited for.
        if self._link.explain(running=True) is None:
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
    # Reading the authorities takes a tenth of a second.
    return httpx2.create_ssl_context()


class _Watched(httpx2.AsyncByteStream):
    """A body that ends where the connection breaks, instead of raising, and holds no message over the limit."""

    def __init__(self, response: httpx2.Response, link: HttpTransport) -> None:
        headers = response.headers
        self._link = link
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
            # A notification stream that breaks is opened again by the SDK; whether it can be is seen then.
            if self._request.method == "GET":
                self._link.on_doubt()
            else:
                self._link.failed(self._request, error)

    async def aclose(self) -> None:
        """Close the body itself."""
        await self._stream.aclose()

    async def _whole(self) -> AsyncGenerator[bytes, None]:
        limit = self._link.max_message
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
        events = SseSplitter(self._link.max_message)
        answered = False
        async with aclosing(self._decoded()) as chunks:
            async for chunk in chunks:
                for event in events.feed(chunk):
                    if not isinstance(event, OversizedMessage):
                        yield event
                        continue
                    own = _id_of(self._request)
                    error = None if answered else in_place_of(event, own)
                    if error is not None:
                        if error.id is None:
                            self._link.unattributed(event.size)
                        yield _event(error)
                        if own is not None:
                            return
                    elif event.size is not None and not answered:
                        self._link.on_gap()
                    answered = event.size is None and (answered or error is not None)
        if events.skipping and (own := _id_of(self._request)) is not None:
            yield _event(too_large(own, self._link.max_message))

    def _decoded(self) -> AsyncGenerator[bytes, None]:
        if self._encoding == "identity":
            return cast("AsyncGenerator[bytes, None]", aiter(self._stream))
        # The client library decodes in pieces of bounded size, however much the encoding compresses.
        encoded = httpx2.Response(
            200, headers={"content-encoding": self._encoding}, stream=self._stream, request=self._request
        )
        return encoded.aiter_bytes()


def _id_of(request: httpx2.Request) -> RequestId | None:
    """Return the id of the JSON-RPC request that an HTTP request carries; None if it carries none."""
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
    """Return the failure of a server that did not answer."""
    return diagnosis.unreachable(reason(error), in_time=not isinstance(error, httpx2.TimeoutException))


def reason(error: Exception) -> str:
    """Say in words why there was no answer."""
    match error:
        case httpx2.ConnectTimeout():
            return "no connection within the time-out"
        case httpx2.TimeoutException():
            return "no answer within the time-out"
        case httpx2.ConnectError():
            return str(error) or "the connection was refused"
        case _:
            return str(error) or "the connection broke"


class _HiddenInLogs(logging.Filter):
    """Hides configured values in what the libraries below log: URLs can carry secrets."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: weakref.WeakSet[ServerMask] = weakref.WeakSet()
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, masked."""
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


_FILTER: Final = _HiddenInLogs()


def _hide_in_logs(mask: ServerMask) -> None:
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
        """Prepare; nothing is sent before the first message."""
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
                # The client has a limit of its own, which fails one request only.
                max_sse_event_size=None,
            )
        )
        return cast("tuple[MessageReader, MessageWriter]", streams)

    async def __aexit__(self, *error: object) -> None:
        """End the session at the server, if so configured."""
        await self._stack.__aexit__(*error)  # type: ignore[arg-type]

    @property
    def is_sse(self) -> bool:
        """Whether the endpoint refused messages in the way of the older transport, which has another door for them."""
        return self.status in (404, 405)
