"""HTTP requests and responses without a framework: checks of Origin and Host, and plain responses."""

import ipaddress
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from a2c_smcp.errors import Forbidden, SMCPError, to_wire
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.web.guard import HttpGuard, has_bearer, headers_of

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON: Final = "application/json"


class Door:
    """Checks the Origin and Host headers of requests, and the address that they arrived on."""

    def __init__(self, settings: ServerSettings, *, authenticated: bool) -> None:
        self._guard = HttpGuard(hosts=settings.hosts, origins=settings.allowed_origins)
        self._open = authenticated or settings.insecure

    def allows_origin(self, origin: str) -> bool:
        """Return whether web pages of this origin may connect."""
        return self._guard.allows_origin(origin)

    def check(self, scope: Scope) -> None:
        """Check a request.

        Raises:
            Forbidden: Its origin, its Host header or the address it arrived on is not allowed.
        """
        headers = headers_of(scope)
        origin = headers.get("origin")
        if origin is not None and not self.allows_origin(origin):
            raise Forbidden(
                "Web pages of this origin may not connect; the server's allowed_origins lists those that may"
            )
        if not self._guard.allows_host(headers.get("host", "")):
            raise Forbidden("Host header not allowed; see the server's allowed_hosts")
        if not self._open and _is_public(scope.get("server")):
            raise Forbidden("This server has no credentials configured and accepts loopback connections only")


def path_of(scope: Scope) -> str:
    """Return the path below the application's mount point."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path.removeprefix(root) if path.startswith(f"{root}/") else path


def is_below(path: str, root: str) -> bool:
    """Return whether a path is `root` or below it."""
    return path == root or path.startswith(f"{root}/")


def bears(scope: Scope, token: str) -> bool:
    """Return whether a request has this bearer token, in constant time."""
    return has_bearer(headers_of(scope).get("authorization", ""), token)


async def answer(
    scope: Scope,
    send: Send,
    status: int,
    body: str,
    *,
    kind: str = JSON,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send a response, also to a websocket request."""
    sent = {"content-type": kind, "cache-control": "no-store", "x-content-type-options": "nosniff", **(headers or {})}
    content = body.encode()
    pairs = [(name.encode(), value.encode()) for name, value in sent.items()]
    pairs.append((b"content-length", str(len(content)).encode()))
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})
    elif "websocket.http.response" in (scope.get("extensions") or ()):
        await send({"type": "websocket.http.response.start", "status": status, "headers": pairs})
        await send({"type": "websocket.http.response.body", "body": content})
    else:
        await send({"type": "websocket.close", "code": 1008})


async def refuse(scope: Scope, send: Send, status: int, error: SMCPError, **headers: str) -> None:
    """Send an error in its wire format."""
    await answer(scope, send, status, json.dumps(to_wire(error)), headers=headers)


def _is_public(server: Any) -> bool:
    # The address that the connection arrived on; a name or a Unix socket does not count as public.
    try:
        return not ipaddress.ip_address(str(server[0]).partition("%")[0]).is_loopback if server else False
    except ValueError:
        return False
