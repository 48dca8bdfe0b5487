"""Token buckets and throttles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.rate_limit import Throttle, TokenBucket


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = TokenBucket(rate=2, burst=3)
    assert [bucket.take(0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(1), bucket.take(1), bucket.take(1)] == [True, True, False]


def test_a_rate_of_zero_is_no_limit() -> None:
    bucket = TokenBucket(rate=0, burst=0)
    assert all(bucket.take(0) for _ in range(100))
    assert bucket.reserve(0) == 0


@given(st.lists(st.floats(0, 1), max_size=200), st.integers(1, 20), st.integers(1, 20))
def test_no_pattern_gets_more_than_burst_plus_rate_times_time(gaps: list[float], rate: int, burst: int) -> None:
    bucket, now, taken = TokenBucket(rate, burst), 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now)
    assert taken <= burst + rate * now + 1e-6


def test_a_cost_above_the_level_delays_later_callers() -> None:
    bucket = TokenBucket(10, 20)
    assert bucket.take(0, 100)
    assert not bucket.take(0)
    assert not bucket.take(7.9)
    assert bucket.take(8.2)


def test_a_reservation_waits_for_its_token() -> None:
    bucket = TokenBucket(rate=10, burst=3)
    assert [bucket.reserve(0.0) for _ in range(5)] == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.2])
    assert bucket.reserve(10.0) == 0


def test_a_throttle_allows_its_limit_in_a_window_and_counts_the_rest() -> None:
    throttle = Throttle(2)
    assert [throttle.allows(at) for at in (7.5, 7.6, 7.7, 8.4, 8.5)] == [True, True, False, False, True]
    assert [throttle.take_suppressed(), throttle.take_suppressed()] == [2, 0]


def test_a_window_starts_with_its_first_event() -> None:
    throttle = Throttle(1, seconds=60)
    assert [throttle.allows(at) for at in (59, 61, 118, 119, 300)] == [True, False, False, True, True]


@given(st.lists(st.floats(0, 3), max_size=100), st.integers(1, 5))
def test_every_event_is_allowed_or_counted(gaps: list[float], limit: int) -> None:
    throttle, now, allowed = Throttle(limit), 0.0, 0
    for gap in gaps:
        now += gap
        allowed += throttle.allows(now)
    assert allowed + throttle.take_suppressed() == len(gaps)
