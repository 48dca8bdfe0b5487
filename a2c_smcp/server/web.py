"""HTTP requests and responses without a framework: checks of Origin and Host, and plain responses."""

import hmac
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from a2c_smcp.errors import Forbidden, SMCPError, to_wire
from a2c_smcp.server.settings import ServerSettings

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON: Final = "application/json"
_PORT: Final = re.compile(r":\d{1,5}$")


class Door:
    """Checks the Origin and Host headers of requests, and the address that they arrived on."""

    def __init__(self, settings: ServerSettings, *, authenticated: bool) -> None:
        self._origins = frozenset(settings.allowed_origins)
        self._hosts = settings.hosts
        self._open = authenticated or settings.insecure

    def allows_origin(self, origin: str) -> bool:
        """Return whether web pages of this origin may connect."""
        return origin.lower() in self._origins or "*" in self._origins

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
        if self._hosts and _PORT.sub("", headers.get("host", "")).lower() not in self._hosts:
            raise Forbidden("Host header not allowed; see the server's allowed_hosts")
        if not self._open and _is_public(scope.get("server")):
            raise Forbidden("This server has no credentials configured and accepts loopback connections only")


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request, names in lower case; repeated headers are joined with commas."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def path_of(scope: Scope) -> str:
    """Return the path below the application's mount point."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path.removeprefix(root) if path.startswith(f"{root}/") else path


def is_below(path: str, root: str) -> bool:
    """Return whether a path is `root` or below it."""
    return path == root or path.startswith(f"{root}/")


def bears(scope: Scope, token: str) -> bool:
    """Return whether a request has this bearer token, in constant time."""
    offered = headers_of(scope).get("authorization", "")
    return hmac.compare_digest(offered.encode("latin-1"), f"Bearer {token}".encode())


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
