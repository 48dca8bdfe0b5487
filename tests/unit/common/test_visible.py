"""Text that shows exactly what a value is."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.visible import exact, visible

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
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    assert {unicodedata.category(one) for one in exact(value).replace("\n", "").replace(" ", "")} & hidden == set()


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
        pytest.param("a\ufe0fb", "a\\ufe0fb", id="a variation selector"),
        pytest.param("a\U000e0100b", "a\\udb40\\udd00b", id="one of the other variation selectors"),
        pytest.param("a\u3164b", "a\\u3164b", id="the Hangul filler"),
        pytest.param("a\u115f\u1160\uffa0b", "a\\u115f\\u1160\\uffa0b", id="the other Hangul fillers"),
        pytest.param("a\u2800b", "a\\u2800b", id="the blank braille pattern"),
        pytest.param("a\u034fb", "a\\u034fb", id="the grapheme joiner"),
        pytest.param("a\u17b4b", "a\\u17b4b", id="an inherent vowel"),
        pytest.param("a\u180bb", "a\\u180bb", id="a Mongolian selector"),
        pytest.param("a\u00a0b", "a\\u00a0b", id="a blank that is no space"),
        pytest.param("a\u2003b", "a\\u2003b", id="a wide blank"),
        pytest.param("a\u3000b", "a\\u3000b", id="the ideographic blank"),
    ],
)
def test_characters_that_cannot_be_seen_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
