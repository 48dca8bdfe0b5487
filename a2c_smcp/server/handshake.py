"""Address, headers and protocol version of a new connection. Pure."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

_VERSION = re.compile(r"[\w.+-]{1,32}")


def address_of(environ: Mapping[str, Any]) -> str:
    """Return the network address of the peer; an empty string for a Unix socket."""
    scope = environ.get("asgi.scope")
    if scope is not None:
        client = scope.get("client")
        return str(client[0]) if client else ""
    return str(environ.get("REMOTE_ADDR", ""))


def headers_of(environ: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of the request, names in lower case; repeated headers are joined with commas."""
    found: dict[str, str] = {}
    scope = environ.get("asgi.scope")
    if scope is not None:
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope.get("headers", ())]
    else:
        pairs = [(key[5:].lower().replace("_", "-"), str(environ[key])) for key in environ if key.startswith("HTTP_")]
    for name, value in pairs:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def may_drop_headers(environ: Mapping[str, Any]) -> bool:
    """Return whether the WSGI server of this request may have dropped headers with an underscore in their name."""
    return "asgi.scope" not in environ and not environ.get("wsgi.async")


def version_of(environ: Mapping[str, Any]) -> str | None:
    """Return the protocol version that newer clients send in the URL (`?a2c_version=`)."""
    versions = parse_qs(str(environ.get("QUERY_STRING", ""))).get("a2c_version", [])
    return versions[0] if versions and _VERSION.fullmatch(versions[0]) else None
