"""How often something may happen."""

import pytest

from a2c_smcp.common.token_bucket import TokenBucket


def test_a_budget_allows_a_burst_and_then_a_rate() -> None:
    meter = TokenBucket(rate=10.0, burst=3.0)

    waits = [meter.wait(100.0) for _ in range(5)]

    assert waits == [0.0, 0.0, 0.0, pytest.approx(0.1), pytest.approx(0.2)]
    assert (meter.wait(101.0), meter.wait(200.0)) == (0.0, 0.0)
