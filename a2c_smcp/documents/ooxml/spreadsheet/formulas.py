"""Formulas: shared ones written out for every cell, and runs of cells with the same one. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.spreadsheet.references import MAX_COLUMN, MAX_ROW, Range, column_name, column_number

# Strings and quoted sheet names are stepped over; a name like LOG10( is a function, Total2020 a name.
_TOKENS = re.compile(
    r"(\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')|(?<![\w.$])(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})(?![\w(.!])", re.ASCII
)
_PREFIXES = re.compile(r"_xl(?:fn|ws|udf)\.(?:_xlws\.)?")
_LINK = re.compile(r'HYPERLINK\(\s*"((?:[^"]|"")*)"', re.IGNORECASE)
MAX_FORMULA: Final = 16_384


@dataclass(frozen=True, slots=True)
class Formula:
    """What a cell calculates, and what that gave when the file was saved."""

    row: int
    column: int
    expression: str
    value: Cell


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells that calculate the same, each for its place; the formula is that of the first."""

    first: Formula
    range: Range
    count: int


def readable(text: str) -> str:
    """Return a formula as its author typed it, the equals sign included."""
    text = _PREFIXES.sub("", text.strip())[:MAX_FORMULA]
    return text if text.startswith("=") else f"={text}"


def moved(text: str, rows: int, columns: int) -> str:
    """Return a formula as it reads that many rows below and columns right of its own cell."""

    def move(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        row, column = int(match[5]), column_number(match[3])
        if not (1 <= row <= MAX_ROW and column <= MAX_COLUMN):
            return match[0]
        row = row if match[4] else (row + rows - 1) % MAX_ROW + 1
        column = column if match[2] else (column + columns - 1) % MAX_COLUMN + 1
        return f"{match[2]}{column_name(column)}{match[4]}{row}"

    return _TOKENS.sub(move, text) if rows or columns else text


def relative(formula: Formula) -> str:
    """Return what two cells share that calculate the same for their places."""
    return moved(formula.expression, -formula.row, -formula.column)


def runs(formulas: Iterable[Formula]) -> Sequence[Run]:
    """Return formulas as runs down a column or, where that is longer, along a row; in the order of the sheet."""
    cells = {(formula.row, formula.column): (formula, relative(formula)) for formula in formulas}
    found: list[Run] = []
    done: set[tuple[int, int]] = set()
    for place in sorted(cells):
        if place in done:
            continue
        down, along = (_reach(cells, done, place, step) for step in ((1, 0), (0, 1)))
        members = down if len(down) >= len(along) else along
        done.update(members)
        last = members[-1]
        found.append(Run(cells[place][0], Range(*place, *last), len(members)))
    return found


def linked_url(expression: str) -> str | None:
    """Return the address in a HYPERLINK formula that has it in plain words."""
    match = _LINK.search(expression)
    return match[1].replace('""', '"') if match else None


def _reach(
    cells: Mapping[tuple[int, int], tuple[Formula, str]],
    done: set[tuple[int, int]],
    place: tuple[int, int],
    step: tuple[int, int],
) -> list[tuple[int, int]]:
    key = cells[place][1]
    members = [place]
    while True:
        place = (place[0] + step[0], place[1] + step[1])
        if place in done or place not in cells or cells[place][1] != key:
            return members
        members.append(place)
