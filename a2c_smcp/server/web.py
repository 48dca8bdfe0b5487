"""The HTTP side: who may ask at all, and plain answers. No framework is needed for three small pages."""

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
    """Decides which requests are heard at all: by the page that sends them, the name they use, the way they came."""

    def __init__(self, settings: ServerSettings, *, authenticated: bool) -> None:
        self._origins = frozenset(settings.allowed_origins)
        self._hosts = settings.hosts
        self._open = authenticated or settings.insecure

    def allows_origin(self, origin: str) -> bool:
        """Whether pages of this origin may connect."""
        return origin.lower() in self._origins or "*" in self._origins

    def check(self, scope: Scope) -> None:
        """Let a request pass.

        Raises:
            Forbidden: It comes from a web page, under a name, or over an address that it must not come from.
        """
        headers = headers_of(scope)
        origin = headers.get("origin")
        if origin is not None and not self.allows_origin(origin):
            raise Forbidden(
                "Web pages of this origin may not connect; the server's allowed_origins lists those that may"
            )
        if self._hosts and _PORT.sub("", headers.get("host", "")).lower() not in self._hosts:
            raise Forbidden("This server does not answer to the name in the Host header; see its allowed_hosts")
        if not self._open and _is_public(scope.get("server")):
            raise Forbidden("This server knows no credentials and answers on loopback addresses only")


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request, names in lower case; of one given twice, both."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def path_of(scope: Scope) -> str:
    """The path below the place where the application is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path.removeprefix(root) if path.startswith(f"{root}/") else path


def is_below(path: str, root: str) -> bool:
    """Whether a path is `root` or something in it."""
    return path == root or path.startswith(f"{root}/")


def bears(scope: Scope, token: str) -> bool:
    """Whether a request has this bearer token; takes the same time for every wrong one."""
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
    """Answer a request, also one that wanted to become a websocket."""
    told = {"content-type": kind, "cache-control": "no-store", "x-content-type-options": "nosniff", **(headers or {})}
    content = body.encode()
    pairs = [(name.encode(), value.encode()) for name, value in told.items()]
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
    """Answer with an error, as an error ack."""
    await answer(scope, send, status, json.dumps(to_wire(error)), headers=headers)


def _is_public(server: Any) -> bool:
    # The address that the connection came in on; anything but an address (a name, a Unix socket) tells nothing.
    try:
        return not ipaddress.ip_address(str(server[0]).partition("%")[0]).is_loopback if server else False
    except ValueError:
        return False
