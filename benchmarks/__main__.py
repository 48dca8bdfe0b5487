"""Run every benchmark, or the ones named, and print one table; exit 1 when a target is missed."""

import importlib
import pkgutil
import sys
from pathlib import Path

from benchmarks.table import LeftOut, Measured, lines

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__main__", "table"}


def names() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules([str(HERE)]))
    return sorted(name for name in found if name not in NOT_BENCHMARKS and hasattr(_module(name), "run"))


def _module(name: str) -> object:
    return importlib.import_module(f"benchmarks.{name}")


def main(wanted: list[str]) -> int:
    known = names()
    if unknown := set(wanted) - set(known):
        print(f"no such benchmark: {', '.join(sorted(unknown))} (there are: {', '.join(known)})", file=sys.stderr)
        return 2
    rows: list[Measured] = []
    for name in wanted or known:
        print(f"measuring {name} …", file=sys.stderr)
        rows += importlib.import_module(f"benchmarks.{name}").run()
    for line in lines(rows):
        print(line)
    return 0 if all(isinstance(row, LeftOut) or row.good for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
