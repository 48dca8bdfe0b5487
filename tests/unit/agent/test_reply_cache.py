"""What stays on the shelf."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.reply_cache import ReplyCache, estimate_bytes


def test_what_was_used_longest_ago_leaves_first() -> None:
    shelf = ReplyCache(3 * estimate_bytes("x" * 100))
    for key in "abc":
        shelf.put(key, "x" * 100, shelf.edition)
    shelf.get("a")
    shelf.put("d", "x" * 100, shelf.edition)
    assert [key for key in "abcd" if shelf.get(key)] == ["a", "c", "d"]


def test_an_answer_to_an_earlier_edition_is_passed_over() -> None:
    shelf = ReplyCache(1_000)
    asked = shelf.edition
    shelf.clear()
    shelf.put("a", "old", asked)
    assert shelf.get("a") is None


def test_what_is_larger_than_the_shelf_does_not_empty_it() -> None:
    shelf = ReplyCache(1_000)
    shelf.put("a", "small", 0)
    shelf.put("b", "x" * 2_000, 0)
    assert (shelf.get("a"), shelf.get("b")) == ("small", None)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=60))))
def test_it_never_holds_more_than_it_can(replies: list[tuple[str, Any]]) -> None:
    shelf = ReplyCache(400)
    for key, reply in replies:
        shelf.put(key, reply, 0)
    assert shelf.size == sum(estimate_bytes(shelf.get(key)) for key in "abcdef" if shelf.get(key) is not None) <= 400


def test_a_value_of_any_depth_can_be_weighed() -> None:
    value: Any = "leaf"
    for _ in range(10_000):
        value = [{"k": value}]
    assert estimate_bytes(value) > 10_000
