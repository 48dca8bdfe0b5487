"""URIs of the resources of an office, which name Computer and MCP server, and what a change concerns. Pure.

    dpe://docs/report/pages/3?format=markdown     of the MCP server "files" on the Computer "desk" is
    a2c://desk/@files/dpe/docs/report/pages/3?format=markdown

    urn:isbn:0451450523                           (no `//`) is
    a2c://desk/@files/urn:isbn:0451450523

Two Computers, or two MCP servers of one Computer, may serve the same URI. So every listed URI names both, and does not
change when others join or leave. Without the server (`a2c://desk/dpe/docs/report`) the Computer finds it. The rest of
the URI is unchanged: templates stay templates, and escapes are kept.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

SCHEME: Final = "a2c"
WINDOW: Final = "window"
DOCUMENT: Final = "dpe"

_PREFIX: Final = f"{SCHEME}://"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_HIERARCHICAL: Final = re.compile(rf"(?P<scheme>{_SCHEME.pattern})://(?P<rest>.*)", re.DOTALL)
_VERBATIM: Final = re.compile(rf"{_SCHEME.pattern}(?::|%3[Aa])|\{{")

_AUTHORITY_END: Final = re.compile(r"[/?#]")


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """A parsed URI: `uri` is the MCP server's own; `computer` and `server` are None if not named."""

    uri: str
    computer: str | None = None
    server: str | None = None


def qualify(computer: str, uri: str, server: str | None = None) -> str:
    """Return the office URI, or URI template, of a resource of an MCP server."""
    if (found := _HIERARCHICAL.fullmatch(uri)) is not None:
        tail = f"{found['scheme']}/{found['rest']}"
    else:
        tail = uri if _VERBATIM.match(uri) else quote(uri, safe="{}")
    whose = "" if server is None else f"@{quote(server, safe='')}/"
    return f"{_PREFIX}{quote(computer, safe='')}/{whose}{tail}"


def parse_address(uri: str) -> ResourceAddress:
    """Parse a URI; one that names no Computer is returned unchanged."""
    if uri[: len(_PREFIX)].lower() != _PREFIX:
        return ResourceAddress(uri)
    computer, slash, tail = uri[len(_PREFIX) :].partition("/")
    if not computer or not slash or not tail:
        return ResourceAddress(uri)
    if tail.startswith("@"):
        server, slash, rest = tail[1:].partition("/")
        if server and slash and rest:
            return ResourceAddress(_original(rest), unquote(computer), unquote(server))
    return ResourceAddress(_original(tail), unquote(computer))


def origin_of(uri: str) -> str:
    """Return scheme and authority of a URI."""
    scheme, slashes, rest = uri.partition("://")
    return f"{scheme.lower()}{slashes}{_AUTHORITY_END.split(rest, maxsplit=1)[0]}"


def windows_of(desktop: Sequence[str]) -> dict[str, str]:
    """Return the windows of a rendered desktop: text by URI."""
    return {uri: text for uri, _, text in (window.partition("\n\n") for window in desktop)}


def scheme_of(uri: str) -> str:
    """Return the scheme in lower case; empty if there is none."""
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon else ""


def concerned(
    subscriptions: Iterable[tuple[str, ResourceAddress]],
    computer: str,
    matches: Callable[[str], bool] = lambda _: True,
) -> list[str]:
    """Return the subscribed URIs, as clients wrote them, that match resources of a Computer."""
    return [uri for uri, address in subscriptions if address.computer in (None, computer) and matches(address.uri)]


def is_changed(before: Mapping[str, str], after: Mapping[str, str], uri: str) -> bool:
    """Whether a window may have changed; one that neither desktop shows (another is full screen) may have."""
    if scheme_of(uri) != WINDOW:
        return False
    return uri not in after or before.get(uri) != after[uri]


def _original(tail: str) -> str:
    # A URI that follows the Computer verbatim is accepted too.
    if (verbatim := _VERBATIM.match(tail)) is not None:
        return re.sub("%3[Aa]$", ":", verbatim[0]) + tail[verbatim.end() :]
    scheme, slash, rest = tail.partition("/")
    return f"{scheme}://{rest}" if slash else unquote(tail)
