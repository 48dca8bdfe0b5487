"""Tables by where their cells stand: neighbouring rows whose cells line up in columns. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from a2c_smcp.documents.ocr.columns import OcrRow
from a2c_smcp.documents.ocr.model import OcrLine

_MIN_ROWS: Final = 2
_MAX_ROW_GAP: Final = 2.5
_NUMBER = re.compile(r"[-+(]?[\s$€£¥]*\d[\d\s.,:/%)-]*[A-Za-z%°]{0,3}")
_BULLET = re.compile(r"[•·●○▪■◦‣*–—-]|\(?\d{1,3}[.)、]?|[a-zA-Z][.)]")


def table_runs(rows: Sequence[OcrRow]) -> list[tuple[int, int]]:
    """Return where tables begin and end (exclusive) in the rows of a flow."""
    runs: list[tuple[int, int]] = []
    start = 0
    while start < len(rows):
        end = _end_of_run(rows, start)
        if end - start >= _MIN_ROWS and _is_table(rows[start:end]):
            runs.append((start, end))
            start = end
        else:
            start += 1
    return runs


def table_content(rows: Sequence[OcrRow]) -> dict[str, Any]:
    """Return the rows of a table as content; the first is the header when it looks like one."""
    edges = _columns(rows)
    cells = [_cells(row, edges) for row in rows]
    lines: list[list[str]] = []
    usual = _usual_gap(rows)
    for number, row in enumerate(cells):
        if number and _continues(rows[number - 1], rows[number], row, usual):
            lines[-1] = [" ".join(filter(None, pair)) for pair in zip(lines[-1], row, strict=True)]
        else:
            lines.append(row)
    first = lines[0]
    headed = len(lines) > 1 and all(first) and not any(_NUMBER.fullmatch(cell) for cell in first)
    return {"headers": first if headed else [], "rows": lines[1:] if headed else lines}


def _end_of_run(rows: Sequence[OcrRow], start: int) -> int:
    if not _is_several(rows[start]):
        return start
    end = start + 1
    width = len(_columns(rows[start:end]))
    for number in range(start + 1, len(rows)):
        row, above = rows[number], rows[number - 1]
        gap = row.box[1] - above.box[3]
        if gap > _MAX_ROW_GAP * max(row.height, above.height):
            break
        if _is_several(row):
            columns = len(_columns([*rows[start:end], row]))
            if columns < min(width, len(row.lines)):  # what was apart would become one
                break
            width, end = columns, number + 1
        elif number > end or gap > 0.3 * row.height or not _fits(row, rows[start:end]):
            break
    return end


def _is_several(row: OcrRow) -> bool:
    if len(row.lines) == 2 and _BULLET.fullmatch(row.lines[0].text.strip()):
        return False
    return any(right.box[0] - left.box[2] > 0.6 * row.height for left, right in pairwise(row.lines))


def _fits(row: OcrRow, above: Sequence[OcrRow]) -> bool:
    """Whether a single cell stands within one column of the rows above."""
    x0, _, x1, _ = row.box
    return any(left - row.height <= x0 and x1 <= right + row.height for left, right in _columns(above))


def _is_table(rows: Sequence[OcrRow]) -> bool:
    several = sum(map(_is_several, rows))
    columns = len(_columns(rows))
    return columns >= 2 and several >= (2 if columns > 2 else 3)


def _columns(rows: Sequence[OcrRow]) -> list[tuple[float, float]]:
    """Return the columns as ranges of x: what the cells of all rows cover, taken together."""
    spans = sorted((line.box[0], line.box[2]) for row in rows if _is_several(row) for line in row.lines)
    columns: list[tuple[float, float]] = []
    for x0, x1 in spans:
        # Boxes are drawn a little wide, so a slight overlap is none.
        if columns and x0 < columns[-1][1] - 0.1 * (x1 - x0):
            columns[-1] = (columns[-1][0], max(x1, columns[-1][1]))
        else:
            columns.append((x0, x1))
    return columns


def _cells(row: OcrRow, columns: Sequence[tuple[float, float]]) -> list[str]:
    cells: list[list[str]] = [[] for _ in columns]
    for line in row.lines:
        cells[_column_of(line, columns)].append(line.text)
    return [" ".join(texts) for texts in cells]


def _column_of(line: OcrLine, columns: Sequence[tuple[float, float]]) -> int:
    x0, _, x1, _ = line.box
    shared = [min(x1, right) - max(x0, left) for left, right in columns]
    return shared.index(max(shared))


def _usual_gap(rows: Sequence[OcrRow]) -> float:
    gaps = sorted(below.box[1] - above.box[3] for above, below in pairwise(rows))
    return gaps[-1 - len(gaps) // 4] if gaps else 0.0


def _continues(above: OcrRow, row: OcrRow, cells: Sequence[str], usual: float) -> bool:
    """Whether a row only goes on with the cells of the one above: nothing in its first column, and close to it."""
    gap = row.box[1] - above.box[3]
    return not cells[0] and gap < 0.25 * row.height and gap < usual - 0.25 * row.height
