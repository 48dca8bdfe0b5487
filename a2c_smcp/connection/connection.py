"""One connection to a server, from handshake to close. It is never reused, so late acks cannot be misassigned."""

import asyncio
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import engineio
import socketio

from a2c_smcp import PROTOCOL_VERSION
from a2c_smcp.common.callbacks import without_message
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.connection.socketio_client import BROKEN, CLOSE_PATIENCE, Received, SocketClient
from a2c_smcp.errors import (
    BadRequest,
    Forbidden,
    InternalError,
    InvalidConfig,
    RequestTimeout,
    SMCPError,
    Unauthorized,
    from_wire,
    is_error,
)
from a2c_smcp.smcp import (
    DISCONNECT_NOTIFICATION,
    JOIN_OFFICE_EVENT,
    LEAVE_OFFICE_EVENT,
    SMCP_NAMESPACE,
    SOCKETIO_PATH,
    parse_request,
    refusal_error,
)
from a2c_smcp.types import Role

log = logging.getLogger(__name__)

PATIENCE: Final = 15.0
"""Default seconds for a handshake or a join."""

HEADER: Final = 128
"""Maximum overhead of a packet in bytes."""

VERSION_MISMATCH: Final = 4008
LONGEST_REASON: Final = 64 * 1024
"""Maximum size of an HTTP refusal that is read, in bytes."""

LONGEST_WORDS: Final = 300
_SPOKEN: Final = re.compile(r"0\.[234]\.\d{1,6}", re.ASCII)
"""Versions of released servers with which this client works; `tests/peers/test_releases.py` shows each."""

