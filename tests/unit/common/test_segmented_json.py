"""A reply is encoded in parts that make the same JSON."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.common.segmented_json import LONG, SEGMENT, json_segments

# A text is drawn as its letters and whether it is long, so that a failing example can be printed.
TEXTS = st.tuples(st.sampled_from(["x", "财务", '"\\\n', "a😀b", "\ud800"]), st.booleans())
ITEMS = st.fixed_dictionaries(
    {"uri": st.text(max_size=5)},
    optional={
        "text": TEXTS | st.none(),
        "blob": TEXTS,
        "other": TEXTS,
        "resource": st.fixed_dictionaries({"text": TEXTS, "_meta": st.none()}) | st.text(max_size=3),
    },
)
REPLIES = st.fixed_dictionaries(
    {"req_id": st.text(max_size=5)},
    optional={
        "contents": st.lists(ITEMS | st.none(), max_size=3),
        "content": st.lists(ITEMS, max_size=3) | st.text(max_size=3),
    },
)


def written_out(drawn: Any) -> Any:
    match drawn:
        case dict():
            return {key: written_out(value) for key, value in drawn.items()}
        case list():
            return [written_out(value) for value in drawn]
        case (str() as letters, bool() as long):
            return letters * (LONG + 7 if long else 3)
        case _:
            return drawn


@settings(max_examples=200)
@given(REPLIES)
def test_the_parts_make_the_json_of_the_whole(drawn: Any) -> None:
    reply = written_out(drawn)
    same = FastJson.loads(b"".join(json_segments(reply))) == FastJson.loads(FastJson.encode(reply))
    assert same


@pytest.mark.parametrize("reply", [{}, {"tools": ["x" * LONG * 3]}, {"contents": [{"text": "x"}]}, None, [1]])
def test_what_has_no_long_text_is_one_part(reply: Any) -> None:
    assert list(json_segments(reply)) == [FastJson.encode(reply)]


@pytest.mark.parametrize("letter", ["x", "财", '"'])
def test_no_part_is_long(letter: str) -> None:
    reply = {"contents": [{"uri": "x:y", "text": letter * 5_000_000}, {"blob": letter * LONG * 2}]}
    parts = list(json_segments(reply))
    assert max(map(len, parts)) <= 3 * SEGMENT
    assert b"".join(parts) == FastJson.encode(reply)


def test_the_reply_itself_is_left_alone() -> None:
    reply = {"contents": [{"text": "x" * (LONG + 1), "resource": {"blob": "y" * (LONG + 1)}}]}
    before = FastJson.encode(reply)
    list(json_segments(reply))
    assert FastJson.encode(reply) == before
