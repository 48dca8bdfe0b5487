"""Reading the head of a payload, raw or parsed."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import BadRequest
from a2c_smcp.server.payload import (
    RawJson,
    RequestHead,
    check_arguments,
    parse_arguments,
    parse_head,
    payload_size,
    replace_sender,
    req_id_of,
)

GOOD = {"agent": "a", "req_id": "r", "computer": "c"}


@pytest.mark.parametrize("timeout", [None, 5, 0.5, 10_000])
def test_raw_and_parsed_payloads_have_the_same_head(timeout: float | None) -> None:
    payload = GOOD | ({} if timeout is None else {"timeout": timeout}) | {"params": {"x": [1]}, "later": None}
    head = RequestHead("a", "r", "c", timeout)
    assert parse_head("client:x", payload) == head
    assert parse_head("client:x", RawJson(json.dumps(payload))) == head


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        5,
        {},
        GOOD | {"agent": 1},
        GOOD | {"agent": ""},
        GOOD | {"computer": None},
        GOOD | {"req_id": "x" * 257},
        GOOD | {"timeout": 0},
        GOOD | {"timeout": "5"},
        GOOD | {"timeout": True},
    ],
)
def test_a_payload_without_a_proper_head_is_refused_in_both_forms(payload: Any) -> None:
    for form in (payload, RawJson(json.dumps(payload))):
        with pytest.raises(BadRequest, match=r"^client:x: "):
            parse_head("client:x", form)


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    "text",
    [
        '{"agent":"eve","req_id":"r","computer":"c","params":{"agent":"eve","n":1e400,"x":[1.10,"\\u4e16"]}}',
        '{"agent":"ada","agent":"eve","req_id":"r","computer":"c"}',
        '{"\\u0061gent":"eve","req_id":"r","computer":"c"}',
    ],
)
def test_only_the_senders_name_is_replaced(text: str) -> None:
    assert parse_head("client:x", RawJson(text)).agent == "eve"
    renamed = replace_sender(RawJson(text), "agent", 'a"\u4e16')
    expected = json.loads(text) | {"agent": 'a"\u4e16'}
    assert isinstance(renamed, RawJson)
    assert (json.loads(renamed.text), replace_sender(json.loads(text), "agent", 'a"\u4e16')) == (expected, expected)
    assert renamed.text.count("agent") == json.dumps(expected).count("agent")


@pytest.mark.parametrize("text", ["", "{", "{}{}", '{"a":1},{}', "nul", '{"agent":"\\ud800"}', "[" * 100_000])
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse_head("client:x", RawJson(text))


def test_broken_json_behind_the_head_is_refused_too() -> None:
    with pytest.raises(BadRequest):
        parse_head("client:x", RawJson('{"agent":"a","req_id":"r","computer":"c","params":{"x":]}}'))


@pytest.mark.parametrize(
    ("payload", "req_id"),
    [
        ({"req_id": "r"}, "r"),
        (RawJson('{"req_id":"r","agent":5}'), "r"),
        (RawJson('{"req_id":5}'), None),
        (RawJson("{"), None),
        ({"req_id": "x" * 300}, None),
        (None, None),
        ([], None),
    ],
)
def test_the_request_id_of_a_bad_request_is_found_if_it_can_be(payload: Any, req_id: str | None) -> None:
    assert req_id_of(payload) == req_id


@pytest.mark.parametrize(("text", "size"), [("abc", 3), ("é", 2), ("世界", 6), ("", 0)])
def test_sizes_are_bytes(text: str, size: int) -> None:
    assert payload_size(RawJson(text)) == size


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)


@given(st.lists(json_values, max_size=4))
def test_arguments_pass_unchanged(arguments: list[Any]) -> None:
    text = json.dumps(arguments)
    check_arguments(text)
    assert parse_arguments(RawJson(text[1:-1])) == tuple(arguments)


@given(st.text(max_size=30))
def test_no_text_raises_anything_but_its_own_error(text: str) -> None:
    with suppress(ValueError):
        check_arguments(text)
    with suppress(BadRequest):
        parse_head("client:x", RawJson(text))
