"""Tables: the grid that rows, spans and captions make. Pure, but for the tree it reads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.rich_text import PLAIN, RichText, cell_spans, joined
from a2c_smcp.documents.web.inline import text_of
from a2c_smcp.documents.web.parse import attribute, children
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_SPAN: Final = 1_000
MAX_CELLS: Final = 500_000
WINDOW_ROWS: Final = 200
"""Longer tables become several elements, each a window."""

_RICH: Final = "table, h1, h2, h3, h4, h5, h6, form, article, section, main, nav, pre, figure, video, audio, iframe"


@dataclass(slots=True)
class HtmlGrid:
    """Cells at their places, spans resolved: a spanning cell stands in its first place, the others are empty."""

    lines: list[list[RichText]] = field(default_factory=list)
    merged: list[dict[str, int]] = field(default_factory=list)
    headed: int = 0
    """How many lines at the top are headers."""


def table_contents(table: "LexborNode", base: str = "") -> Iterator[dict[str, Any]]:
    """Yield the content of a table, of a long one window by window.

    Raises:
        DocumentError: Its spans make it larger than is read.
    """
    grid = _grid(table, base)
    headers = _headers(grid)
    rows = grid.lines[grid.headed :]
    caption = _caption(table, base)
    for start in range(0, max(len(rows), 1), WINDOW_ROWS):
        shown = rows[start : start + WINDOW_ROWS]
        content: dict[str, Any] = {
            "headers": [cell.text for cell in headers],
            "rows": [[cell.text for cell in row] for row in shown],
        }
        if spans := cell_spans([headers, *shown]):
            content["cell_spans"] = spans
        merged = _merged(grid, start, len(shown))
        if merged:
            content["merged"] = merged
        if caption:
            content["caption"] = caption
        if len(rows) > WINDOW_ROWS:
            content |= {"row_offset": start, "total_rows": len(rows)}
        yield content


def is_layout(table: "LexborNode") -> bool:
    """Whether a table only puts things in place, and what is in its cells is to be read as if it were not there."""
    if attribute(table, "role") in ("presentation", "none"):
        return True
    if table.css_first("caption, th, thead") is not None:
        return False
    widths = [sum(1 for _ in cells_of(row)) for row in rows_of(table)]
    # A selector also finds the node itself.
    rich = any(node.mem_id != table.mem_id for node in table.css(_RICH))
    return rich or max(widths, default=0) <= 1


def rows_of(table: "LexborNode") -> "Iterator[LexborNode]":
    """Yield the rows of a table, not of those inside it."""
    for child in children(table):
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in children(child) if row.tag == "tr")


def cells_of(row: "LexborNode") -> "Iterator[LexborNode]":
    """Yield the cells of a row."""
    yield from (cell for cell in children(row) if cell.tag in ("td", "th"))


def _grid(table: "LexborNode", base: str) -> HtmlGrid:
    rows = list(rows_of(table))
    grid = HtmlGrid()
    placed: list[dict[int, RichText]] = [{} for _ in rows]
    count = 0
    for number, row in enumerate(rows):
        column = 0
        for cell in cells_of(row):
            while column in placed[number]:
                column += 1
            width = min(_span(cell, "colspan"), MAX_SPAN)
            height = min(_span(cell, "rowspan") or len(rows), len(rows) - number)
            count += width * height
            if count > MAX_CELLS:
                raise DocumentError(f"a table has more than the {MAX_CELLS} cells that are read")
            if width * height > 1:
                grid.merged.append({"row": number, "column": column, "row_span": height, "column_span": width})
            for line in placed[number : number + height]:
                line.update(dict.fromkeys(range(column, column + width), PLAIN))
            placed[number][column] = text_of(cell, base)
            column += width
    grid.lines = [[line.get(column, PLAIN) for column in range(max(line, default=-1) + 1)] for line in placed]
    grid.headed = _headed(rows, grid)
    return grid


def _headed(rows: "list[LexborNode]", grid: HtmlGrid) -> int:
    """Return how many rows at the top are headers: those of `thead`, or those of nothing but `th`."""
    count = 0
    for row in rows[:8]:
        cells = list(cells_of(row))
        parent = row.parent
        in_head = parent is not None and parent.tag == "thead"
        if not in_head and not (cells and all(cell.tag == "th" for cell in cells)):
            break
        # A lone cell across the table is its title or a section; it heads no column.
        if not in_head and len(cells) == 1 and len(rows) > 1 and len(grid.lines[count]) > 1:
            break
        count += 1
    return count if count < len(rows) else min(count, 1)


def _headers(grid: HtmlGrid) -> list[RichText]:
    if grid.headed <= 1:
        return grid.lines[0] if grid.headed else []
    width = max(map(len, grid.lines[: grid.headed]))
    filled = [line + [PLAIN] * (width - len(line)) for line in grid.lines[: grid.headed]]
    for span in grid.merged:
        if span["row"] < grid.headed:
            text = filled[span["row"]][span["column"]]
            for column in range(span["column"], span["column"] + span["column_span"]):
                filled[span["row"]][column] = text
    return [joined(dict.fromkeys(filter(None, column)), " / ") for column in zip(*filled, strict=True)]


def _merged(grid: HtmlGrid, start: int, count: int) -> list[dict[str, int]]:
    """Return the spans of a window, rows counted as content does: 0 is the header line, 1 the first row."""
    spans: list[dict[str, int]] = []
    for span in grid.merged:
        row = span["row"] - grid.headed + 1
        if row < 1:
            if grid.headed == 1 and start == 0 and span["row_span"] == 1:
                spans.append(span | {"row": 0})
        elif start < row <= start + count:
            height = min(span["row_span"], start + count - row + 1)
            spans.append(span | {"row": row - start, "row_span": height})
    return spans


def _caption(table: "LexborNode", base: str) -> str:
    return next((text_of(child, base).text for child in children(table) if child.tag == "caption"), "")


def _span(cell: "LexborNode", name: str) -> int:
    written = attribute(cell, name)
    if not written.isdecimal() or len(written) > 9:
        return 1
    return int(written) if name == "rowspan" else max(int(written), 1)
