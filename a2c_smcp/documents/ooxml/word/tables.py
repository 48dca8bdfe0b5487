"""Tables of Word: spans over columns and rows, header lines, and cells as text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.word.inline import Inline
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, descendants, is_on, local, number, text_of, value_of
from a2c_smcp.documents.rich_text import RichText, joined, spans_json

MAX_COLUMNS: Final = 500

ReadCell: TypeAlias = Callable[[Node], Inline]
"""Reads all that is in a cell as text with attachments."""

_NUMBER = re.compile(r"[-+]?[\d.,\s%$€£¥]*\d[\d.,\s%$€£¥]*")


@dataclass(slots=True)
class _Cell:
    row: int
    column: int
    width: int
    height: int
    text: RichText


def rows_of(table: Node) -> list[Node]:
    """Return the rows of a table, also those in content controls and tracked insertions."""
    found: list[Node] = []
    for node in table:
        match local(node):
            case "tr":
                if child(node, "trPr", "del") is None:
                    found.append(node)
            case "sdt":
                content = child(node, "sdtContent")
                found += rows_of(content) if content is not None else []
            case "ins" | "customXml":
                found += rows_of(node)
    return found


def cells_of(row: Node) -> list[Node]:
    """Return the cells of a row, also those in content controls."""
    found: list[Node] = []
    for node in row:
        match local(node):
            case "tc":
                found.append(node)
            case "sdt":
                content = child(node, "sdtContent")
                found += cells_of(content) if content is not None else []
            case "ins" | "customXml":
                found += cells_of(node)
    return found


def read_table(table: Node, read_cell: ReadCell) -> tuple[dict[str, Any], Inline]:
    """Return the content of a table and what hangs on its cells."""
    rows = rows_of(table)
    attached = Inline()
    cells: list[_Cell] = []
    open_above: dict[int, _Cell] = {}
    for index, row in enumerate(rows):
        column = number(value_of(row, "trPr", "gridBefore", default="0"))
        below: dict[int, _Cell] = {}
        for node in cells_of(row):
            width = max(1, min(number(value_of(node, "tcPr", "gridSpan", default="1"), 1), MAX_COLUMNS))
            if column + width > MAX_COLUMNS:
                break
            inline = read_cell(node)
            attached.add(inline)
            merge = child(node, "tcPr", "vMerge")
            above = open_above.get(column)
            if merge is not None and attribute(merge, "val", "continue") != "restart" and above is not None:
                above.height += 1
                above.text = joined(filter(None, (above.text, inline.rich)), "\n")
                below[column] = above
            else:
                cell = _Cell(index, column, width, 1, inline.rich)
                cells.append(cell)
                if merge is not None:
                    below[column] = cell
            column += width
        open_above = below
    attached.deletions += _deleted_rows(table)
    return _content(rows, cells), attached


def _deleted_rows(table: Node) -> Iterator[dict[str, Any]]:
    """Yield what rows said that somebody has deleted, each as one note."""
    for row in table:
        mark = child(row, "trPr", "del") if local(row) == "tr" else None
        if mark is None:
            continue
        texts = ["".join(text_of(text) for text in cell.iter("{*}delText", "{*}t")).strip() for cell in cells_of(row)]
        if any(texts):
            gone = {"text": " | ".join(texts), "annotation_type": "deletion"}
            told = {"author": attribute(mark, "author"), "created": attribute(mark, "date")}
            yield gone | {key: value for key, value in told.items() if value}


def _content(rows: list[Node], cells: list[_Cell]) -> dict[str, Any]:
    width = max((cell.column + cell.width for cell in cells), default=0)
    grid: list[list[Cell]] = [[None] * width for _ in rows]
    for cell in cells:
        grid[cell.row][cell.column] = cell.text.text or None
    has_header = _has_header(rows, grid, cells)
    content: dict[str, Any] = {
        "headers": [text or "" for text in grid[0]] if has_header else [],
        "rows": grid[1:] if has_header else grid,
    }
    shift = 0 if has_header else 1
    spans = [
        {"row": cell.row + shift, "column": cell.column, "spans": found}
        for cell in cells
        if (found := spans_json(cell.text.without_whole("strong") if has_header and not cell.row else cell.text))
    ]
    if spans:
        content["cell_spans"] = spans
    merged = [
        {"row": cell.row + shift, "column": cell.column, "row_span": cell.height, "column_span": cell.width}
        for cell in cells
        if cell.width * cell.height > 1
    ]
    if merged:
        content["merged"] = merged
    return content


def _has_header(rows: list[Node], grid: list[list[Cell]], cells: list[_Cell]) -> bool:
    if len(rows) < 2:
        return False
    mark = child(rows[0], "trPr", "tblHeader")
    if mark is not None and is_on(attribute(mark, "val") or None):
        return True
    names = [str(text) for text in grid[0] if text]
    spans = sum(cell.width - 1 for cell in cells if cell.row == 0)
    filled = len(names) + spans
    if not names or any(_NUMBER.fullmatch(name) for name in names) or max(map(len, names)) > 100:
        return False
    # The corner above row names is often empty.
    missing_corner = 1 if not grid[0][0] and len(grid[0]) > 1 else 0
    return filled >= len(grid[0]) - missing_corner and (_is_bold(rows[0]) or len(set(names)) == len(names))


def _is_bold(row: Node) -> bool:
    runs = [run for run in descendants(row, "r") if child(run, "t") is not None]
    return bool(runs) and all(child(run, "rPr", "b") is not None for run in runs)


def is_box(table: Node) -> bool:
    """Whether a table is but a frame around other things: one cell."""
    rows = rows_of(table)
    return len(rows) == 1 and len(cells_of(rows[0])) == 1
