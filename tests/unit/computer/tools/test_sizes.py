"""Weights and short forms of JSON values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.tools.sizes import ELLIPSIS, MAX_ITEMS, MAX_TEXT, NODE, shorten_json, weigh

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children, max_size=5) | st.dictionaries(st.text(), children, max_size=5),
    max_leaves=30,
)


@pytest.mark.parametrize(
    ("value", "weight"),
    [
        ("abc", NODE + 3),
        (None, NODE),
        ([], NODE),
        (["ab", 1], 3 * NODE + 2),
        ({"key": "value"}, 2 * NODE + 8),
    ],
)
def test_a_value_weighs_its_text_and_a_little_for_each_node(value: Any, weight: int) -> None:
    assert weigh(value) == weight


def test_counting_stops_soon_after_the_ceiling() -> None:
    endless: list[Any] = ["x"]
    endless.append(endless)
    assert 100 < weigh(endless, 100) < 200


@given(VALUES)
def test_a_weight_grows_with_the_text_of_the_value(value: Any) -> None:
    assert weigh([value, "more"]) > weigh(value)


def test_what_is_small_is_not_cut() -> None:
    assert shorten_json([1, "text", {"a": None}]) == [1, "text", {"a": None}]


@given(VALUES)
def test_a_cut_value_is_json_and_not_much_longer(value: Any) -> None:
    assert len(json.dumps(shorten_json(value))) <= len(json.dumps(value)) + 100


@pytest.mark.parametrize(
    ("value", "short"),
    [
        ("x" * (MAX_TEXT + 1), "x" * MAX_TEXT + ELLIPSIS),
        (list(range(MAX_ITEMS + 1)), [*range(MAX_ITEMS), ELLIPSIS]),
        ({"a": {"b": {"c": {"d": {}}}}}, {"a": {"b": {"c": {"d": ELLIPSIS}}}}),
        ([[[[[]]]]], [[[[ELLIPSIS]]]]),
        ({"password": "hunter2", "apiKey": None}, {"password": "<redacted>", "apiKey": None}),
    ],
)
def test_what_is_long_deep_or_secret_is_cut(value: Any, short: Any) -> None:
    assert shorten_json(value) == short


def test_a_large_object_says_how_much_is_left_out() -> None:
    small = shorten_json({str(number): number for number in range(MAX_ITEMS + 5)})
    assert small == {str(number): number for number in range(MAX_ITEMS)} | {ELLIPSIS: 5}
