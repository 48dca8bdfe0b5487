"""The field types of a configuration, with messages that say how to fix a value, and its `${…}` placeholders. Pure.

    ${input:id}   an input of the configuration      ${env:NAME}, ${NAME}, ${NAME:-default}   the environment
    ${workspaceFolder}, ${userHome}, …   variables that editors predefine

Nothing here resolves placeholders: a loaded configuration still contains them.
"""

import codecs
import json
import math
import re
import unicodedata
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

MAX_DURATION: Final = timedelta(days=3650)

_DURATION: Final = re.compile(
    r"P(?=[0-9T])(?:(?P<weeks>{n})W)?(?:(?P<days>{n})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>{n})H)?(?:(?P<minutes>{n})M)?(?:(?P<seconds>{n})S)?)?".replace(
        "{n}", r"[0-9]{1,18}(?:[.,][0-9]{1,18})?"
    )
)
_SECONDS: Final = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DURATION_HINT: Final = 'write an ISO-8601 duration such as "PT30S", or a number of seconds'
_SECONDS_HINT: Final = "write seconds as a number above 0, such as 30"


def field_error(what: str, fix: str) -> PydanticCustomError:
    """Return the error to raise for a value: what is wrong and how to fix it. Never put the value into it."""
    return PydanticCustomError("config", "{line}", {"line": f"{what}; {fix}"})


def json_text(value: object) -> object:
    """Return a JSON number or boolean as its JSON text, because people write `"PORT": 8080`; other values unchanged."""
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return json.dumps(value)
    return value


def header_texts(value: object) -> object:
    """Return headers with string values: lists joined by commas, objects as JSON, `null` values dropped."""
    if not isinstance(value, dict):
        return value
    return {name: _header_text(one) for name, one in value.items() if one is not None}


def _header_text(value: object) -> object:
    if isinstance(value, list | tuple):
        parts = [_header_text(one) for one in value]
        return ", ".join(map(str, parts)) if all(isinstance(one, str) for one in parts) else value
    return json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else json_text(value)


def parse_duration(value: object) -> timedelta:
    """Return a positive duration from an ISO-8601 string, a number of seconds or a `timedelta`."""
    try:
        duration = _duration(value)
    except OverflowError:
        raise field_error("is too long a time", f"use at most {MAX_DURATION.days} days") from None
    if duration <= timedelta(0):
        raise field_error("must be longer than 0", _DURATION_HINT)
    if duration > MAX_DURATION:
        raise field_error("is too long a time", f"use at most {MAX_DURATION.days} days")
    return duration


def _duration(value: object) -> timedelta:
    match value:
        case timedelta():
            return value
        case bool():
            raise field_error("is not a duration", _DURATION_HINT)
        case int() | float():
            if not math.isfinite(value):
                raise field_error("is not a duration", _DURATION_HINT)
            return timedelta(seconds=value)
        case str():
            return _iso_duration(value)
        case _:
            raise field_error("is not a duration", _DURATION_HINT)


def _iso_duration(text: str) -> timedelta:
    if has_placeholder(text):
        raise field_error("cannot be a placeholder", _DURATION_HINT)
    found = _DURATION.fullmatch(text)
    if found is None:
        what = "is not a duration"
        if re.fullmatch(r"P[0-9.,]+[YM].*", text):
            what = "counts years or months, which have no fixed length"
        raise field_error(what, _DURATION_HINT)
    # Decimal, because a float would lose microseconds and break the round trip.
    total = sum(Decimal(part.replace(",", ".")) * _SECONDS[unit] for unit, part in found.groupdict().items() if part)
    return timedelta(microseconds=int((Decimal(total) * 1_000_000).to_integral_value()))


def format_duration(duration: timedelta) -> str:
    """Return a positive duration as an ISO-8601 string in units of fixed length (no years, no months)."""
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{duration.microseconds:06}".rstrip("0") if duration.microseconds else ""
    day = f"{duration.days}D" if duration.days else ""
    clock = f"{hours}H" if hours else ""
    clock += f"{minutes}M" if minutes else ""
    clock += f"{seconds}{fraction}S" if seconds or fraction else ""
    return f"P{day}T{clock}" if clock else f"P{day}"


