"""Reading order: which lines stand in columns side by side, and which make one row. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from a2c_smcp.documents.ocr.model import Box, OcrLine

MAX_LINES: Final = 2_000
"""More lines than any page has; they are taken as they come."""

_MIN_COLUMN_LINES: Final = 4
_MAX_CROSSING: Final = 0.4
_MAX_COLUMNS_DEEP: Final = 3
# A column of prose is filled by most of its lines; the cells of a table are not, or are short.
_MIN_FILLED: Final = 0.6
_MIN_CHARACTERS: Final = 16
_MIN_PROSE: Final = 0.5


@dataclass(frozen=True, slots=True)
class OcrRow:
    """Lines side by side, from left to right."""

    lines: tuple[OcrLine, ...]

    @property
    def box(self) -> Box:
        """The box around all of them."""
        return around([line.box for line in self.lines])

    @property
    def height(self) -> float:
        """How tall its lines are."""
        return median(line.box[3] - line.box[1] for line in self.lines)

    @property
    def text(self) -> str:
        """The text of all of them."""
        return " ".join(line.text for line in self.lines)


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that holds all of `boxes`."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def flows_of(lines: Sequence[OcrLine], depth: int = _MAX_COLUMNS_DEEP) -> list[list[OcrLine]]:
    """Return the lines in groups that are read one after the other, each of one column or across all."""
    ordered = sorted(lines, key=lambda line: (line.box[1], line.box[0]))
    gutter = _gutter(ordered) if depth and len(ordered) <= MAX_LINES else None
    if gutter is None:
        return [ordered] if ordered else []
    flows: list[list[OcrLine]] = []
    band: list[OcrLine] = []
    across: list[OcrLine] = []
    for line in ordered:
        if _crosses(line, gutter):
            flows += _side_by_side(band, gutter, depth)
            band = []
            across.append(line)
        else:
            if across:
                flows.append(across)
                across = []
            band.append(line)
    return [*flows, *([across] if across else []), *_side_by_side(band, gutter, depth)]


def rows_of(lines: Sequence[OcrLine]) -> list[OcrRow]:
    """Return the lines of one flow as rows, from top to bottom."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        if rows and any(_beside(line, other) for other in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [OcrRow(tuple(sorted(row, key=lambda line: line.box[0]))) for row in rows]


def _beside(line: OcrLine, other: OcrLine) -> bool:
    (left0, top, left1, bottom), (right0, other_top, right1, other_bottom) = line.box, other.box
    shared = min(bottom, other_bottom) - max(top, other_top)
    apart = min(left1, right1) - max(left0, right0) < 0.3 * min(left1 - left0, right1 - right0)
    return apart and shared > 0.5 * min(bottom - top, other_bottom - other_top)


def _side_by_side(band: Sequence[OcrLine], gutter: float, depth: int) -> list[list[OcrLine]]:
    left = [line for line in band if (line.box[0] + line.box[2]) / 2 < gutter]
    right = [line for line in band if (line.box[0] + line.box[2]) / 2 >= gutter]
    return [*flows_of(left, depth - 1), *flows_of(right, depth - 1)]


def _crosses(line: OcrLine, gutter: float) -> bool:
    x0, _, x1, _ = line.box
    slack = (x1 - x0) * 0.1
    return x0 + slack < gutter < x1 - slack


def _gutter(lines: Sequence[OcrLine]) -> float | None:
    """Return where the blank strip between two columns of prose is."""
    if len(lines) < 2 * _MIN_COLUMN_LINES:
        return None
    best, best_width = None, 0.0
    height = median(line.box[3] - line.box[1] for line in lines)
    for start in sorted({round(line.box[0]) for line in lines}):
        right = [line for line in lines if line.box[0] >= start - height / 4]
        left = [line for line in lines if line.box[2] <= start + height / 4 and line.box[0] < start - height / 4]
        crossing = len(lines) - len(left) - len(right)
        if min(len(left), len(right)) < _MIN_COLUMN_LINES or crossing > len(lines) * _MAX_CROSSING:
            continue
        if not (_is_prose(left) and _is_prose(right) and _are_level(left, right)):
            continue
        edge = max(line.box[2] for line in left)
        # Of lines that cross nothing is known, so the strip has to be wide only where there are two columns.
        width = start - edge + height / 2 - crossing * height / len(lines)
        if width > best_width:
            best, best_width = (edge + start) / 2, width
    return best


def _is_prose(lines: Sequence[OcrLine]) -> bool:
    """Whether most of the text stands in lines that fill their column; labels and headings among them do not matter."""
    x0, _, x1, _ = around([line.box for line in lines])
    lengths = [sum(1 if character.isascii() else 2 for character in line.text) for line in lines]
    filling = [
        length
        for line, length in zip(lines, lengths, strict=True)
        if length >= _MIN_CHARACTERS and line.box[2] - line.box[0] >= _MIN_FILLED * (x1 - x0)
    ]
    return len(filling) >= _MIN_COLUMN_LINES and sum(filling) >= _MIN_PROSE * sum(lengths)


def _are_level(left: Sequence[OcrLine], right: Sequence[OcrLine]) -> bool:
    _, top, _, bottom = around([line.box for line in left])
    _, other_top, _, other_bottom = around([line.box for line in right])
    shared = min(bottom, other_bottom) - max(top, other_top)
    return shared > 0.4 * min(bottom - top, other_bottom - other_top)
