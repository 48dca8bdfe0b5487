"""Token buckets and time-outs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.limits import Bucket, ServerLimits, limit_exceeded


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = Bucket(rate=2, burst=3, now=0)
    assert [bucket.take(0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(1), bucket.take(1), bucket.take(1)] == [True, True, False]


def test_a_rate_of_zero_is_no_limit() -> None:
    bucket = Bucket(rate=0, burst=0, now=0)
    assert all(bucket.take(0) for _ in range(100))


@given(st.lists(st.floats(0, 1), max_size=200), st.integers(1, 20), st.integers(1, 20))
def test_no_pattern_gets_more_than_burst_plus_rate_times_time(gaps: list[float], rate: int, burst: int) -> None:
    bucket, now, taken = Bucket(rate, burst, 0), 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now)
    assert taken <= burst + rate * now + 1e-6


@pytest.mark.rule("2.1.timeout")
@pytest.mark.parametrize(("asked", "wait"), [(None, 17), (5, 7), (0.5, 2.5), (1e9, 3_602)])
def test_the_wait_is_the_requests_own_time_out_and_a_margin(asked: float | None, wait: float) -> None:
    assert ServerLimits().timeout(asked) == wait


def test_a_refusal_says_which_limit_and_how_much() -> None:
    error = limit_exceeded("joins per second", 10)
    assert (error.code, error.message, error.details) == (
        429,
        "Limit exceeded: joins per second (10)",
        {"limit": "joins per second", "value": 10},
    )


def test_what_costs_more_than_there_is_passes_and_is_paid_later() -> None:
    bucket = Bucket(10, 20, 0)
    assert bucket.take(0, 100)
    assert not bucket.take(0)
    assert not bucket.take(7.9)
    assert bucket.take(8.2)
