"""MCP over streamable HTTP: on loopback for the programs of this machine, elsewhere only for those with the token."""

import asyncio
import hmac
import ipaddress
import logging
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from a2c_smcp.bridge.server import Bridge
from a2c_smcp.errors import BadRequest

log = logging.getLogger(__name__)

PATH: Final = "/mcp"
LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 - to know it, not to bind to it
MAX_BODY: Final = 32 << 20
FAREWELL: Final = 2
"""Seconds that requests under way have to end."""


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
    if settings.token is None and not is_local(settings.host):
        raise BadRequest(
            f"{settings.host} can be reached by others, who could use every tool of the office: "
            "set a token that clients must send, or listen on 127.0.0.1"
        )


def is_local(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def security(settings: HttpSettings, port: int) -> TransportSecuritySettings:
    """Return which `Host` and `Origin` are accepted: a web page must not talk to the bridge through a browser."""
    own = f"[{settings.host}]" if ":" in settings.host.strip("[]") else settings.host
    names = [*LOCAL_NAMES, own, *settings.hosts]
    hosts = list(dict.fromkeys(form for name in names for form in (name, f"{name}:{port}")))
    return TransportSecuritySettings(
        # On every address at once nobody can say what the server is called; the token is what keeps others out.
        enable_dns_rebinding_protection=bool(settings.hosts) or settings.host.strip("[]") not in ANY_ADDRESS,
        allowed_hosts=hosts,
        allowed_origins=[scheme + host for host in hosts for scheme in ("http://", "https://")],
    )


class BearerOnly:
    """Lets only requests with the token pass."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 to whoever does not know the token."""
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if hmac.compare_digest(_normal(given), self._expected):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "The bearer token is missing or wrong", 401, {"WWW-Authenticate": 'Bearer realm="a2c"'}
        )
        await refusal(scope, receive, send)


def _normal(given: bytes) -> bytes:
    scheme, _, token = given.partition(b" ")
    return b"Bearer " + token.strip() if scheme.lower() == b"bearer" else given


def bind(settings: HttpSettings) -> socket.socket:
    """Return the socket to serve.

    Raises:
        BadRequest: The address cannot be listened on.
    """
    host = settings.host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"{settings.host} is no address to listen on: {error}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise BadRequest(f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}") from None
    return bound


async def serve_http(bridge: Bridge, settings: HttpSettings, ready: Callable[[str], Any] = lambda _: None) -> None:
    """Serve any number of clients until cancelled.

    Args:
        ready: Called with the URL once the server listens.

    Raises:
        BadRequest: As `check` and `bind`.
    """
    check(settings)
    with bind(settings) as bound:
        host, port = bound.getsockname()[:2]
        sessions = StreamableHTTPSessionManager(
            bridge.server, security_settings=security(settings, port), max_request_body_size=MAX_BODY
        )
        config = uvicorn.Config(
            application(sessions.handle_request, settings.token),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=FAREWELL,
        )
        server = _Server(config)
        serving = asyncio.get_running_loop().create_task(server.serve(sockets=[bound]))
        try:
            async with sessions.run():
                ready(f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
                try:
                    await asyncio.shield(serving)
                finally:
                    await bridge.close()
        finally:
            # The sessions have ended, and with them the streams that uvicorn would wait for.
            server.should_exit = True
            await serving


def application(serve: ASGIApp, token: str | None) -> ASGIApp:
    """Return the ASGI application: `serve` is at its path, and only for those with the token where there is one."""

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].rstrip("/") == PATH:
            await serve(scope, receive, send)
        else:
            await PlainTextResponse(f"MCP is at {PATH}", 404)(scope, receive, send)

    return routed if token is None else BearerOnly(routed, token)


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield
