"""What the two HTTP links share: a client that sees every answer, and fails one request instead of the whole link."""

import asyncio
import logging
import ssl
import weakref
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any, Final

import httpx2
from mcp.types import CONNECTION_CLOSED

from a2c_smcp.computer.mcp_clients import diagnosis
from a2c_smcp.computer.mcp_clients.diagnosis import Failure
from a2c_smcp.computer.mcp_clients.links import Link
from a2c_smcp.computer.mcp_clients.masking import Mask

SESSION_HEADER: Final = "mcp-session-id"
FAREWELL_SECONDS: Final = 2.0
# The SDK tries a broken event stream again so often, and then says nothing more.
GIVES_UP_AFTER: Final = 2
LOST: Final = {"lost": True}
"""The data of the error that stands for an answer that never came."""


class HttpLink(Link):
    """What is known of a server from its HTTP answers."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self.mask = mask
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
    def lost(self) -> Failure | None:
        """The server forgot us, or cannot tell us of changes any more."""
        if self._session_lost:
            return diagnosis.session_lost()
        return diagnosis.stream_lost() if self._broken_streams >= GIVES_UP_AFTER else None

    def explain(self, *, running: bool) -> Failure | None:
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

    def failed(self, request: httpx2.Request, error: Exception) -> None:
        """Take note that there was no answer, or that it broke off."""
        if request.method == "GET":
            self._broken_streams += 1
        else:
            self._status, self._error = None, error
        self.on_doubt()


class WatchedClient(httpx2.AsyncClient):
    """An HTTP client whose link learns of every answer.

    A message that cannot be delivered is answered here with a JSON-RPC error, because the SDK would let one failed
    request take down all others of the server.
    """

    def __init__(self, link: HttpLink, **options: Any) -> None:
        super().__init__(**options)
        self._link = link

    @classmethod
    async def to(
        cls, link: HttpLink, *, headers: Mapping[str, str] | None, patience: float, silence: float
    ) -> "WatchedClient":
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
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as error:
            self._link.failed(request, error)
            if request.method == "GET":
                raise
            return _no_answer(request, error)
        self._link.answered(request, response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Watched(response.stream, self._link, request)
        return response

    async def _take_leave(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # The session ends in any case; a server that is gone need not be waited for.
        if self._link.explain(running=True) is None:
            try:
                async with asyncio.timeout(FAREWELL_SECONDS):
                    return await super().send(request, **options)
            except (httpx2.TransportError, TimeoutError):
                pass
        return httpx2.Response(204, request=request)


@cache
def _certificates() -> ssl.SSLContext:
    # Reading the authorities takes a tenth of a second.
    return httpx2.create_ssl_context()


class _Watched(httpx2.AsyncByteStream):
    """A body that ends where the connection breaks, instead of raising."""

    def __init__(self, stream: httpx2.AsyncByteStream, link: HttpLink, request: httpx2.Request) -> None:
        self._stream = stream
        self._link = link
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except httpx2.TransportError as error:
            # A notification stream that breaks is opened again by the SDK; whether it can be is seen then.
            if self._request.method == "GET":
                self._link.on_doubt()
            else:
                self._link.failed(self._request, error)

    async def aclose(self) -> None:
        """Close the body itself."""
        await self._stream.aclose()


def _no_answer(request: httpx2.Request, error: Exception) -> httpx2.Response:
    body = {"code": CONNECTION_CLOSED, "message": reason(error), "data": LOST}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": body}, request=request)


def unreachable(error: Exception) -> Failure:
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
        self.masks: weakref.WeakSet[Mask] = weakref.WeakSet()
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


def _hide_in_logs(mask: Mask) -> None:
    for name in ("httpx2", "mcp.client.streamable_http"):
        logging.getLogger(name).addFilter(_FILTER)
    _FILTER.masks.add(mask)
