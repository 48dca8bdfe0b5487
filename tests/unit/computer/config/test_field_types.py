"""Values of a configuration: what is taken, what is refused, and in which words."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from a2c_smcp.computer.config.field_types import (
    Directory,
    Duration,
    Encoding,
    EnvName,
    EnvValue,
    HeaderName,
    HeaderValue,
    Name,
    ProgramName,
    Seconds,
    Url,
)

DURATION_HINT = 'write an ISO-8601 duration such as "PT30S", or a number of seconds'
SECONDS_HINT = "write seconds as a number above 0, such as 30"
URL_HINT = 'write it in full, such as "https://example.com/mcp"'


def refusal(kind: Any, value: object) -> str:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(value, strict=True)
    return refused.value.errors()[0]["msg"]


def taken(kind: Any, value: object) -> object:
    return TypeAdapter(kind).validate_python(value, strict=True)


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(
    ("given_", "seconds"),
    [
        ("PT30S", 30),
        ("PT5M", 300),
        ("PT1M30S", 90),
        ("PT1H", 3_600),
        ("P1D", 86_400),
        ("P1DT1S", 86_401),
        ("P2W", 1_209_600),
        ("PT0.5S", 0.5),
        ("PT0,5S", 0.5),
        ("PT0.000001S", 0.000001),
        (30, 30),
        (0.25, 0.25),
        (timedelta(seconds=3), 3),
    ],
)
def test_a_duration_is_iso_8601_or_seconds(given_: object, seconds: float) -> None:
    assert taken(Duration, given_) == timedelta(seconds=seconds)


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ("30 seconds", f"is not a duration; {DURATION_HINT}"),
        ("30", f"is not a duration; {DURATION_HINT}"),
        ("", f"is not a duration; {DURATION_HINT}"),
        ("P", f"is not a duration; {DURATION_HINT}"),
        ("PT", f"is not a duration; {DURATION_HINT}"),
        ("P1DT", f"is not a duration; {DURATION_HINT}"),
        ("pt30s", f"is not a duration; {DURATION_HINT}"),
        ("PT٣S", f"is not a duration; {DURATION_HINT}"),
        ("-PT30S", f"is not a duration; {DURATION_HINT}"),
        ("P1Y", f"counts years or months, which have no fixed length; {DURATION_HINT}"),
        ("P2M", f"counts years or months, which have no fixed length; {DURATION_HINT}"),
        ("${input:timeout}", f"cannot be a placeholder; {DURATION_HINT}"),
        (True, f"is not a duration; {DURATION_HINT}"),
        (None, f"is not a duration; {DURATION_HINT}"),
        (float("nan"), f"is not a duration; {DURATION_HINT}"),
        (float("inf"), f"is not a duration; {DURATION_HINT}"),
        (0, f"must be longer than 0; {DURATION_HINT}"),
        (-1, f"must be longer than 0; {DURATION_HINT}"),
        ("PT0S", f"must be longer than 0; {DURATION_HINT}"),
        (1e300, "is too long a time; use at most 3650 days"),
        ("P999999999999999999D", "is too long a time; use at most 3650 days"),
        ("P3651D", "is too long a time; use at most 3650 days"),
    ],
)
def test_a_bad_duration_is_refused_with_the_way_to_write_one(given_: object, message: str) -> None:
    assert refusal(Duration, given_) == message


@pytest.mark.rule("5.1.kinds")
@given(st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=3650)))
def test_a_duration_reads_back_from_what_it_is_written_as(duration: timedelta) -> None:
    adapter = TypeAdapter(Duration)
    assert adapter.validate_python(adapter.dump_python(duration, mode="json")) == duration


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ("PT5S", f"is not a number of seconds; {SECONDS_HINT}"),
        (True, f"is not a number of seconds; {SECONDS_HINT}"),
        (0, f"must be longer than 0; {SECONDS_HINT}"),
        (1e300, "is too long a time; use at most 3650 days"),
    ],
)
def test_sse_takes_seconds_as_a_number(given_: object, message: str) -> None:
    assert taken(Seconds, 5) == 5.0
    assert refusal(Seconds, given_) == message


@pytest.mark.parametrize(
    ("given_", "spelled"), [(8080, "8080"), (1.5, "1.5"), (True, "true"), (False, "false"), ("x", "x"), ("", "")]
)
def test_numbers_and_booleans_are_spelled_as_json_does(given_: object, spelled: str) -> None:
    assert taken(EnvValue, given_) == spelled
    assert taken(HeaderValue, given_) == spelled


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3001/mcp",
        "https://example.com",
        "https://[::1]:8080/mcp",
        "https://user:pw@example.com/mcp?x=1",
        "${input:url}",
        "https://${input:host}:${input:port}/mcp",
        "${API_BASE:-https://api.example.com}/mcp",
    ],
)
def test_a_url_is_http_or_holds_a_placeholder(url: str) -> None:
    assert taken(Url, url) == url


BAD: list[tuple[Any, object, str]] = [
    (Url, "ftp://x", f"must begin with http:// or https://; {URL_HINT}"),
    (Url, "unix:///tmp/server.sock", f"must begin with http:// or https://; {URL_HINT}"),
    (Url, "example.com/mcp", f"must begin with http:// or https://; {URL_HINT}"),
    (Url, "", f"must begin with http:// or https://; {URL_HINT}"),
    (Url, "https:///mcp", f"names no host; {URL_HINT}"),
    (Url, "https://x:99999/", f"is not a URL; {URL_HINT}"),
    (Url, "https://[::1/", f"is not a URL; {URL_HINT}"),
    (Url, " https://x", "has a blank, a line break or a control character around or in it; remove it"),
    (Url, "https://x\n.y", "has a blank, a line break or a control character around or in it; remove it"),
    (Name, "", "must not be empty; give it a name"),
    (Name, " \t", "must not be empty; give it a name"),
    (Name, "a\x1bb", "has a control character or a line break in it; remove it"),
    (Name, "a\u2028b", "has a control character or a line break in it; remove it"),
    (ProgramName, "", 'must not be empty; name the program to start, such as "npx"'),
    (ProgramName, "a\0b", "has a NUL character in it; remove it"),
    (Directory, "", "must not be empty; name a directory, or leave it out"),
    (Encoding, "utf-99", 'is not a known text encoding; use "utf-8", or another that Python knows'),
    (Encoding, "a\0b", 'is not a known text encoding; use "utf-8", or another that Python knows'),
    (EnvName, "", "is not the name of a variable; use a name without = in it"),
    (EnvName, "A=B", "is not the name of a variable; use a name without = in it"),
    (EnvValue, "a\0", "has a NUL character in it; remove it"),
    (HeaderName, "X Y", "is not the name of an HTTP header; use letters, digits and hyphens"),
    (HeaderName, "X:", "is not the name of an HTTP header; use letters, digits and hyphens"),
    (HeaderValue, "a\r\nX-Evil: b", "has a line break in it; a header is one line: remove the break"),
]


@pytest.mark.parametrize(("kind", "value", "message"), BAD)
def test_a_bad_value_is_refused_with_what_to_do(kind: Any, value: object, message: str) -> None:
    assert refusal(kind, value) == message


@pytest.mark.parametrize("name", ["github", "我的服务", "a.b c", "👩‍💻"])
def test_a_name_may_be_in_any_language(name: str) -> None:
    assert taken(Name, name) == name
