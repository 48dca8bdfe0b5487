"""Arguments of a tool call from the words of a command line."""

from typing import Any

import pytest

from a2c_smcp.cli.agent_params import params_of
from a2c_smcp.errors import BadRequest

SCHEMA: dict[str, Any] = {
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "deep": {"type": ["boolean", "null"]},
        "tags": {"type": "array"},
        "either": {"type": ["string", "integer"]},
        "odd": True,
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "named": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "node": {"$ref": "#/$defs/Node"},
        "level": {"enum": [1, 2, 3]},
        "mood": {"enum": ["1", "2"]},
        "loop": {"$ref": "#/properties/loop"},
        "lost": {"$ref": "#/$defs/Nowhere/at all"},
    },
    "$defs": {"Node": {"type": "object"}},
}


def given(*words: str, typed: str = "") -> dict[str, Any]:
    return params_of(words, SCHEMA, lambda: typed)


def test_values_are_read_as_the_schema_says() -> None:
    words = ("text=5", "count=5", "deep=null", 'tags=["a", 1]', "either=5", "odd=5", "unknown=5", "empty=")
    assert given(*words) == {
        "text": "5",
        "count": 5,
        "deep": None,
        "tags": ["a", 1],
        "either": "5",
        "odd": "5",
        "unknown": "5",
        "empty": "",
    }


def test_types_are_found_behind_choices_lists_and_references() -> None:
    words = ("maybe=3", "named=3", 'node={"a": 1}', "level=2", "mood=2", "loop=3", "lost=3")
    assert given(*words) == {
        "maybe": 3,
        "named": "3",
        "node": {"a": 1},
        "level": 2,
        "mood": "2",
        "loop": "3",
        "lost": "3",
    }


def test_all_arguments_can_be_one_object_here_or_on_standard_input() -> None:
    assert given('{"count": 1}') == given("-", typed='{"count": 1}') == {"count": 1}
    assert given() == {}


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("count=many", "count=many: the tool wants integer, written as JSON"),
        ("deep=perhaps", "deep=perhaps: the tool wants boolean or null, written as JSON"),
        ("=5", "'=5' is no argument; write NAME=VALUE, or all arguments as one JSON object"),
    ],
)
def test_what_cannot_be_read_is_refused(word: str, why: str) -> None:
    with pytest.raises(BadRequest) as caught:
        given(word)
    assert caught.value.message == why


def test_standard_input_must_hold_an_object() -> None:
    with pytest.raises(BadRequest, match="must be one JSON object"):
        given("-", typed="[1]")
