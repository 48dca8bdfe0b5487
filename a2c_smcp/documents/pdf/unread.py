"""Where a page shows what may be text, and its text layer has none: pictures, and letters drawn as outlines. Pure.

A page is not a scan or none: each picture, and each group of outlined letters, is looked at for itself, and the area of
it that text of the text layer does not cover decides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from a2c_smcp.documents.pdf.words import Box, Line

PICTURE_SHARE: Final = 0.1
"""The smallest part of a page that a picture of text takes: about six lines across. Smaller ones are logos, signatures
and icons."""

COVERED: Final = 0.5
"""A picture counts as read where text covers half of it: margins and the ends of paragraphs are the other half of an
ordinary page of text, and a stamp or a page number covers a tenth at the most."""

FEW_LETTERS: Final = 30
"""A page of less text is not one of real text beside its pictures."""

MIN_OUTLINES: Final = 20
"""How many letters drawn as outlines are worth the recognition of a page; a logo has less."""

_GRID: Final = 12
"""Pictures are looked at in so many rows and columns: a cell is about as high as three lines of a full page."""
_TOUCHING: Final = 2.0
"""Points between the tiles of one picture at the most."""
LETTER_HEIGHTS: Final = (3.0, 72.0)
"""What is lower cannot be read, and what is higher is a drawing; in points."""
_WIDEST_LETTER: Final = 1.8
"""Times its height: what is wider is a word or a line in one path."""
_LINE_LETTER: Final = 0.6
"""The width of a letter in an outlined line, times the line's height."""
_LETTER_SEGMENTS: Final = 8
"""Segments of an outlined letter at the least, on the average: a box has five, a Latin letter ten to forty."""
_ROW: Final = 5
"""Letters in a row of text at the least."""
_SHAPES: Final = 3
"""Different sizes in a row at the least: letters differ, while the marks of a chart and the bars of a code repeat."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a page that may show text that its text layer does not have."""

    box: Box
    is_outlined: bool = False


@dataclass(frozen=True, slots=True)
class OutlinedPath:
    """A filled path: its place, and how many segments it has; `parts` counts those that begin anew."""

    box: Box
    segments: int
    parts: int = 1


def unread_pictures(
    pictures: Sequence[Box], lines: Sequence[Line], width: float, height: float, is_hidden: Callable[[Line], bool]
) -> list[Unread]:
    """Return the pictures that text of the page does not cover.

    Args:
        is_hidden: Whether a line is there but not shown: somebody has recognized the picture below it already.
    """
    found = []
    for box in _joined(pictures, _TOUCHING):
        if _area(box) < PICTURE_SHARE * width * height:
            continue
        inside = [line for line in lines if _holds(box, line)]
        if inside and sum(map(is_hidden, inside[:9])) * 2 > len(inside[:9]):
            continue
        if covered_share(box, inside) < COVERED:
            found.append(Unread(box))
    return found


def covered_share(box: Box, lines: Sequence[Line]) -> float:
    """Return how much of a box lines cover, with the room between them."""
    x0, y0, x1, y1 = box
    wide, high = (x1 - x0) / _GRID or 1.0, (y1 - y0) / _GRID or 1.0
    cells: set[tuple[int, int]] = set()
    for line in lines:
        room = line.y1 - line.y0
        columns = range(_cell(line.x0 - x0, wide), _cell(line.x1 - x0, wide) + 1)
        rows = range(_cell(line.y0 - room / 2 - y0, high), _cell(line.y1 + room / 2 - y0, high) + 1)
        cells.update((column, row) for column in columns for row in rows)
    return len(cells) / _GRID**2


def unread_outlines(paths: Sequence[OutlinedPath], lines: Sequence[Line]) -> list[Unread]:
    """Return where letters are drawn as outlines, and no text of the page stands."""
    low, high = LETTER_HEIGHTS
    letters: list[Box] = []
    blocks: list[tuple[Box, int]] = []
    for path in paths:
        wide, tall = path.box[2] - path.box[0], path.box[3] - path.box[1]
        if low <= tall <= high and wide <= _WIDEST_LETTER * tall:
            letters.append(path.box)
        elif low <= tall <= high:
            count = int(wide / tall / _LINE_LETTER)
            if path.segments >= _LETTER_SEGMENTS * count:
                blocks.append((path.box, count))
        elif tall > high and path.segments >= _LETTER_SEGMENTS * path.parts and path.parts >= MIN_OUTLINES:
            blocks.append((path.box, path.parts))
    rows = [row for row in _rows(letters) if _is_text(row)]
    blocks += [(_around(row), len(row)) for row in rows]
    blocks = [(box, count) for box, count in blocks if not any(_overlaps(box, line) for line in lines)]
    if sum(count for _, count in blocks) < MIN_OUTLINES:
        return []
    boxes = [box for box, _ in blocks]
    return [Unread(box, is_outlined=True) for box in _joined(boxes, 2 * median(box[3] - box[1] for box in boxes))]


def _rows(letters: Sequence[Box]) -> list[list[Box]]:
    """Return boxes side by side, from top to bottom."""
    rows: list[list[Box]] = []
    for box in sorted(letters, key=lambda box: box[1] + box[3]):
        last = rows[-1][0] if rows else None
        if last and last[1] <= (box[1] + box[3]) / 2 <= last[3]:
            rows[-1].append(box)
        else:
            rows.append([box])
    return rows


def _is_text(row: list[Box]) -> bool:
    if len(row) < _ROW:
        return False
    row.sort()
    shapes = {(round(x1 - x0), round(y1 - y0)) for x0, y0, x1, y1 in row}
    gaps = [second[0] - first[2] for first, second in pairwise(row)]
    return len(shapes) >= _SHAPES and median(gaps) < median(box[3] - box[1] for box in row)


def _joined(boxes: Sequence[Box], room: float) -> list[Box]:
    """Return boxes with those made one that touch, or are no farther than `room` apart."""
    joined: list[Box] = []
    for box in sorted(boxes, key=lambda box: (box[1], box[0])):
        whole, others = box, []
        for other in joined:
            if _touches(whole, other, room):
                whole = _around((whole, other))
            else:
                others.append(other)
        joined = [*others, whole]
    return sorted(joined, key=lambda box: (box[1], box[0]))


def _touches(first: Box, second: Box, room: float) -> bool:
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return across >= -room and down >= -room


def _around(boxes: Sequence[Box]) -> Box:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _cell(way: float, size: float) -> int:
    return min(max(int(way / size), 0), _GRID - 1)


def _holds(box: Box, line: Line) -> bool:
    return box[0] <= (line.x0 + line.x1) / 2 <= box[2] and box[1] <= (line.y0 + line.y1) / 2 <= box[3]


def _overlaps(box: Box, line: Line) -> bool:
    """Whether a line stands on more than a third of what a box is high: the same letters, as text."""
    across = min(box[2], line.x1) - max(box[0], line.x0)
    down = min(box[3], line.y1) - max(box[1], line.y0)
    return across > 0 and down > (line.y1 - line.y0) / 3
