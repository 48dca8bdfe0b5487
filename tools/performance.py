"""Put the table that the benchmarks print into the page about performance, in both languages.

make bench | python tools/performance.py
python tools/performance.py bench.txt
"""

import argparse
import itertools
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PAGES: Final = ("performance.md", "zh/performance.md")
BEGIN: Final = "<!-- benchmarks: begin -->"
END: Final = "<!-- benchmarks: end -->"
LEFT_OUT: Final = "Left out, because their files are not here:"


def rows(output: str) -> list[str]:
    """Return the lines of the last table in what the benchmarks printed, and of what they say was left out.

    Other tables before it go into detail.

    Raises:
        ValueError: There is none.
    """
    tables: list[list[str]] = [[]]
    for line in map(str.strip, output.splitlines()):
        if line.startswith("|"):
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    found = [table for table in tables if len(table) >= 3]  # a head, a rule and something below them
    if not found:
        raise ValueError("this is no output of the benchmarks: there is no table in it")
    return [*found[-1], *_left_out(output)]


def _left_out(output: str) -> list[str]:
    """Return the note below the table about rows that were not measured, if there is one."""
    before, note, after = output.rpartition(f"\n{LEFT_OUT}\n")
    if not note or not before:
        return []
    items = itertools.takewhile(lambda line: line.startswith("- "), after.lstrip("\n").splitlines())
    return ["", LEFT_OUT, "", *items]


def machine() -> str:
    """Return where this runs, in words that mean something to a reader elsewhere."""
    return f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}"


def filled(page: str, table: Sequence[str], where: str) -> str:
    """Return the page with the table between its marks.

    Raises:
        ValueError: The page has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return "\n".join([f"{before}{BEGIN}", where, "", *table, "", f"{END}{after}"])


def main(argv: list[str] | None = None, docs: Path = DOCS) -> int:
    parser = argparse.ArgumentParser(description="Put the table of the benchmarks into the pages about performance.")
    parser.add_argument("output", nargs="?", type=Path, help="what `make bench` printed; standard input if left out")
    source: Path | None = parser.parse_args(argv).output
    try:
        table = rows(source.read_text(encoding="utf-8") if source else sys.stdin.read())
        pages = {docs / name: (docs / name).read_text(encoding="utf-8") for name in PAGES if (docs / name).exists()}
        texts = {path: filled(text, table, machine()) for path, text in pages.items()}
    except (OSError, ValueError) as problem:
        print(f"performance: {problem}", file=sys.stderr)
        return 1
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