def _check_seconds(value: float) -> float:
    if value <= 0:
        raise field_error("must be longer than 0", _SECONDS_HINT)
    if value > MAX_DURATION.total_seconds():
        raise field_error("is too long a time", f"use at most {MAX_DURATION.days} days")
    return value


def _check_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise field_error("is not a number of seconds", _SECONDS_HINT)
    return value


def _check_name(value: str) -> str:
    if not value.strip():
        raise field_error("must not be empty", "give it a name")
    if has_control(value):
        raise field_error("has a control character or a line break in it", "remove it")
    return value


def has_control(text: str) -> bool:
    """Whether a string contains control characters or line separators."""
    return any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} for char in text)


def _check_command(value: str) -> str:
    if not value.strip():
        raise field_error("must not be empty", 'name the program to start, such as "npx"')
    return _check_no_nul(value)


def _check_no_nul(value: str) -> str:
    if "\0" in value:
        raise field_error("has a NUL character in it", "remove it")
    return value


def _check_directory(value: str) -> str:
    if not value.strip():
        raise field_error("must not be empty", "name a directory, or leave it out")
    return _check_no_nul(value)


def _check_env_name(value: str) -> str:
    if not value or "=" in value:
        raise field_error("is not the name of a variable", "use a name without = in it")
    return _check_no_nul(value)


def _check_header_name(value: str) -> str:
    if not _HEADER_NAME.fullmatch(value):
        raise field_error("is not the name of an HTTP header", "use letters, digits and hyphens")
    return value


def _check_header_value(value: str) -> str:
    if any(char in value for char in "\r\n\0"):
        raise field_error("has a line break in it", "a header is one line: remove the break")
    return value


def _check_encoding(value: str) -> str:
    try:
        codecs.lookup(value)
    except (LookupError, ValueError):
        raise field_error("is not a known text encoding", 'use "utf-8", or another that Python knows') from None
    return value


def _check_url(value: str) -> str:
    if has_control(value) or value != value.strip():
        raise field_error("has a blank, a line break or a control character around or in it", "remove it")
    if has_placeholder(value):
        return value
    hint = 'write it in full, such as "https://example.com/mcp"'
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise field_error("is not a URL", hint) from None
    if parts.scheme not in {"http", "https"}:
        raise field_error("must begin with http:// or https://", hint)
    if not host:
        raise field_error("names no host", hint)
    return value


_SCALAR_SCHEMA: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}

Name = Annotated[str, AfterValidator(_check_name)]
Argument = Annotated[str, AfterValidator(_check_no_nul)]
ProgramName = Annotated[str, AfterValidator(_check_command)]
Directory = Annotated[str, AfterValidator(_check_directory)]
Encoding = Annotated[str, AfterValidator(_check_encoding)]
Url = Annotated[str, AfterValidator(_check_url)]
EnvName = Annotated[str, AfterValidator(_check_env_name)]
EnvValue = Annotated[
    str, BeforeValidator(json_text), AfterValidator(_check_no_nul), WithJsonSchema(_SCALAR_SCHEMA, mode="validation")
]
HeaderName = Annotated[str, AfterValidator(_check_header_name)]
HeaderValue = Annotated[
    str,
    BeforeValidator(json_text),
    AfterValidator(_check_header_value),
    WithJsonSchema(_SCALAR_SCHEMA, mode="validation"),
]
Headers = Annotated[
    dict[HeaderName, HeaderValue],
    BeforeValidator(header_texts),
    WithJsonSchema({"type": "object", "additionalProperties": True}, mode="validation"),
]
Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    # Pydantic would serialize 365 days as a year, which has no fixed length.
    PlainSerializer(format_duration, return_type=str, when_used="json"),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "duration"}, {"type": "number", "exclusiveMinimum": 0}]},
        mode="validation",
    ),
]
Seconds = Annotated[
    float,
    BeforeValidator(_check_number),
    AfterValidator(_check_seconds),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}, mode="validation"),
]


PLACEHOLDER: Final = re.compile(r"\$\{(?P<name>[^{}]*)\}")
_INPUT: Final = re.compile(r"\$\{input:(?P<id>[^{}]*)\}")


def has_placeholder(text: str) -> bool:
    """Whether a string contains a placeholder."""
    return PLACEHOLDER.search(text) is not None


def input_ids(text: str) -> list[str]:
    """Return the ids of the `${input:id}` placeholders in a string, in order, with repetitions."""
    return _INPUT.findall(text)
