"""Sizes and spans of time as people write them. Pure."""

import math
import re
from collections.abc import Mapping
from typing import Final

_SPANS: Final[Mapping[str, float]] = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SIZES: Final[Mapping[str, float]] = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_QUANTITY: Final = re.compile(r"(\d[\d_]*(?:\.\d+)?) ?([a-z]*)", re.ASCII | re.IGNORECASE)


def seconds_of(value: object) -> float:
    """Return a span of time in seconds: a number, or text like `90`, `250ms`, `5m`, `12h`, `7d`.

    Raises:
        ValueError: It is none.
    """
    return _measure(value, _SPANS, "is not a span of time like 30, 250ms, 5m, 12h or 7d")


def bytes_of(value: object) -> int:
    """Return a size in bytes: a number, or text like `4000000`, `4MB`, `4MiB`.

    Raises:
        ValueError: It is none.
    """
    size = _measure(value, _SIZES, "is not a size like 4000000, 4MB or 4MiB")
    if not size.is_integer():
        raise ValueError("is not a whole number of bytes")
    return int(size)


def _measure(value: object, units: Mapping[str, float], wrong: str) -> float:
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip())
        unit = units.get(match[2].lower()) if match else None
        if match is None or unit is None or match[1].endswith("_") or "__" in match[1]:
            raise ValueError(wrong)
        return float(match[1]) * unit
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
        raise ValueError(wrong)
    return float(value)
