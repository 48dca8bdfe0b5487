"""Time-outs and the error for an exceeded limit."""

import pytest

from a2c_smcp.server.limits import ServerLimits, limit_exceeded


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
