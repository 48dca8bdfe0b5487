"""Durations as people write and read them. Pure."""

import math
import re
from collections.abc import Mapping
from typing import Final

_UNITS: Final[Mapping[str, float]] = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_QUANTITY: Final = re.compile(r"(\d+(?:_\d+)*(?:\.\d+)?) ?([a-z]*)", re.ASCII | re.IGNORECASE)


def seconds_text(seconds: float) -> str:
    """Return a number of seconds with as many digits as help: `30 s`, `1.5 s`, `0.02 s`."""
    digits = f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"
    return f"{float(digits):g} s" if seconds < 100_000 else f"{seconds:.0f} s"


def parse_seconds(value: object) -> float:
    """Return a duration in seconds: a number, or text like `90`, `250ms`, `5m`, `12h`, `7d`.

    Raises:
        ValueError: The value is not a duration.
    """
    return parse_quantity(value, _UNITS, "should be a duration like 30, 250ms, 5m, 12h or 7d")


def parse_quantity(value: object, units: Mapping[str, float], message: str) -> float:
    """Return a number, or text of a number and a unit, in the base unit.

    Args:
        units: Factor by lower-case unit; "" is the factor of a number without a unit.

    Raises:
        ValueError: The value is neither, or is negative; its text is `message`.
    """
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip())
        factor = units.get(match[2].lower()) if match else None
        if match is None or factor is None:
            raise ValueError(message)
        return float(match[1]) * factor
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
        raise ValueError(message)
    return float(value)
