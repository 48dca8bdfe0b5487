"""`window://{host}[/{segment}…][?priority=P&fullscreen=F]`: the windows of a desktop. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.uris import syntax
from a2c_smcp.uris.syntax import Breach, Param, Scheme

PATH: Final = 5

_TRUE = frozenset({"true", "1", "yes", "on"})
_WINDOW = Scheme(
    name="window",
    error=InvalidWindowUri,
    rules=("syntax", "scheme", "host", "priority", "fullscreen", "path"),
    path_rule=PATH,
    params={
        "priority": Param(3, re.compile("0{0,15}(?:100|[0-9]{1,2})"), "an integer from 0 to 100"),
        # ASCII, because otherwise the long s of "yeſ" is a letter of "yes" in another case.
        "fullscreen": Param(
            4, re.compile("(?ai:true|1|yes|on|false|0|no|off)"), "true, 1, yes or on, or false, 0, no or off"
        ),
    },
)

_PLAIN = re.compile(
    rf"(?ai:window)://({syntax.PLAIN_HOST})(?:/({syntax.PLAIN_SEGMENT}(?:/{syntax.PLAIN_SEGMENT})*)?)?"
    rf"(?:\?({syntax.plain_pairs(_WINDOW.params)})?)?"
)


class Segments(tuple[str, ...]):
    """The decoded path segments of a window; equal to a list of the same texts as well."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


@dataclass(frozen=True, slots=True)
class ParsedWindowUri:
    """A `window://` URI in its parts, with the path segments decoded. `str()` gives the canonical URI.

    The constructor keeps what it is given; the parts are checked when the URI is built.
    """

    scheme: str
    host: str
    path: tuple[str, ...]
    query_params: dict[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Segments(self.path))

    def __hash__(self) -> int:
        return hash((self.host, self.path, frozenset(self.query_params.items())))

    def __str__(self) -> str:
        if self.scheme != _WINDOW.name:
            breach = Breach(syntax.SCHEME, self.scheme, f"the scheme must be {_WINDOW.name}")
            raise _WINDOW.error_of(breach, f"{self.scheme}://{self.host}")
        return build_window_uri(self.host, *self.path, params=self.query_params)

    @property
    def priority(self) -> int | None:
        """The place among the windows of one MCP server, 0 to 100, high first; None when it is not written."""
        written = self.query_params.get("priority")
        return None if written is None else int(written)

    @property
    def fullscreen(self) -> bool | None:
        """Whether the window wants the whole desktop; None when it is not written."""
        written = self.query_params.get("fullscreen")
        return None if written is None else written.lower() in _TRUE


def parse_window_uri(raw: str) -> ParsedWindowUri:
    """Return the parts of a `window://` URI.

    Raises:
        InvalidWindowUri: One of the five rules is broken; `details` name the rule and the offending part.
    """
    known = _remember(raw) if len(raw) <= syntax.SHORT else _remember_long(raw)
    # What is remembered is shared; a caller may change its own parameters.
    return ParsedWindowUri(known.scheme, known.host, known.path, known.query_params.copy())


def build_window_uri(
    host: str,
    *path: str,
    priority: int | None = None,
    fullscreen: bool | None = None,
    params: Mapping[str, str] | None = None,
) -> str:
    """Return the canonical URI of decoded parts: `build_window_uri("h", "a/b", priority=80)` is `window://h/a%2Fb?priority=80`.

    Raises:
        InvalidWindowUri: A part breaks its rule, or `params` repeat `priority` or `fullscreen`.
    """
    try:
        syntax.check_text(host, *path)
        syntax.check_host(host)
        _check_path(path)
        return _WINDOW.join(host, path, _query(params or {}, priority=priority, fullscreen=fullscreen))
    except Breach as breach:
        raise _WINDOW.error_of(breach, f"{_WINDOW.name}://{'/'.join([host, *path])}") from None


def _check_path(path: tuple[str, ...]) -> None:
    if "" in path:
        raise Breach(PATH, "/".join(path), "the path has an empty segment: leave it out")


def _query(params: Mapping[str, str], *, priority: int | None, fullscreen: bool | None) -> dict[str, str]:
    named: dict[str, str] = {}
    if priority is not None:
        named["priority"] = str(priority)
    if fullscreen is not None:
        named["fullscreen"] = "true" if fullscreen else "false"
    for key in named:
        if key in params:
            raise _WINDOW.repeated(key)
    return {**named, **params}


def _parse(raw: str) -> ParsedWindowUri:
    return _parse_plain(raw) or _parse_carefully(raw)


_remember = lru_cache(maxsize=syntax.REMEMBERED)(_parse)
_remember_long = lru_cache(maxsize=syntax.REMEMBERED_LONG)(_parse)


def _parse_plain(raw: str) -> ParsedWindowUri | None:
    """Read the common shapes in one match; None for everything that wants a closer look."""
    match = _PLAIN.fullmatch(raw) if syntax.stays_short(raw) else None
    if match is None:
        return None
    host, path, query = match.groups()
    params = syntax.plain_query(query)
    if params is None:
        return None
    segments = path.split("/") if path else []
    try:
        return ParsedWindowUri(_WINDOW.name, host, tuple(map(syntax.decode, segments)), params)
    except Breach:
        return None


def _parse_carefully(raw: str) -> ParsedWindowUri:
    try:
        host, segments, query = _WINDOW.split(raw)
        params = _WINDOW.query(query)
        if syntax.may_grow_too_long(raw):
            _WINDOW.join(host, segments, params)
    except Breach as breach:
        raise _WINDOW.error_of(breach, raw) from None
    return ParsedWindowUri(_WINDOW.name, host, tuple(segments), params)
