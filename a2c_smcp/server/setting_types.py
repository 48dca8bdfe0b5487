"""Types of the server's settings, which pydantic validates, and how a field describes itself as an option. Pure.

Importing pydantic takes longer than `a2c --help` does, so it is imported on first validation only. `Before` therefore
stands in for `pydantic.BeforeValidator`. A validator raises `ValueError` with words that continue after the value:
"should be a path like /socket.io".
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MinLen

from a2c_smcp.common.durations import parse_quantity, parse_seconds
from a2c_smcp.types import Role

_SIZE_UNITS: Final[Mapping[str, float]] = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_ORIGIN: Final = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.IGNORECASE)
_HOST: Final = re.compile(r"\*|\[[0-9a-f:.]+\]|[^\s/:?#@\[\]]+", re.IGNORECASE)
_PATH: Final = re.compile(r"(/[\w.~-]+)+", re.ASCII)
_KEY: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Before:
    """Runs a function before pydantic validates the value."""

    function: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return the core schema; pydantic calls this."""
        from pydantic_core import core_schema  # noqa: PLC0415

        return core_schema.no_info_before_validator_function(self.function, handler(source))


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - pydantic collects value errors
    return value


def _empty_is_false(value: Any) -> Any:
    return False if value == "" else value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _integral(value: Any) -> Any:
    try:
        number = float(_no_bool(value))
    except (TypeError, ValueError):
        return value
    return int(number) if number.is_integer() else number


def _expand_home(value: Any) -> Any:
    if value == "":
        raise ValueError("should be a file name")
    return Path(value).expanduser() if isinstance(value, str) else value


def parse_bytes(value: object) -> int:
    """Return a size in bytes: a number, or text like `4000000`, `4MB`, `4MiB`.

    Raises:
        ValueError: The value is not a size.
    """
    size = parse_quantity(value, _SIZE_UNITS, "should be a size like 4000000, 4MB or 4MiB")
    if not size.is_integer():
        raise ValueError("should be a whole number of bytes")
    return int(size)


def parse_url_path(value: Any) -> str:
    """Return a URL path with a leading and no trailing slash.

    Raises:
        ValueError: The value is not a path.
    """
    path = f"/{value.strip('/')}" if isinstance(value, str) else ""
    if not _PATH.fullmatch(path):
        raise ValueError("should be a path like /socket.io")
    return path


def parse_origin(value: Any) -> str:
    """Return the origin of web pages in the form that browsers send.

    Raises:
        ValueError: The value is not an origin.
    """
    origin = value.rstrip("/").lower() if isinstance(value, str) else ""
    if not _ORIGIN.fullmatch(origin):
        raise ValueError("should be an origin like https://app.example.com")
    return origin


def parse_host(value: Any) -> str:
    """Return a host name without a port, in lower case.

    Raises:
        ValueError: The value is not a host name.
    """
    if not isinstance(value, str) or not _HOST.fullmatch(value):
        raise ValueError("should be a host name without a port")
    return value.lower()


def parse_network(value: Any) -> str:
    """Return an IP address or network; `*` means all.

    Raises:
        ValueError: The value is neither.
    """
    try:
        if value != "*":
            ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("should be an address or a network") from None
    return str(value)


def split_list(value: Any) -> list[Any]:
    """Return the items of a list, or of text with commas.

    Raises:
        ValueError: The value is neither.
    """
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError("should be a list, or text with commas")  # noqa: TRY004
    stripped = (one.strip() if isinstance(one, str) else one for one in items)
    return [one for one in stripped if one != ""]


def _parse_key(value: Any) -> str:
    if not isinstance(value, str) or not _KEY.fullmatch(value):
        raise ValueError("should consist of printable ASCII characters without spaces")
    return value


def _key_table(value: Any) -> Any:
    if isinstance(value, str):
        return {"key": value}
    if not isinstance(value, Mapping | ApiKey):
        raise ValueError("should be a key, or a table of key, role, name and office_id")  # noqa: TRY004
    return value


Text: TypeAlias = Annotated[str, MinLen(1)]
Flag: TypeAlias = Annotated[bool, Before(_empty_is_false)]
Port: TypeAlias = Annotated[int, Ge(0), Le(65_535), Before(_no_bool)]
Count: TypeAlias = Annotated[int, Ge(0), Before(_no_bool)]
Rate: TypeAlias = Annotated[int | float, Ge(0), Lt(float("inf")), Before(_integral), Before(_no_bool)]
Size: TypeAlias = Annotated[int, Gt(0), Before(parse_bytes)]
Seconds: TypeAlias = Annotated[float, Before(parse_seconds)]
PositiveSeconds: TypeAlias = Annotated[float, Gt(0), Before(parse_seconds)]
FilePath: TypeAlias = Annotated[Path, Before(_expand_home)]
UrlPath: TypeAlias = Annotated[str, Before(parse_url_path)]
LogFormat: TypeAlias = Annotated[Literal["text", "json"], Before(_lower)]
LogLevel: TypeAlias = Annotated[Literal["debug", "info", "warning", "error"], Before(_lower)]
Origins: TypeAlias = Annotated[tuple[Annotated[str, Before(parse_origin)], ...], Before(split_list)]
Hosts: TypeAlias = Annotated[tuple[Annotated[str, Before(parse_host)], ...], Before(split_list)]
Networks: TypeAlias = Annotated[tuple[Annotated[str, Before(parse_network)], ...], Before(split_list)]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key and what it binds its bearer to; None binds nothing."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    key: Annotated[str, Before(_parse_key)] = field(repr=False)
    role: Role | None = None
    name: Text | None = None
    office_id: Text | None = None


ApiKeys: TypeAlias = Annotated[tuple[Annotated[ApiKey, Before(_key_table)], ...], Before(split_list)]


@dataclass(frozen=True, slots=True)
class Option:
    """A setting as an option. `name` is the field, the TOML key and, in upper case, the end of the variable.

    Attributes:
        many: Its value is a list.
        secret: Its value is never shown.
        alias: A second name, which is also the one on the command line.
    """

    name: str
    help: str
    default: Any
    metavar: str
    flag: bool
    many: bool
    choices: tuple[str, ...]
    secret: bool
    alias: str

    @property
    def cli_name(self) -> str:
        """Its name on the command line."""
        return "--" + (self.alias or self.name).replace("_", "-")


def setting(help_: str, default: Any, *, metavar: str = "", secret: bool = False, alias: str = "") -> Any:
    """Return a dataclass field with the description of its option."""
    described = {"help": help_, "metavar": metavar, "secret": secret, "alias": alias}
    # Under one key, because pydantic takes keys like "alias" for its own.
    return field(default=default, repr=not secret, metadata={"option": described})


def options_of(model: type, prefix: str = "") -> Iterator[Option]:
    """Yield an option for each field of a dataclass that `setting` made."""
    hints = get_type_hints(model, include_extras=True)
    for one in fields(model):
        if described := one.metadata.get("option"):
            kind = _plain_type(hints[one.name])
            yield Option(
                name=prefix + one.name,
                default=one.default,
                flag=kind is bool,
                many=get_origin(kind) is tuple,
                choices=get_args(kind) if get_origin(kind) is Literal else (),
                **described,
            )


def _plain_type(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        return _plain_type(get_args(hint)[0])
    if get_origin(hint) is Union and type(None) in get_args(hint):
        return _plain_type(get_args(hint)[0])
    return hint
