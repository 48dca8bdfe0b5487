"""Cell references: `B7` and `Sales!B2:D9` as numbers and back. Pure."""

import re
from typing import Final, NamedTuple

MAX_ROW: Final = 1_048_576
MAX_COLUMN: Final = 16_384

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_QUALIFIED = re.compile(r"(?:(?:'((?:[^']|'')*)'|([^'!]*))!)?([^!]+)")


class Range(NamedTuple):
    """Cells by their edges, counted from 1, all inclusive."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def name(self) -> str:
        """The range as a person writes it: `A1:C9`, or `A1` for one cell."""
        first = f"{column_name(self.left)}{self.top}"
        last = f"{column_name(self.right)}{self.bottom}"
        return first if first == last else f"{first}:{last}"

    @property
    def height(self) -> int:
        """How many rows it has."""
        return self.bottom - self.top + 1

    @property
    def width(self) -> int:
        """How many columns it has."""
        return self.right - self.left + 1

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell lies inside."""
        return self.top <= row <= self.bottom and self.left <= column <= self.right

    def overlaps(self, other: "Range") -> bool:
        """Whether the two share a cell."""
        return (
            self.top <= other.bottom
            and other.top <= self.bottom
            and self.left <= other.right
            and other.left <= self.right
        )


def column_name(number: int) -> str:
    """Return the letters of a column: 1 is `A`, 28 is `AB`."""
    name = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name or "A"


def column_number(letters: str) -> int:
    """Return the number of a column: `A` is 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def parse_cell(reference: str) -> tuple[int, int] | None:
    """Return row and column of a cell, None for what is no reference."""
    match = _CELL.fullmatch(reference.strip())
    if not match:
        return None
    row, column = int(match[2]), column_number(match[1])
    return (row, column) if 1 <= row <= MAX_ROW and column <= MAX_COLUMN else None


def parse_range(reference: str) -> Range | None:
    """Return the range of `A1:C9` or `A1`, None for what is none."""
    first, _, last = reference.partition(":")
    start = parse_cell(first)
    end = parse_cell(last) if last else start
    if start is None or end is None:
        return None
    (top, bottom), (left, right) = sorted((start[0], end[0])), sorted((start[1], end[1]))
    return Range(top, left, bottom, right)


def parse_qualified(reference: str) -> tuple[str, Range] | None:
    """Return sheet and range of `'My sheet'!$A$1:$B$2`, None for names and for several ranges."""
    match = _QUALIFIED.fullmatch(reference.strip())
    found = parse_range(match[3]) if match else None
    if match is None or found is None:
        return None
    return (match[1] or match[2] or "").replace("''", "'"), found
