"""Times in messages."""

import pytest

from a2c_smcp.common.durations import seconds_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5.99999, "6 s"),
        (30, "30 s"),
        (1.5, "1.5 s"),
        (0.0213, "0.021 s"),
        (0, "0 s"),
        (3600, "3600 s"),
        (1e6, "1000000 s"),
    ],
)
def test_a_time_has_only_the_digits_that_help(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