Secret: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A credential, or a callable that returns a fresh one for every attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """URL of the server, credentials and transport options."""

    url: str = field(repr=False)
    path: str = SOCKETIO_PATH
    token: Secret | None = field(default=None, repr=False)
    api_key: Secret | None = field(default=None, repr=False)
    auth: Mapping[str, Any] | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    transports: tuple[str, ...] = ("websocket",)
    ssl_context: ssl.SSLContext | None = None
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https", "ws", "wss") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # an invalid port or IPv6 address
            usable = False
        if not usable:
            raise InvalidConfig("The server address is not a valid URL: use one like https://a2c.example.org")

    def real_url(self, version: str = PROTOCOL_VERSION) -> str:
        """Return the URL with the protocol version, unless its query has one already."""
        parts = urlsplit(self.url)
        query = parts.query if "a2c_version=" in parts.query else f"{parts.query}&a2c_version={version}"
        return urlunsplit(parts._replace(query=query.lstrip("&")))

    @property
    def shown(self) -> str:
        """The URL without user, password and query, for messages and logs."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def real_path(self) -> str:
        """Path of Socket.IO, below the path of the URL."""
        return f"{urlsplit(self.url).path.strip('/')}/{self.path.strip('/')}".strip("/")

    async def credentials(self) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """Return `auth` and headers with fresh credentials."""
        auth = dict(self.auth) if self.auth else {}
        headers = dict(self.headers) if self.headers else {}
        if self.token is not None:
            auth["token"] = await _current(self.token)
        if self.api_key is not None:
            headers["x-api-key"] = await _current(self.api_key)
        return auth or None, headers


async def _current(secret: Secret) -> str:
    try:
        value = secret() if callable(secret) else secret
        return await value if isawaitable(value) else value
    except Exception as problem:
        log.error("credential callback failed", exc_info=without_message(problem))
        raise Unauthorized(f"The credential callback failed ({type(problem).__name__})") from None


class SmcpConnection:
    """A connection to the namespace of the protocol.

    Attributes:
        gone: Set when it has ended.
        dismissal: Why the server closed it, if it said so.
    """

    def __init__(
        self, address: ServerAddress, received: "Callable[[SmcpConnection, int | None, str, Any], None]"
    ) -> None:
        self.gone = asyncio.Event()
        self._address = address
        self._refusal: Any = None
        self._http_reply = LastHttpReply()
        self._waiting: set[asyncio.Future[tuple[Any, ...]]] = set()
        connector = aiohttp.TCPConnector(ssl=address.ssl_context or True)
        self._http = aiohttp.ClientSession(
            connector=connector, trust_env=True, trace_configs=[self._http_reply.tracing()]
        )
        self._sio = SocketClient(self._to(received), self._http)
        self._sio.on("disconnect", self._on_disconnect, namespace=SMCP_NAMESPACE)
        self._sio.on("connect_error", self._on_refusal, namespace=SMCP_NAMESPACE)
        self.dismissal: SMCPError | None = None
        self.why = "the connection was never open"

    def _to(self, received: "Callable[[SmcpConnection, int | None, str, Any], None]") -> Received:
        def take(number: int | None, event: str, payload: Any) -> None:
            if event == DISCONNECT_NOTIFICATION:
                self._on_dismissal(payload)
            else:
                received(self, number, event, payload)

        return take

    def _on_dismissal(self, payload: Any) -> None:
        with suppress(SMCPError):  # a server of another release; it closes the connection anyway
            error = parse_request(DISCONNECT_NOTIFICATION, payload)
            self.dismissal = from_wire({"error": error})

    def _on_disconnect(self, reason: str) -> None:
        if not self.gone.is_set():
            self.drop(str(self.dismissal or reason))

    def _on_refusal(self, data: Any = None) -> None:
        self._refusal = data

    @property
    def limit(self) -> int:
        """Maximum size of a message that the server announced, in bytes."""
        return self._sio.max_payload - HEADER

    async def open(self) -> None:
        """Connect.

        Raises:
            Unauthorized, Forbidden: The server refused.
            ConnectionError: The server cannot be reached, or does not speak the protocol.
            SMCPError: The server refused for another reason.
        """
        patience = self._address.patience
        try:
            async with asyncio.timeout(patience):
                await self._open(self._address.real_url())
                if (version := self._http_reply.other_version) is not None:
                    await self._open(self._address.real_url(version))
        except TimeoutError:
            raise ConnectionError(f"{self._address.shown} did not answer within {seconds_text(patience)}") from None
        if (refused := self._http_reply.error(self._address.shown)) is not None:
            raise refused
        if not self._sio.alive:  # it was lost before `disconnect` was handled
            raise ConnectionError(f"the connection to {self._address.shown} was lost immediately")

    async def _open(self, url: str) -> None:
        """Connect; an HTTP refusal is stored in `_http_reply`."""
        self._http_reply.clear()
        auth, headers = await self._address.credentials()
        try:
            await self._sio.connect(
                url,
                headers=headers,
                auth=auth,
                transports=list(self._address.transports),
                namespaces=[SMCP_NAMESPACE],
                socketio_path=self._address.real_path,
                wait_timeout=self._address.patience,
            )
        except aiohttp.WSServerHandshakeError as problem:
            self._http_reply.status = problem.status
        except (aiohttp.ClientError, OSError) as problem:  # some of them are ValueErrors too
            raise ConnectionError(_words(problem, self._address.shown)) from None
        except (socketio.exceptions.ConnectionError, engineio.exceptions.EngineIOError, ValueError) as problem:
            if SMCP_NAMESPACE in self._sio.failed_namespaces:
                raise _refusal_error(self._refusal, self._address.shown, _sent(auth, headers)) from None
            if self._http_reply.status is None:
                raise ConnectionError(f"{self._address.shown}: {problem}") from None
        else:
            self._http_reply.clear()  # a refused upgrade leaves polling usable

    @property
    def silence(self) -> float:
        """Seconds without traffic after which a connection counts as lost, with a margin."""
        return self._sio.silence + 1

    def drop(self, why: str) -> None:
        """Mark it as ended; pending calls raise ConnectionError."""
        self.why = why
        self.gone.set()
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(ConnectionError(why))

    async def call(self, event: str, data: Any, *, within: float) -> tuple[Any, ...]:
        """Send an event and return the arguments of its ack.

        Raises:
            ConnectionError: The connection ended first.
            RequestTimeout: No ack arrived in time.
            BadRequest: The event exceeds the limit of the server; it was not sent.
        """
        body = self._body(event, data)
        answer: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()

        def answered(*arguments: Any) -> None:
            if not answer.done():
                answer.set_result(arguments)

        number = self._sio.expect(answered)
        self._waiting.add(answer)
        try:
            async with asyncio.timeout(within):
                await self._send(body, number)
                return await answer
        except TimeoutError:
            raise RequestTimeout(f"The server did not answer {event} within {seconds_text(within)}") from None
        finally:
            self._waiting.discard(answer)
            self._sio.forget(number)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # the waiting caller is gone; avoids a warning

    async def tell(self, event: str, data: Any) -> None:
        """Send an event without an ack.

        Raises:
            ConnectionError: The connection has ended.
            BadRequest: As `call`.
        """
        await self._send(self._body(event, data), None)

    def _body(self, event: str, data: Any) -> str:
        if self.gone.is_set():
            raise ConnectionError(self.why)
        if not self._sio.welcome:
            raise ConnectionError("the connection is not open yet")
        body = FastJson.encode([event, data])
        if len(body) > self.limit:
            raise BadRequest(
                f"The request has {len(body)} bytes; the server accepts at most {self.limit} bytes",
                details={"limit": "request size", "size": len(body), "value": self.limit},
            )
        return body[1:-1].decode()

    async def _send(self, body: str, number: int | None) -> None:
        if not await self._sio.send(body, number):
            if not self.gone.is_set():
                self.drop("the connection was lost while sending")
            raise ConnectionError(self.why)

    async def join(self, role: Role, name: str, office_id: str, *, take_over: bool = True) -> None:
        """Join an office.

        Args:
            take_over: Whether to replace another connection with the same credentials and name.

        Raises:
            SMCPError: The server refused.
            ConnectionError, RequestTimeout: As `call`.
        """
        request: dict[str, Any] = {"role": role, "name": name, "office_id": office_id}
        if not take_over:
            request["take_over"] = False
        _check_ack(await self.call(JOIN_OFFICE_EVENT, request, within=self._address.patience))

    async def leave(self, office_id: str) -> None:
        """Leave an office; raises as `join`."""
        _check_ack(await self.call(LEAVE_OFFICE_EVENT, {"office_id": office_id}, within=self._address.patience))

    async def ack(self, number: int | None, body: str) -> bool:
        """Acknowledge an event if it expects that; return whether the ack was sent."""
        return number is None or await self._sio.ack(number, body)

    async def close(self) -> None:
        """Close the connection, gracefully if possible, within seconds; cancelling leaves nothing open."""
        if not self.gone.is_set():
            self.drop("the connection was closed")
        try:
            with suppress(TimeoutError, *BROKEN):
                async with asyncio.timeout(CLOSE_PATIENCE):
                    await self._sio.disconnect()
            await self._sio.abort()
        finally:
            self._sio.drop()
            await self._http.close()


def _check_ack(answer: tuple[Any, ...]) -> None:
    """Check the ack of a join or leave: two arguments, or the forms of other servers."""
    match answer:
        case (True, *_) | ([True, *_],):
            return
        case (False, why, *_) | ([False, why, *_],):
            raise refusal_error(why)
        case (Mapping() as ack, *_) if is_error(ack):
            raise from_wire(ack)
        case _:
            raise refusal_error(None)


class LastHttpReply:
    """The HTTP response of a server that refused a connection: status, and the reason in the body.

    Servers of release 0.2 and later refuse a client whose `a2c_version` has another minor version than theirs, with
    status 400 and error 4008, which contains their version.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self._body: Any = None

    def clear(self) -> None:
        """Reset it before another attempt."""
        self.status = self._body = None

    def tracing(self) -> aiohttp.TraceConfig:
        """Return a trace configuration that reads the body of a refusal, which a websocket client discards."""
        config = aiohttp.TraceConfig()
        config.on_request_end.append(self._take)
        return config

    async def _take(self, _session: Any, _context: Any, ended: aiohttp.TraceRequestEndParams) -> None:
        response = ended.response
        if response.status < 400:
            return
        self.status = response.status
        length = response.content_length
        if length is None or length > LONGEST_REASON:
            return
        try:
            body = await response.read()
            self._body = FastJson.loads(body) if "json" in response.content_type else body.decode()
        except (aiohttp.ClientError, OSError, ValueError):
            return

    @property
    def other_version(self) -> str | None:
        """The version to announce instead, if a version mismatch was the reason and this client supports it."""
        if not isinstance(self._body, Mapping) or self._body.get("code") != VERSION_MISMATCH:
            return None
        version = self._body.get("server_version")
        return version if isinstance(version, str) and _SPOKEN.fullmatch(version) else None

    def error(self, url: str) -> SMCPError | ConnectionError | None:
        """Return the refusal with the server's reason, if it gave one; None if nothing was refused."""
        status = self.status
        if status is None:
            return None
        reason = self._reason()
        message = f"{url} refused the connection: {reason or 'no reason given'} (HTTP status {status})"
        if isinstance(self._body, Mapping) and is_error(self._body):
            error = from_wire(self._body)
            if not isinstance(error, InternalError):
                return type(error)(message, code=error.code)
        match status:
            case 404 | 405 if not reason:
                return ConnectionError(f"No A2C server at {url} (HTTP status {status}): check URL and path")
            case 401 | 407:
                return Unauthorized(message)
            case 403:
                return Forbidden(message)
            case _:
                return ConnectionError(message)

    def _reason(self) -> str:
        body = self._body
        if isinstance(body, Mapping):
            inner = body.get("error")
            words = (inner if isinstance(inner, Mapping) else body).get("message")
            text = words if isinstance(words, str) else ""
            lowest, highest = body.get("min_supported"), body.get("max_supported")
            if isinstance(lowest, str) and isinstance(highest, str):
                text += f" (it supports protocol {lowest} to {highest}; this client supports 0.2 to 0.4)"
        else:
            text = body if isinstance(body, str) and "<" not in body else ""
        text = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
        return text if len(text) <= LONGEST_WORDS else f"{text[:LONGEST_WORDS]}…"


