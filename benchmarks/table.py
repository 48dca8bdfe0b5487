"""A row of the table, how to time, and how to print."""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


@dataclass(frozen=True, slots=True)
class Row:
    """`ours / theirs` must be at most `limit`; with `at_least` it must be at least that."""

    name: str
    ours: float
    theirs: float
    limit: float
    unit: str = "µs"
    at_least: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def good(self) -> bool:
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


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


def lines(rows: Sequence[Row]) -> Iterable[str]:
    """The table as Markdown."""
    yield "| what | ours | theirs | ratio | target | |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        verdict = "ok" if row.good else "**missed**"
        yield (
            f"| {row.name} | {row.ours:.3g} {row.unit} | {row.theirs:.3g} {row.unit} "
            f"| {row.ratio:.3g} | {sign} {row.limit:g} | {verdict} |"
        )
