"""Sizes and spans of time as people write them."""

from typing import Any

import pytest

from a2c_smcp.server.units import bytes_of, seconds_of


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
def test_a_span_of_time_is_a_number_with_a_unit(written: Any, seconds: float) -> None:
    assert seconds_of(written) == seconds


@pytest.mark.parametrize(
    "written", ["", "h", "-1", "1 hour", "1h30m", "1__0", "1_", "١", None, True, -1, float("nan"), float("inf"), [1]]
)
def test_what_is_no_span_of_time_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="is not a span of time"):
        seconds_of(written)


@pytest.mark.parametrize(
    ("written", "size"),
    [(7, 7), ("7", 7), ("4MB", 4_000_000), ("4 MiB", 4_194_304), ("1.5kb", 1_500), ("2gib", 2**31), ("8b", 8)],
)
def test_a_size_is_a_number_with_a_unit(written: Any, size: int) -> None:
    assert bytes_of(written) == size


@pytest.mark.parametrize("written", ["", "MB", "4 bytes", "4m", "-4", -4, None, False])
def test_what_is_no_size_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        bytes_of(written)


def test_a_size_is_whole_bytes() -> None:
    with pytest.raises(ValueError, match="whole number"):
        bytes_of("1.5b")
