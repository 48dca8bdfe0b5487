"""JSON for the wire."""

import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.fastjson import FastJson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_encoded_decodes_to_the_same(value: Any) -> None:
    assert FastJson.loads(FastJson.dumps(value)) == value
    assert FastJson.loads(FastJson.encode(value)) == value


@given(VALUES)
def test_it_reads_and_writes_what_the_standard_module_does(value: Any) -> None:
    assert json.loads(FastJson.dumps(value)) == FastJson.loads(json.dumps(value))


def test_what_json_cannot_hold_becomes_its_string() -> None:
    assert FastJson.dumps({"path": PurePosixPath("a/b"), 1: 2**70}) == f'{{"path":"a/b","1":{2**70}}}'


def test_half_a_character_is_a_question_mark_that_everybody_can_read() -> None:
    assert FastJson.loads(FastJson.dumps(["财\ud800😀", 2**70])) == ["财?😀", 2**70]


@pytest.mark.parametrize("text", ["", "{", "[1,]", "nul", "[" * 100_000, '"\ud800"'])
def test_what_is_malformed_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        FastJson.loads(text)
