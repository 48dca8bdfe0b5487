"""MCP over streamable HTTP: on loopback for the programs of this machine, elsewhere only for those with the token."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from a2c_smcp.bridge.server import Bridge
from a2c_smcp.common.addresses import LOOPBACK, in_url, is_loopback
from a2c_smcp.errors import BadRequest
from a2c_smcp.web.guard import HttpGuard, headers_of
from a2c_smcp.web.listening import bind, serving, url_of

log = logging.getLogger(__name__)

PATH: Final = "/mcp"
ANY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 - to know it, not to bind to it
MAX_BODY: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where and for whom to listen.

    Attributes:
        token: What clients must send as `Authorization: Bearer`; needed on addresses that others can reach.
        hosts: Names by which clients may call the server besides the address itself, with or without a port.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    hosts: Sequence[str] = ()


def check(settings: HttpSettings) -> None:
    """Refuse settings under which anybody could use the office.

    Raises:
        BadRequest: The address can be reached from elsewhere, and there is no token.
    """
    if settings.token is None and not is_loopback(settings.host):
        raise BadRequest(
            f"{settings.host} can be reached by others, who could use every tool of the office: "
            "set a token that clients must send, or listen on a loopback address"
        )


def security(settings: HttpSettings, port: int) -> TransportSecuritySettings:
    """Return which `Host` and `Origin` are accepted: a web page must not talk to the bridge through a browser."""
    names = [*sorted(LOOPBACK), in_url(settings.host), *settings.hosts]
    hosts = list(dict.fromkeys(form for name in names for form in (name, f"{name}:{port}")))
    return TransportSecuritySettings(
        # On every address at once nobody can say what the server is called; the token is what keeps others out.
        enable_dns_rebinding_protection=bool(settings.hosts) or settings.host.strip("[]") not in ANY_ADDRESS,
        allowed_hosts=hosts,
        allowed_origins=[scheme + host for host in hosts for scheme in ("http://", "https://")],
    )


class TokenGuard:
    """Passes only the requests with the token on."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._guard = HttpGuard(token=token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or answer 401."""
        refusal = self._guard.refusal(headers_of(scope))
        if refusal is None:
            await self._app(scope, receive, send)
            return
        answer = PlainTextResponse(refusal.message, refusal.status, dict(refusal.headers))
        await answer(scope, receive, send)


async def serve_http(bridge: Bridge, settings: HttpSettings, ready: Callable[[str], Any] = lambda _: None) -> None:
    """Serve any number of clients until cancelled.

    Args:
        ready: Called with the URL once the server listens.

    Raises:
        BadRequest: Anybody could use the office, as `check` says.
        InvalidConfig: The address cannot be listened on.
    """
    check(settings)
    sockets = bind(settings.host, settings.port)
    sessions = StreamableHTTPSessionManager(
        bridge.server,
        security_settings=security(settings, sockets[0].getsockname()[1]),
        max_request_body_size=MAX_BODY,
    )
    # The sessions end first, and with them the streams that would be waited for.
    async with serving(application(sessions.handle_request, settings.token), sockets) as running, sessions.run():
        ready(url_of(settings.host, sockets) + PATH)
        try:
            await asyncio.shield(running)
        finally:
            await bridge.close()


def application(serve: ASGIApp, token: str | None) -> ASGIApp:
    """Return the ASGI application: `serve` is at its path, and only for those with the token where there is one."""

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].rstrip("/") == PATH:
            await serve(scope, receive, send)
        else:
            await PlainTextResponse(f"MCP is at {PATH}", 404)(scope, receive, send)

    return routed if token is None else TokenGuard(routed, token)
