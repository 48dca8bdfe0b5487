"""MCP over streamable HTTP: who may come in, and a server that ends when it is told to."""

import asyncio
import logging
import re
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from a2c_smcp.common.addresses import LOOPBACK, is_loopback
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.web.guard import HttpGuard, headers_of
from a2c_smcp.web.listening import bind, serving, url_of

log = logging.getLogger(__name__)

PATH: Final = "/mcp"

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<name>[^\[\]:/]*)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 is any."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read `HOST:PORT`, `[::1]:PORT`, `:PORT` or `PORT`.

        Raises:
            InvalidConfig: It is none of these.
        """
        match = _ADDRESS.fullmatch(text if ":" in text else f":{text}")
        if match is None or int(match["port"]) > 65_535:
            raise InvalidConfig(f"{text!r} is no address to listen on: write HOST:PORT")
        return cls(match["six"] or match["name"] or "127.0.0.1", int(match["port"]))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may come in.

    Attributes:
        token: The bearer token to present.
        hosts: Names by which the server may be called; none given, loopback names on a loopback address, else any.
        origins: Web pages that may call, like `https://app.example.com`; on a loopback address local ones may.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @classmethod
    def generated(cls) -> "Admission":
        """Return one with a new token: every user of a machine can reach its loopback addresses."""
        return cls(secrets.token_urlsafe(32))

    def check(self, address: Address) -> None:
        """Refuse to open documents to other machines without a token.

        Raises:
            InvalidConfig: The address is not a loopback address and there is no token.
        """
        if not address.is_loopback and self.token is None:
            raise InvalidConfig(
                f"other machines can reach {address.host}: give a token that lets clients in, "
                "or listen on a loopback address"
            )


def announcement(token: str | None = None) -> Callable[[str], None]:
    """Return what prints where a server listens, and the token that somebody has to be told."""

    def announce(url: str) -> None:
        sys.stderr.write(f"listening on {url}\n")
        if token is not None:
            sys.stderr.write(f"clients send the header Authorization: Bearer {token}\n")
        sys.stderr.flush()

    return announce


class GuardedApp:
    """Passes the requests that an `HttpGuard` allows on to `app`, and ends their streams when it is closed."""

    def __init__(self, app: ASGIApp, admission: Admission, address: Address) -> None:
        self._app = app
        self._guard = HttpGuard(
            hosts=admission.hosts or (LOOPBACK if address.is_loopback else ()),
            origins=admission.origins,
            local_origins=address.is_loopback,
            token=admission.token,
        )
        self._streams: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._guard.refusal(headers_of(scope), preflight=scope["method"] == "OPTIONS")) is not None:
            answer = PlainTextResponse(refusal.message, refusal.status, dict(refusal.headers))
            await answer(scope, receive, send)
        elif scope["method"] == "GET":
            await self._stream(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def close(self) -> None:
        """End the streams that clients hold open for notifications: nothing else would."""
        for stream in list(self._streams):
            stream.cancel()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = {"begun": False, "over": False}

        async def watched(message: Message) -> None:
            answer["begun"] = True
            answer["over"] = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with anyio.CancelScope() as stream:
            self._streams.add(stream)
            try:
                await self._app(scope, receive, watched)
            finally:
                self._streams.discard(stream)
        if stream.cancelled_caught and answer["begun"] and not answer["over"]:
            await send({"type": "http.response.body", "body": b""})


async def serve_http(
    server: Server[Any],
    address: Address,
    admission: Admission,
    *,
    ready: Callable[[str], None],
    closing: Callable[[], None] = lambda: None,
) -> None:
    """Serve until cancelled.

    Args:
        ready: Called with the URL once clients can connect.
        closing: Called when the end begins.

    Raises:
        InvalidConfig: The address cannot be used, or is open to others without a token.
    """
    admission.check(address)
    sockets = bind(address.host, address.port)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        # The guard checks more than the transport can.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if admission.origins:
        app = CORSMiddleware(
            app,
            allow_origins=list(admission.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "Mcp-Protocol-Version"],
        )
    guarded = GuardedApp(app, admission, address)
    async with serving(guarded, sockets, lifespan="on") as running:
        try:
            ready(url_of(address.host, sockets) + PATH)
            await asyncio.shield(running)
        finally:
            closing()
            guarded.close()
