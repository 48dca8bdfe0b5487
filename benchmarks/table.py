"""A row of the table, how to time, and how to print."""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


@dataclass(frozen=True, slots=True)
class Row:
    """`ours / theirs` must be at most `limit`; with `at_least` it must be at least that.

    Attributes:
        basis: What was measured: the files, how many of what, how often, under which load.
    """

    name: str
    ours: float
    theirs: float
    limit: float
    unit: str = "µs"
    at_least: bool = False
    basis: str = field(kw_only=True)

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def good(self) -> bool:
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that is not measured, because some of its files are not here: a part of them would be another row."""

    name: str
    files: int
    missing: Sequence[str]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.missing)} of its {self.files} files are not here ({', '.join(self.missing)})"


Measured: TypeAlias = Row | LeftOut

LEFT_OUT = "Left out, because their files are not here:"


def best(work: Callable[[], object], *, number: int = 1, repeat: int = 7, unit: str = "µs") -> float:
    """Return the fastest of `repeat` timings of one `work()`, each the mean of `number` calls."""
    fastest = float("inf")
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeat):
            start = time.perf_counter()
            for _ in range(number):
                work()
            fastest = min(fastest, (time.perf_counter() - start) / number)
    finally:
        gc.enable()
    return fastest / SECONDS[unit]


def lines(results: Sequence[Measured]) -> Iterable[str]:
    """The table as Markdown, and below it what was not measured."""
    yield "| what | measured on | ours | theirs | ratio | target | |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- |"
    for row in results:
        if isinstance(row, LeftOut):
            continue
        sign = "≥" if row.at_least else "≤"
        verdict = "ok" if row.good else "**missed**"
        yield (
            f"| {row.name} | {row.basis} | {row.ours:.3g} {row.unit} | {row.theirs:.3g} {row.unit} "
            f"| {row.ratio:.3g} | {sign} {row.limit:g} | {verdict} |"
        )
    left_out = [str(one) for one in results if isinstance(one, LeftOut)]
    if left_out:
        yield from ("", LEFT_OUT, "", *(f"- {one}" for one in left_out))
