"""What must never leave the process: secrets, internal addresses, host paths, stack traces. Pure.

Redaction is a net under the code, not an excuse: authors still choose what they put into an error. It is
idempotent, so that an error redacted at one hop passes the next one unchanged.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

REDACTED: Final = "<redacted>"
ADDRESS: Final = "<address>"
TRACEBACK: Final = "<traceback>"
MAX_TEXT: Final = 2_000
MAX_ITEMS: Final = 100
MAX_DEPTH: Final = 6
MAX_TOTAL: Final = 20_000

_WORD = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|token|api[-_]?keys?|access[-_]?keys?|private[-_]?keys?|signing[-_]?keys?|"
    r"auth|authorization|bearer|cookies?|credentials?|session[-_]?id|jwt|signature)"
)
_SECRET_KEY = re.compile(rf"(?:^|[-_.\s])(?:x[-_])?{_WORD}(?:$|[-_.\s])", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_TRACEBACK = re.compile(
    r'Traceback \(most recent call last\)|^[ \t]*File "[^"\n]+", line \d+|^[ \t]+at \S+ \(\S+:\d+:\d+\)', re.MULTILINE
)

_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'"
# What documentation and messages write in place of a secret; only as a whole word, in capitals or as dots.
_PLACEHOLDER = r"(?-i:TOKEN|KEY|VALUE|SECRET|PASSWORD|…|\.{3})(?![\w.~+/=-])"
_NO_SECRET = rf"(?!(?:bearer|basic|token)\s+{_PLACEHOLDER}|{_PLACEHOLDER})"
# A secret that can be told by its own shape, or by the name in front of it.
_SECRETS: Final = (
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"\b(?:sk|pk|rk)[-_][\w-]{16,}"),
    re.compile(
        r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})"
    ),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(rf"\bauthorization[\"']?\s*[=:]\s*+(?P<keep>){_NO_SECRET}(?:{_QUOTED}|[^\n,;<]+)", re.IGNORECASE),
    re.compile(
        rf"(?<=\bbearer )(?!\s*tokens?(?![\w.~+/=-])|\s*{_PLACEHOLDER})\s*[^\s\"',;<]+"
        r"|(?<=\bbasic )\s*[A-Za-z0-9+/=]{8,}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![\w-])(?:[\w-]*[-_])?{_WORD}[\"']?\s*[=:]\s*+(?P<keep>){_NO_SECRET}(?:{_QUOTED}|[^\s\"'&,;<>]+)",
        re.IGNORECASE,
    ),
)
_USERINFO = re.compile(r"(?<=://)[^\s/@?#\"']+(?=@)")

# One address is said on purpose: where the owner of a Computer finds its console, which opens for nobody else.
_ADDRESSES = re.compile(
    r"(?<![\w.])(?:(?<!console at http://)127|10|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){1,3}(?::\d+)?(?![\w.]*\d)"
    r"|\[?(?<![\w:])(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]*|fe80:[0-9a-f:]*)\]?(?::\d+)?(?![\w:])"
    r"|(?<![\w.-])localhost(?::\d+)?(?![\w-])"
    r"|(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.(?:internal|local|lan|localdomain)(?::\d+)?(?![\w.-])",
    re.IGNORECASE,
)

_ROOTS = "home|root|Users|etc|var|tmp|usr|opt|mnt|media|srv|proc|sys|dev|private|Volumes|workspace|app|data"
_SEGMENT = r"[^\s/\\:*?\"'<>|,;()\[\]{}]+"
_QUOTED_PATH = re.compile(
    r"(?P<quote>[\"'])(?:file://|~|[A-Za-z]:)?[\\/][^\"'\n]*[\\/](?P<last>[^\"'\n\\/]*)[\\/]?(?P=quote)"
)
_WHOLE_PATH = re.compile(rf"(?:file://)?(?:/(?:{_ROOTS})/|[A-Za-z]:\\|\\\\)[^\n:]*[\\/](?P<last>[^\n\\/:]*)[\\/]?")
_PATHS = re.compile(
    rf"file:/{{1,3}}(?:[^\s\"'<>]*/)?(?P<uri>[^\s\"'<>/]*)"
    rf"|(?<![\w:/.~%\\-])~?/(?:(?:{_ROOTS})(?:/{_SEGMENT})*?|{_SEGMENT}(?:/{_SEGMENT})*?)/(?P<posix>{_SEGMENT})(?:/(?=[\s\"',;:)\]]|$))?(?![/\w])"
    rf"|(?<![\w:/.~%\\-])/(?:{_ROOTS})/?(?![\w/.-])"
    rf"|(?<!\w)[A-Za-z]:[\\/](?:[^\s\\/:*?\"'<>|]+[\\/])*(?P<windows>[^\s\\/:*?\"'<>|]*)"
    rf"|(?<!\\)\\\\[\w.-]+\\(?:[^\s\\/:*?\"'<>|]+\\)*(?P<unc>[^\s\\/:*?\"'<>|]*)"
)


def names_a_secret(key: str) -> bool:
    """Whether a field of this name (any case style) is expected to hold a secret."""
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None


def redact_text(text: str) -> str:
    """Return `text` without secrets, internal addresses, directories of this host or stack traces.

    The last part of a path stays ("…/report.pdf"), because it is what a reader needs to fix a call.
    """
    text = text[: 4 * MAX_TEXT]
    if _TRACEBACK.search(text):
        return TRACEBACK
    for pattern in _SECRETS:
        text = pattern.sub(_secret, text)
    text = _USERINFO.sub(REDACTED, text)
    text = _ADDRESSES.sub(ADDRESS, text)
    text = _redact_paths(text)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def redact(value: Any) -> Any:
    """Return a JSON-safe, bounded copy of `value` that may go on the wire.

    Values that JSON cannot hold become the name of their type; what lies too deep, is too long or too much is cut.
    """
    return _redact(value, 0, _Budget())


class _Budget:
    """How much of a value is still looked at: patterns cost a microsecond or two a character."""

    def __init__(self) -> None:
        self.characters = MAX_TOTAL

    def spend(self, characters: int) -> bool:
        self.characters -= characters + 1
        return self.characters >= 0


def _redact(value: Any, depth: int, budget: _Budget) -> Any:
    match value:
        case _ if budget.characters < 0:
            return "…"
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return redact_text(value) if budget.spend(min(len(value), 4 * MAX_TEXT)) else "…"
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case _ if depth >= MAX_DEPTH:
            return "…"
        case Mapping():
            return {
                redact_text(str(key)[:MAX_TEXT]): REDACTED
                if item is not None and names_a_secret(str(key))
                else _redact(item, depth + 1, budget)
                for key, item in list(value.items())[:MAX_ITEMS]
                if budget.spend(len(str(key)))
            }
        case list() | tuple() | set() | frozenset():
            return [_redact(item, depth + 1, budget) for item in list(value)[:MAX_ITEMS] if budget.spend(0)]
        case _:
            return f"<{type(value).__name__}>"


def _secret(match: re.Match[str]) -> str:
    whole = match.group()
    if "keep" in match.re.groupindex:
        return whole[: match.start("keep") - match.start()] + REDACTED
    return REDACTED


def _redact_paths(text: str) -> str:
    # Only quotes, or being the whole value, tell where a path with blanks in it ends.
    if whole := _WHOLE_PATH.fullmatch(text):
        return f"…/{whole['last']}"
    text = _QUOTED_PATH.sub(lambda match: f"{match['quote']}…/{match['last']}{match['quote']}", text)
    return _PATHS.sub(_path, text)


def _path(match: re.Match[str]) -> str:
    last = next((part for part in match.groupdict().values() if part), None)
    return f"…/{last}" if last else "…"
