"""Which cells of a sheet belong together: blank rows and columns part one table from the next. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from a2c_smcp.documents.ooxml.spreadsheet.references import Range

MAX_REGIONS: Final = 200
"""A sheet in more pieces than that is a form or a board: its pieces say less than its whole."""

_MAX_CUTS: Final = 12
_MAX_MERGED: Final = 200_000

Occupied: TypeAlias = Mapping[int, Sequence[int]]
"""The columns of every row that hold something, both in order."""


def split(occupied: Occupied, merged: Iterable[Range] = ()) -> list[Range] | None:
    """Return the regions in reading order; None for a sheet in too many pieces."""
    cells = _with_merged(occupied, merged)
    waiting = [([(row, cells[row]) for row in sorted(cells)], 0)] if cells else []
    found: list[Range] = []
    while waiting:
        rows, cuts = waiting.pop()
        parts = _bands(rows)
        if len(parts) == 1 and cuts < _MAX_CUTS:
            parts = _strips(rows)
        if len(parts) == 1 or cuts >= _MAX_CUTS:
            found.append(_bounds(rows))
        else:
            waiting += ((part, cuts + 1) for part in parts)
        if len(found) + len(waiting) > MAX_REGIONS:
            return None
    return sorted(found)


def _with_merged(occupied: Occupied, merged: Iterable[Range]) -> dict[int, list[int]]:
    """Return what is occupied, counting all of a merged range that has a value."""
    cells = {row: list(columns) for row, columns in occupied.items() if columns}
    left = _MAX_MERGED
    for area in merged:
        if left <= 0 or area.left not in cells.get(area.top, ()):
            continue
        left -= min(area.height, 200) * min(area.width, 200)
        # Of a range over whole rows or columns only what lies beside other cells can join them.
        for row in range(area.top, min(area.bottom, area.top + 200) + 1):
            columns = range(area.left, min(area.right, area.left + 200) + 1)
            cells[row] = sorted({*cells.get(row, ()), *columns})
    return cells


_Rows: TypeAlias = list[tuple[int, list[int]]]


def _bands(rows: _Rows) -> list[_Rows]:
    bands: list[_Rows] = [[rows[0]]]
    for (above, _), row in pairwise(rows):
        if row[0] > above + 1:
            bands.append([])
        bands[-1].append(row)
    return bands


def _strips(rows: _Rows) -> list[_Rows]:
    used = sorted({column for _, columns in rows for column in columns})
    edges = [used[0]] + [right for left, right in pairwise(used) if right > left + 1]
    if len(edges) == 1:
        return [rows]
    strips: list[dict[int, list[int]]] = [{} for _ in edges]
    for row, columns in rows:
        for column in columns:
            strips[bisect_right(edges, column) - 1].setdefault(row, []).append(column)
    return _rejoined([list(strip.items()) for strip in strips])


def _rejoined(strips: list[_Rows]) -> list[_Rows]:
    """Return strips without those that are but a column of their neighbour, set apart by a narrow blank one."""
    kept = [strips[0]]
    for strip in strips[1:]:
        before, after = _bounds(kept[-1]), _bounds(strip)
        same_rows = (before.top, before.bottom) == (after.top, after.bottom) and before.height > 1
        if same_rows and 1 in (before.width, after.width) and after.left == before.right + 2:
            joined = dict(kept[-1])
            for row, columns in strip:
                joined[row] = joined.get(row, []) + columns
            kept[-1] = sorted(joined.items())
        else:
            kept.append(strip)
    return kept


def _bounds(rows: _Rows) -> Range:
    return Range(
        rows[0][0], min(columns[0] for _, columns in rows), rows[-1][0], max(columns[-1] for _, columns in rows)
    )
