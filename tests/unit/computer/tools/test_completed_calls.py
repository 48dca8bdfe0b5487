"""What is kept for who asks again, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.tools.completed_calls import ENTRY_WEIGHT, CallKey, CallOutcome, CompletedCalls
from a2c_smcp.computer.tools.results import too_large_to_keep

GONE = CallOutcome(too_large_to_keep())


def key(name: str, agent: str = "a", office: str = "o") -> CallKey:
    return CallKey(office, agent, name)


def outcome(size: int = 1) -> CallOutcome:
    return CallOutcome({"content": ["x" * size]})


def kept(seconds: float = 300, entries: int = 4, weight: int = 40_000) -> CompletedCalls:
    return CompletedCalls(seconds=seconds, entries=entries, weight=weight)


def test_an_outcome_is_found_by_office_agent_and_id() -> None:
    store = kept()
    store.keep(key("1"), "f", outcome(), 0)
    assert store.find(key("1"), 1) == ("f", outcome())
    assert store.find(key("1", agent="b"), 1) is None
    assert store.find(key("1", office="p"), 1) is None


def test_an_outcome_is_forgotten_when_its_time_is_over() -> None:
    store = kept(seconds=10)
    store.keep(key("1"), "f", outcome(), 0)
    assert store.find(key("1"), 9.9) is not None
    assert store.find(key("1"), 10) is None
    assert (len(store), store.weight) == (0, 0)


def test_the_oldest_go_when_there_are_too_many() -> None:
    store = kept(entries=2)
    for name in "123":
        store.keep(key(name), "f", outcome(), 0)
    assert [store.find(key(name), 0) is not None for name in "123"] == [False, True, True]


def test_a_heavy_result_is_dropped_before_a_light_one_but_its_call_is_remembered() -> None:
    store = kept(entries=4, weight=40_000)
    store.keep(key("light"), "l", outcome(), 0)
    store.keep(key("heavy"), "h", outcome(25_000), 0)
    store.keep(key("heavier"), "x", outcome(30_000), 0)
    assert store.find(key("light"), 1) == ("l", outcome())
    assert store.find(key("heavy"), 1) == ("h", GONE)
    assert store.find(key("heavier"), 1) == ("x", outcome(30_000))


def test_a_result_heavier_than_all_that_may_be_kept_is_not_kept() -> None:
    store = kept(weight=40_000)
    store.keep(key("1"), "f", outcome(100_000), 0)
    assert store.find(key("1"), 1) == ("f", GONE)
    assert store.weight == ENTRY_WEIGHT


def test_keeping_again_takes_the_place_of_what_was_kept() -> None:
    store = kept()
    store.keep(key("1"), "f", outcome(20_000), 0)
    store.keep(key("1"), "g", outcome(), 5)
    assert store.find(key("1"), 6) == ("g", outcome())
    assert store.weight < 1_000


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60_000), st.floats(0, 5)), max_size=40))
def test_no_order_of_events_breaks_the_bounds(steps: list[tuple[int, int, float]]) -> None:
    store, now = kept(seconds=10, entries=4, weight=40_000), 0.0
    for name, size, pause in steps:
        now += pause
        store.keep(key(str(name)), "f", outcome(size), now)
        assert len(store) <= 4
        assert store.weight <= 40_000
        assert store.find(key(str(name)), now) is not None


@pytest.mark.parametrize("now", [0, 100])
def test_nothing_is_found_where_nothing_was_kept(now: float) -> None:
    assert kept().find(key("1"), now) is None