def _sent(auth: Mapping[str, Any] | None, headers: Mapping[str, str]) -> str:
    """Return where credentials were sent, without their values."""
    places = [*(f"header {name}" for name in headers), *(f"auth.{name}" for name in auth or ())]
    return ", ".join(places) or "none"


def _refusal_error(data: Any, url: str, sent: str) -> SMCPError:
    """Return the error of a refused connection; older servers send only a text or nothing."""
    inner = data.get("data") if isinstance(data, Mapping) else None
    for candidate in (inner, data):
        if isinstance(candidate, Mapping) and is_error(candidate):
            return from_wire(candidate)
    words = data.get("message") if isinstance(data, Mapping) else data
    reason = words if isinstance(words, str) and words else "no reason given"
    return Forbidden(
        f"{url} refused the connection: {reason} (credentials sent: {sent}; released servers read the header x-api-key "
        "up to 0.1.3, the header access_token up to 0.2.1, and auth.token since)"
    )


def _words(problem: Exception, url: str) -> str:
    """Return an error message with the cause and what to check."""
    match problem:
        case aiohttp.ClientConnectorCertificateError():
            return (
                f"The certificate of {url} is not trusted: {problem.certificate_error}. If a private CA signed it, "
                "name the CA's file by --ca or SSL_CERT_FILE (in Python: ssl_context)"
            )
        case aiohttp.ClientSSLError():
            return f"TLS handshake with {url} failed (for a server without TLS use http://): {problem.os_error}"
        case aiohttp.ClientConnectorDNSError():
            return f"The host name in {url} cannot be resolved: check the address and the network"
        case aiohttp.ClientConnectorError() if problem.os_error.errno:
            reason = os.strerror(problem.os_error.errno).lower()
            return f"{url} cannot be reached ({reason}): check that the server runs, and its address"
    return f"{url}: {str(problem) or type(problem).__name__}"
