"""Durations in text."""

from typing import Any

import pytest

from a2c_smcp.common.durations import parse_seconds, seconds_text


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


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (0, 0),
        (2.5, 2.5),
        ("90", 90),
        ("250ms", 0.25),
        ("1.5 s", 1.5),
        ("5m", 300),
        ("12h", 43_200),
        ("7D", 604_800),
        ("2w", 1_209_600),
        ("1_000", 1_000),
    ],
)
def test_a_duration_is_a_number_with_a_unit(written: Any, seconds: float) -> None:
    assert parse_seconds(written) == seconds


@pytest.mark.parametrize(
    "written", ["", "h", "-1", "1 hour", "1h30m", "1__0", "1_", "١", None, True, -1, float("nan"), float("inf"), [1]]
)
def test_anything_else_is_not_a_duration(written: Any) -> None:
    with pytest.raises(ValueError, match="should be a duration"):
        parse_seconds(written)
