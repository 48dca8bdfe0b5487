"""Text that shows exactly what a value is."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.console.words import exact, visible

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_what_is_shown_is_the_value(value: object) -> None:
    assert json.loads(exact(value)) == value


@given(values)
def test_nothing_that_is_shown_can_hide(value: object) -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert {unicodedata.category(one) for one in exact(value).replace("\n", "")} & hidden == set()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中文 é", "plain 中文 é"),
        ("two\nlines", "two\nlines"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\x1b[31mb", "a\\u001b[31mb"),
        ("a\x7fb", "a\\u007fb"),
        ("\U000e0041", "\\udb40\\udc41"),
    ],
)
def test_characters_that_cannot_be_seen_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
