"""Which HTTP requests may be answered at all: by the name they use, the page that sends them, and their token.

A server on a loopback address can be reached by every web page that its user visits (DNS rebinding, cross-origin
requests) and by every other user of the machine. `HttpGuard` decides; each server sends the refusal in its own form.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.common.addresses import LOOPBACK, in_url

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
MISDIRECTED: Final = 421
"""The status for a `Host` that is not a name of this server."""


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """Why a request is not answered.

    Attributes:
        headers: To send with the refusal.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


HOST_REFUSED: Final = HttpRefusal(MISDIRECTED, "Host header not allowed; add the name to the allowed hosts")
ORIGIN_REFUSED: Final = HttpRefusal(FORBIDDEN, "Origin not allowed; add it to the allowed origins")
TOKEN_REFUSED: Final = HttpRefusal(
    UNAUTHORIZED, "Bearer token missing or wrong", {"www-authenticate": 'Bearer realm="a2c"'}
)


class HttpGuard:
    """The rules of one listener.

    Args:
        hosts: Names by which it may be called, without port; none means any.
        origins: Web pages that may call it, like `https://app.example.com`; `*` means any.
        local_origins: Whether pages served from this machine may call it too.
        token: The bearer token that requests must have.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        local_origins: bool = False,
        token: str | None = None,
    ) -> None:
        self._hosts = frozenset(in_url(host.lower()) for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._local_origins = local_origins
        self._token = token

    def refusal(self, headers: Mapping[str, str], *, preflight: bool = False) -> HttpRefusal | None:
        """Return why a request with these headers is refused, or None if it may be answered.

        Args:
            headers: With names in lower case.
            preflight: Whether a browser asks if its page may send a token: it sends none itself.
        """
        if not self.allows_host(headers.get("host", "")):
            return HOST_REFUSED
        origin = headers.get("origin")
        if origin is not None and not self.allows_origin(origin):
            return ORIGIN_REFUSED
        if self._token is not None and not preflight and not has_bearer(headers.get("authorization", ""), self._token):
            return TOKEN_REFUSED
        return None

    def allows_host(self, authority: str) -> bool:
        """Whether the server may be called by this `Host` header."""
        return not self._hosts or host_of(authority) in self._hosts

    def allows_origin(self, origin: str) -> bool:
        """Whether pages of this origin may call."""
        if origin.lower() in self._origins or "*" in self._origins:
            return True
        scheme, _, authority = origin.lower().partition("://")
        return self._local_origins and scheme in ("http", "https") and host_of(authority) in LOOPBACK


def has_bearer(authorization: str, token: str) -> bool:
    """Whether an `Authorization` header carries this bearer token; every wrong one takes the same time."""
    scheme, _, offered = authorization.partition(" ")
    same = hmac.compare_digest(offered.strip().encode("utf-8", "replace"), token.encode())
    return scheme.lower() == "bearer" and same


def host_of(authority: str) -> str:
    """Return the host of `host:port` in lower case, an IPv6 address in brackets."""
    if authority.startswith("["):
        return authority.partition("]")[0].lower() + "]"
    return authority.partition(":")[0].lower()


def headers_of(scope: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of an ASGI request, names in lower case; the values of one given twice are joined."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
