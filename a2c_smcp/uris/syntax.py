"""What `dpe://` and `window://` share: splitting, percent-encoding, queries, and telling a breach. Pure.

A URI is read from left to right: scheme, host, the characters of the rest, path, query. The first breach is told.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import quote

from a2c_smcp.errors import SMCPError

MAX_LENGTH: Final = 16_384
"""The most characters that a URI may have, both as it is written and in its canonical form."""

# How many results the parsers remember. Few of the long ones, so that hostile URIs cannot fill the memory of a process.
SHORT: Final = 1_024
REMEMBERED: Final = 2_048
REMEMBERED_LONG: Final = 64

SYNTAX: Final = 0
SCHEME: Final = 1
HOST: Final = 2

# The plain forms: what the fast paths match. Everything else is read by `Scheme.split`.
PLAIN_HOST: Final = r"[A-Za-z0-9._~-]++"
PLAIN_SEGMENT: Final = r"[A-Za-z0-9_.~%\w-]++"  # the ASCII that \w holds too is matched faster when spelled out

MAX_DIGITS: Final = 18
NUMBER: Final = rf"[0-9]{{1,{MAX_DIGITS}}}"

_MAX_SHOWN: Final = 200
_MAX_QUOTED: Final = 60
_MAX_GROWTH: Final = 12  # one character is at most four bytes of UTF-8, each written as three

_UNWRITABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_NOT_IN_HOST = re.compile(r"[\s\x00-\x1f\x7f-\x9f/?#\[\]\\\"<>^`{|}]")
_IP_LITERAL = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]+)?")
_USER = re.compile(r"(?<=://)[^/?#]*@")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f][0-9A-Fa-f])++")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


class Breach(Exception):
    """A rule was broken: which one, by what part, and how to mend it. `Scheme.error_of` makes it the public error."""

    def __init__(self, rule: int, part: str, problem: str) -> None:
        super().__init__(problem)
        self.rule = rule
        self.part = part
        self.problem = problem


class Parts(NamedTuple):
    """A URI cut at its delimiters: segments are decoded, the query is not."""

    host: str
    segments: list[str]
    query: str


@dataclass(frozen=True, slots=True)
class Param:
    """What the contract says of one query parameter."""

    rule: int
    pattern: re.Pattern[str]
    write: str
    item: re.Pattern[str] | None = None
    """What each item must match, for a comma-separated list."""

    def wrong_part(self, value: str) -> str | None:
        """Return the part of `value` that breaks the rule, None if nothing does."""
        if self.pattern.fullmatch(value):
            return None
        if self.item is None:
            return value
        return next(item for item in value.split(",") if not self.item.fullmatch(item))


@dataclass(frozen=True, slots=True)
class Scheme:
    """One URI scheme: its rules by number, the rule of its path, and its known query parameters."""

    name: str
    error: type[SMCPError]
    rules: tuple[str, ...]
    path_rule: int
    params: Mapping[str, Param]

    def split(self, raw: str) -> Parts:
        """Cut `raw` into its parts.

        Raises:
            Breach: It is no URI, or breaks the rules of scheme, host or path segments.
        """
        check_length(raw)
        check_text(raw)
        scheme, colon, rest = raw.partition(":")
        check_writable(scheme)
        if not colon or not scheme.isascii() or scheme.lower() != self.name:
            raise Breach(SCHEME, scheme, f"it must begin with {self.name}://, not with {quoted(scheme)}")
        if not rest.startswith("//"):
            raise Breach(HOST, "", f"it names no host: write {self.name}://host")
        rest, hashed, fragment = rest[2:].partition("#")
        rest, _, query = rest.partition("?")
        host, _, path = rest.partition("/")
        check_host(host)
        check_writable(path, query)
        if hashed:
            problem = "a fragment has no meaning here: remove it, or write %23 for a literal #"
            raise Breach(SYNTAX, f"#{fragment}", problem)
        return Parts(host, self._segments(path), query)

    def _segments(self, path: str) -> list[str]:
        if not path:
            return []
        segments = path.split("/")
        if "" in segments:
            problem = "the path has an empty segment: remove the extra slash, or write %2F for one inside a name"
            raise Breach(self.path_rule, path, problem)
        return [decode(segment) for segment in segments]

    def query(self, text: str) -> dict[str, str]:
        """Return the decoded and checked parameters of a query.

        Raises:
            Breach: A key is empty or repeated, or a value breaks its rule.
        """
        found: dict[str, str] = {}
        for pair in text.split("&"):
            if not pair:
                continue
            key, _, value = pair.partition("=")
            key = decode(key)
            if key in found:
                raise self.repeated(key)
            found[key] = decode(value)
        self.check_params(found)
        return found

    def repeated(self, key: str) -> Breach:
        """Return the breach of a key that is given twice, for which two readers could take different values."""
        known = self.params.get(key)
        return Breach(known.rule if known else SYNTAX, key, f"{quoted(key)} is given more than once: keep one of them")

    def check_params(self, params: Mapping[str, str]) -> None:
        """Raise `Breach` for the first parameter that is nameless or has a wrong value."""
        for key, value in params.items():
            if not key:
                raise Breach(SYNTAX, f"={value}", "a query parameter has no name: write name=value")
            known = self.params.get(key)
            wrong = known.wrong_part(value) if known else None
            if known and wrong is not None:
                raise Breach(known.rule, wrong, f"{key} must not be {quoted(wrong)}: write {known.write}")

    def join(self, host: str, segments: Iterable[str], params: Mapping[str, str]) -> str:
        """Return the canonical URI of a checked host and checked segments.

        Raises:
            Breach: A parameter breaks its rule, or the whole is too long.
        """
        check_text(*params, *params.values())
        self.check_params(params)
        path = "".join("/" + encode(segment) for segment in segments)
        query = "&".join(f"{encode(key)}={encode(value, keep=',')}" for key, value in params.items())
        uri = f"{self.name}://{host}{path}{'?' if query else ''}{query}"
        check_length(uri)
        return uri

    def error_of(self, breach: Breach, uri: str) -> SMCPError:
        """Return the public error that tells `breach` in `uri`, without the password that a host may carry."""
        name = self.rules[breach.rule]
        uri = _USER.sub("…@", uri, count=1)
        return self.error(
            f"{self.error.title}: {breach.problem} (rule {breach.rule}, {name})",
            details={"uri": shown(uri), "rule": breach.rule, "rule_name": name, "part": shown(breach.part)},
        )


def plain_query(text: str | None) -> dict[str, str] | None:
    """Return the parameters of a query whose pairs are known to be sound and free of escapes; None if one repeats."""
    if not text:
        return {}
    pairs = text.split("&")
    params = dict(pair.split("=") for pair in pairs)
    return params if len(params) == len(pairs) else None


def plain_pairs(params: Mapping[str, Param]) -> str:
    """Return the pattern of a query in which every pair is sound and written without escapes."""
    known = "|".join(f"{key}=(?:{param.pattern.pattern})" for key, param in params.items())
    unknown = rf"(?!(?:{'|'.join(params)})=)[A-Za-z0-9._~-]++=[A-Za-z0-9._~,-]*+"
    pair = f"(?:{known}|{unknown})"
    return f"{pair}(?:&{pair})*"


def stays_short(raw: str) -> bool:
    """Whether a URI of the plain forms cannot be too long, not even once its letters beyond ASCII are encoded."""
    return len(raw) * _MAX_GROWTH <= MAX_LENGTH or (len(raw) <= MAX_LENGTH and raw.isascii())


def decode(text: str) -> str:
    """Undo percent-encoding, strictly UTF-8; a plus is a plus.

    Raises:
        Breach: An escape is broken or does not give UTF-8.
    """
    if "%" not in text:
        return text
    if broken := _BROKEN_ESCAPE.search(text):
        raise Breach(
            SYNTAX,
            broken.group(),
            f"{quoted(broken.group())} is no percent escape: write two hexadecimal digits, or %25 for a literal %",
        )
    return _ESCAPES.sub(_decode_run, text)


def _decode_run(match: re.Match[str]) -> str:
    # The bytes of one character are always neighbours, so that a run of escapes decodes on its own.
    run = match.group()
    try:
        return bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError as error:
        wrong = run[3 * error.start : 3 * error.end]
        raise Breach(
            SYNTAX,
            wrong,
            f"{quoted(wrong)} does not decode to UTF-8 text: encode as UTF-8, or write %25 for a literal %",
        ) from None


def encode(text: str, *, keep: str = "") -> str:
    """Percent-encode all but the unreserved characters and `keep`."""
    return quote(text, safe=keep)


def may_grow_too_long(raw: str) -> bool:
    """Whether the canonical form of `raw` could exceed the limit, so that it has to be tried."""
    return len(raw) * _MAX_GROWTH > MAX_LENGTH


def check_length(uri: str) -> None:
    """Raise `Breach` for a URI over the limit."""
    if len(uri) > MAX_LENGTH:
        raise Breach(SYNTAX, uri, f"it has {len(uri)} characters, escapes included: at most {MAX_LENGTH} are allowed")


def check_text(*texts: str | None) -> None:
    """Raise `Breach` for surrogates, which no encoding can carry."""
    for text in texts:
        try:
            (text or "").encode()
        except UnicodeEncodeError as error:
            wrong = error.object[error.start : error.end]
            problem = f"{quoted(wrong)} is half of a character: give whole Unicode characters"
            raise Breach(SYNTAX, wrong, problem) from None


def check_writable(*texts: str) -> None:
    """Raise `Breach` for blanks and control characters."""
    for text in texts:
        if found := _UNWRITABLE.search(text):
            wrong = found.group()
            problem = f"{quoted(wrong)} is a blank or a control character: write {encode(wrong)}, or remove it"
            raise Breach(SYNTAX, wrong, problem)


def check_host(host: str) -> None:
    """Raise `Breach` for a host that is empty or that two readers could take for different things."""
    if not host:
        raise Breach(HOST, host, "the host is empty: name the MCP server, as in com.example.docs")
    if "@" in host:
        # What stands before it may be a password: do not repeat it.
        raise Breach(HOST, "@", "a host has no user information: remove everything up to the '@'")
    decode(host)
    if host.startswith(":"):
        raise Breach(HOST, host, f"the host {quoted(host)} has no name before its colon")
    if _IP_LITERAL.fullmatch(host):
        return
    if found := _NOT_IN_HOST.search(host):
        wrong = found.group()
        hint = "brackets hold a whole IPv6 address" if wrong in "[]" else "a host is a plain identifier"
        raise Breach(HOST, host, f"the host {quoted(host)} may not contain {quoted(wrong)}: {hint}")


def shown(text: str) -> str:
    """Return a bounded form of `text` that JSON and UTF-8 can carry."""
    cut = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
    return cut.encode(errors="backslashreplace").decode()


def quoted(text: str) -> str:
    """Return a short form of `text` for a message: in quotes, on one line, whatever is in it."""
    return repr(text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 1] + "…")
