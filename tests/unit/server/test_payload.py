"""Reading the head of a payload, raw or parsed."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import BadRequest
from a2c_smcp.server.payload import Head, Raw, check_arguments, head_of, req_id_of, size_of, values_of, with_name

GOOD = {"agent": "a", "req_id": "r", "computer": "c"}


@pytest.mark.parametrize("timeout", [None, 5, 0.5, 10_000])
def test_raw_and_parsed_payloads_have_the_same_head(timeout: float | None) -> None:
    payload = GOOD | ({} if timeout is None else {"timeout": timeout}) | {"params": {"x": [1]}, "later": None}
    head = Head("a", "r", "c", timeout)
    assert head_of("client:x", payload) == head
    assert head_of("client:x", Raw(json.dumps(payload))) == head


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
    for form in (payload, Raw(json.dumps(payload))):
        with pytest.raises(BadRequest, match=r"^client:x: "):
            head_of("client:x", form)


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
    assert head_of("client:x", Raw(text)).agent == "eve"
    renamed = with_name(Raw(text), "agent", 'a"\u4e16')
    expected = json.loads(text) | {"agent": 'a"\u4e16'}
    assert isinstance(renamed, Raw)
    assert (json.loads(renamed.text), with_name(json.loads(text), "agent", 'a"\u4e16')) == (expected, expected)
    assert renamed.text.count("agent") == json.dumps(expected).count("agent")


@pytest.mark.parametrize("text", ["", "{", "{}{}", '{"a":1},{}', "nul", '{"agent":"\\ud800"}', "[" * 100_000])
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        head_of("client:x", Raw(text))


def test_broken_json_behind_the_head_is_refused_too() -> None:
    with pytest.raises(BadRequest):
        head_of("client:x", Raw('{"agent":"a","req_id":"r","computer":"c","params":{"x":]}}'))


@pytest.mark.parametrize(
    ("payload", "req_id"),
    [
        ({"req_id": "r"}, "r"),
        (Raw('{"req_id":"r","agent":5}'), "r"),
        (Raw('{"req_id":5}'), None),
        (Raw("{"), None),
        ({"req_id": "x" * 300}, None),
        (None, None),
        ([], None),
    ],
)
def test_the_request_id_of_a_bad_request_is_found_if_it_can_be(payload: Any, req_id: str | None) -> None:
    assert req_id_of(payload) == req_id


@pytest.mark.parametrize(("text", "size"), [("abc", 3), ("é", 2), ("世界", 6), ("", 0)])
def test_sizes_are_bytes(text: str, size: int) -> None:
    assert size_of(Raw(text)) == size


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)


@given(st.lists(json_values, max_size=4))
def test_arguments_pass_unchanged(arguments: list[Any]) -> None:
    text = json.dumps(arguments)
    check_arguments(text)
    assert values_of(Raw(text[1:-1])) == tuple(arguments)


@given(st.text(max_size=30))
def test_no_text_raises_anything_but_its_own_error(text: str) -> None:
    with suppress(ValueError):
        check_arguments(text)
    with suppress(BadRequest):
        head_of("client:x", Raw(text))
