"""What the value of a setting may be: from text, or from the typed values of a file, to what the server uses. Pure.

Every function raises `ValueError` with words that go on after the value: "is not a port".
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, get_args

from a2c_smcp.server.units import bytes_of, seconds_of
from a2c_smcp.types import Role

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off", ""})
_ORIGIN: Final = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.IGNORECASE)
_HOST: Final = re.compile(r"\*|\[[0-9a-f:.]+\]|[^\s/:?#@\[\]]+", re.IGNORECASE)
_PATH: Final = re.compile(r"(/[\w.~-]+)+", re.ASCII)
_KEY: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key and what it binds its bearer to; None binds nothing."""

    key: str = field(repr=False)
    role: Role | None = None
    name: str | None = None
    office_id: str | None = None


def text(value: object) -> str:
    """Any text but an empty one."""
    if not isinstance(value, str) or not value:
        raise ValueError("is not a text")
    return value


def flag(value: object) -> bool:
    """On or off."""
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    if not isinstance(value, bool):
        raise ValueError("is not true or false")  # noqa: TRY004 - one kind of error for every bad value
    return value


def port(value: object) -> int:
    """A port; 0 picks one."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= 65_535:
        raise ValueError("is not a port: a whole number from 0 to 65535")
    return number


def amount(value: object) -> float:
    """A number that is not negative."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("is not a number of 0 or more")
    return int(number) if number.is_integer() else number


def size(value: object) -> int:
    """A size in bytes, above nothing."""
    if (number := bytes_of(value)) < 1:
        raise ValueError("is not a size above 0")
    return number


def seconds(value: object) -> float:
    """A span of time."""
    return seconds_of(value)


def positive_seconds(value: object) -> float:
    """A span of time above nothing."""
    if (span := seconds_of(value)) <= 0:
        raise ValueError("is not a span of time above 0")
    return span


def file(value: object) -> Path:
    """A file; `~` is the home directory."""
    return value if isinstance(value, Path) else Path(text(value)).expanduser()


def url_path(value: object) -> str:
    """A path of URLs, with one slash before it and none behind."""
    path = f"/{text(value).strip('/')}"
    if not _PATH.fullmatch(path):
        raise ValueError("is not a path like /socket.io")
    return path


def choice(*words: str) -> Callable[[object], str]:
    """One of these words."""

    def one_of(value: object) -> str:
        if not isinstance(value, str) or value.lower() not in words:
            raise ValueError(f"is not one of {', '.join(words)}")
        return value.lower()

    return one_of


def origins(value: object) -> tuple[str, ...]:
    """Origins of web pages, as browsers write them."""
    found = tuple(one.rstrip("/").lower() for one in listing(value))
    if wrong := [one for one in found if not _ORIGIN.fullmatch(one)]:
        raise ValueError(f"has {wrong[0]!r}, which is not an origin like https://app.example.com")
    return found


def hosts(value: object) -> tuple[str, ...]:
    """Names of hosts, without ports."""
    found = tuple(one.lower() for one in listing(value))
    if wrong := [one for one in found if not _HOST.fullmatch(one)]:
        raise ValueError(f"has {wrong[0]!r}, which is not a host name without a port")
    return found


def networks(value: object) -> tuple[str, ...]:
    """Addresses or networks; `*` is all of them."""
    found = tuple(listing(value))
    for one in found:
        try:
            one == "*" or ipaddress.ip_network(one)
        except ValueError:
            raise ValueError(f"has {one!r}, which is not an address or network") from None
    return found


def api_keys(value: object) -> tuple[ApiKey, ...]:
    """API keys: text with commas, or a list of keys and of tables that bind a key to a role, name or office."""
    entries = listing(value) if isinstance(value, str) else value
    if isinstance(entries, Mapping) or not isinstance(entries, Iterable):
        raise ValueError("is not a list of keys")  # noqa: TRY004
    return tuple(map(_api_key, entries))


def listing(value: object) -> list[str]:
    """Texts, from a list or from text with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(one, str) for one in parts):
        raise ValueError("is not a list of texts")
    return [one.strip() for one in parts if one.strip()]


def _api_key(entry: Any) -> ApiKey:
    if isinstance(entry, ApiKey):
        return entry
    table = {"key": entry} if isinstance(entry, str) else entry
    if not isinstance(table, Mapping) or not table.keys() <= {one.name for one in fields(ApiKey)}:
        raise ValueError("has an entry that is not a key or a table of key, role, name, office_id")
    if not isinstance(key := table.get("key"), str) or not _KEY.fullmatch(key):
        raise ValueError("has a key that is not made of printable ASCII characters without blanks")
    if table.get("role", "agent") not in get_args(Role):
        raise ValueError(f"has a role that is not one of {', '.join(get_args(Role))}")
    if not all(isinstance(one, str) and one for one in table.values()):
        raise ValueError("has a name or office_id that is not a text")
    return ApiKey(**table)
