"""Delays between retries."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.backoff import Backoff, backoff_delay

PACKAGE = Path(__file__).parents[3] / "a2c_smcp"
COPY = re.compile(r"2(?:\.0)? ?\*\* ?(?:min\(|attempt|repetition|failures)|min\(2 \* \w+, ")


def longest(_: float, most: float) -> float:
    return most


def shortest(least: float, _: float) -> float:
    return least


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(uniform=longest)
    assert [backoff.next() for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_delay_may_be_zero() -> None:
    backoff = Backoff(uniform=shortest)
    assert [backoff.next() for _ in range(3)] == [0, 0, 0]


def test_slow_delays_are_never_short() -> None:
    slow = [Backoff(uniform=shortest, failures=failures).slow() for failures in range(6)]
    assert slow == [1, 2, 4, 8, 15, 15]


def test_reset_starts_over() -> None:
    backoff = Backoff(uniform=longest)
    for _ in range(5):
        backoff.next()
    backoff.reset()
    assert backoff.next() == 0.5


def test_a_fresh_copy_has_the_same_bounds_and_no_failures() -> None:
    backoff = Backoff(1, 2, longest, failures=7)
    assert backoff.fresh() == Backoff(1, 2, longest)


@given(st.integers(0, 10_000), st.floats(0.001, 10), st.floats(0.001, 100))
def test_no_delay_is_longer_than_the_longest(failures: int, base: float, most: float) -> None:
    assert 0 <= Backoff(base, most, failures=failures).next() <= most
    assert 0 <= Backoff(base, most, failures=failures).slow() <= most


def test_exact_delays_have_no_jitter() -> None:
    backoff = Backoff(0.5, 3)
    assert [backoff.exact() for _ in range(4)] == [0.5, 1, 2, 3]


def test_any_number_of_failures_gives_a_finite_delay() -> None:
    assert backoff_delay(100_000, base=0.5, longest=7) == 7


def test_no_other_module_computes_a_back_off() -> None:
    copies = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if COPY.search(path.read_text(encoding="utf-8")) and path.name != "backoff.py"
    ]
    assert copies == []
