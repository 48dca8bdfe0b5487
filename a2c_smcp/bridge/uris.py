"""URIs of the resources of an office: each says on which Computer and at which of its MCP servers it is. Pure.

    dpe://docs/report/pages/3?format=markdown     of the MCP server "files" on the Computer "desk" is
    a2c://desk/@files/dpe/docs/report/pages/3?format=markdown

    urn:isbn:0451450523                           (no `//`) is
    a2c://desk/@files/urn:isbn:0451450523

Two Computers, and two MCP servers of one, may well serve the same URI, so every listed one names both, and keeps its
URI whoever else comes or goes. Without the server (`a2c://desk/dpe/docs/report`) the Computer finds it. Whatever
follows is not touched: templates stay templates, and escapes stay as they are.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

SCHEME: Final = "a2c"

_PREFIX: Final = f"{SCHEME}://"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_HIERARCHICAL: Final = re.compile(rf"(?P<scheme>{_SCHEME.pattern})://(?P<rest>.*)", re.DOTALL)
_VERBATIM: Final = re.compile(rf"{_SCHEME.pattern}(?::|%3[Aa])|\{{")

_AUTHORITY_END: Final = re.compile(r"[/?#]")


@dataclass(frozen=True, slots=True)
class Place:
    """What a URI means: `uri` is the MCP server's own; `computer` and `server` are None where none is named."""

    uri: str
    computer: str | None = None
    server: str | None = None


def qualify(computer: str, uri: str, server: str | None = None) -> str:
    """Return the URI, or the URI template, under which an office lists that of an MCP server of a Computer."""
    if (found := _HIERARCHICAL.fullmatch(uri)) is not None:
        tail = f"{found['scheme']}/{found['rest']}"
    else:
        tail = uri if _VERBATIM.match(uri) else quote(uri, safe="{}")
    whose = "" if server is None else f"@{quote(server, safe='')}/"
    return f"{_PREFIX}{quote(computer, safe='')}/{whose}{tail}"


def place_of(uri: str) -> Place:
    """Return what a URI means; one that names no Computer stands for itself."""
    if uri[: len(_PREFIX)].lower() != _PREFIX:
        return Place(uri)
    computer, slash, tail = uri[len(_PREFIX) :].partition("/")
    if not computer or not slash or not tail:
        return Place(uri)
    if tail.startswith("@"):
        server, slash, rest = tail[1:].partition("/")
        if server and slash and rest:
            return Place(_original(rest), unquote(computer), unquote(server))
    return Place(_original(tail), unquote(computer))


def origin_of(uri: str) -> str:
    """Return scheme and authority: what the URIs of one place have in common."""
    scheme, slashes, rest = uri.partition("://")
    return f"{scheme.lower()}{slashes}{_AUTHORITY_END.split(rest, maxsplit=1)[0]}"


def _original(tail: str) -> str:
    # A URI that somebody put behind the Computer as it is means the same.
    if (verbatim := _VERBATIM.match(tail)) is not None:
        return re.sub("%3[Aa]$", ":", verbatim[0]) + tail[verbatim.end() :]
    scheme, slash, rest = tail.partition("/")
    return f"{scheme}://{rest}" if slash else unquote(tail)
