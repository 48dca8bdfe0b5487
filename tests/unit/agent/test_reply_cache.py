"""What stays on the cache."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.reply_cache import ReplyCache, estimate_bytes


def test_what_was_used_longest_ago_leaves_first() -> None:
    cache = ReplyCache(3 * estimate_bytes("x" * 100))
    for key in "abc":
        cache.put(key, "x" * 100, cache.version)
    cache.get("a")
    cache.put("d", "x" * 100, cache.version)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]


def test_an_answer_to_an_earlier_edition_is_passed_over() -> None:
    cache = ReplyCache(1_000)
    asked = cache.version
    cache.clear()
    cache.put("a", "old", asked)
    assert cache.get("a") is None


def test_what_is_larger_than_the_shelf_does_not_empty_it() -> None:
    cache = ReplyCache(1_000)
    cache.put("a", "small", 0)
    cache.put("b", "x" * 2_000, 0)
    assert (cache.get("a"), cache.get("b")) == ("small", None)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=60))))
def test_it_never_holds_more_than_it_can(replies: list[tuple[str, Any]]) -> None:
    cache = ReplyCache(400)
    for key, reply in replies:
        cache.put(key, reply, 0)
    assert cache.size == sum(estimate_bytes(cache.get(key)) for key in "abcdef" if cache.get(key) is not None) <= 400


def test_a_value_of_any_depth_can_be_weighed() -> None:
    value: Any = "leaf"
    for _ in range(10_000):
        value = [{"k": value}]
    assert estimate_bytes(value) > 10_000
