"""From a region of cells to a table: its caption, its header line, and the windows that a long one is given out in."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.formats.elements import clip, size_of_table
from a2c_smcp.documents.ooxml.spreadsheet.formulas import linked_url, runs
from a2c_smcp.documents.ooxml.spreadsheet.objects import RangeLink
from a2c_smcp.documents.ooxml.spreadsheet.references import Range, column_name
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.render.values import cell_text
from a2c_smcp.documents.rich_text import RichText, Span, spans_json

WINDOW_ROWS: Final = 100
WINDOW_CELLS: Final = 40_000
WINDOW_CHARACTERS: Final = 200_000
MAX_RUNS: Final = 50

WINDOW_ID: Final = re.compile(r"(p[0-9]{1,6}-tbl-[0-9]{3,})-r([1-9][0-9]{0,6})")
"""The id of a window that does not begin its table: that of the table, and the first row."""

_MAX_CAPTION_LINES: Final = 4


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How a region is read as a table: `header` is the row of its names, 0 without one."""

    sheet: str
    area: Range
    header: int
    body: int
    caption: str = ""
    names: tuple[Cell, ...] = ()
    shown_names: tuple[str | None, ...] = ()
    merged: tuple[Range, ...] = ()
    is_exact: bool = True
    is_open: bool = False
    """Whether it takes in all rows to the end of a long sheet, whatever columns they have."""
    origin: Range | None = None
    """Where a compacted table stands on its sheet."""
    knows_formulas: bool = True
    """Whether the reader of the file sees formulas."""
    links: Mapping[tuple[int, int], RangeLink] = field(default_factory=dict)
    """What cells lead to, by row and column."""

    @property
    def total(self) -> int:
        """How many rows there are below the header."""
        return max(0, self.area.bottom - self.body + 1)

    def source(self, top: int, bottom: int) -> dict[str, str]:
        """Return where rows of the table stand."""
        return source_of(self.sheet, self.origin or Range(top, self.area.left, bottom, self.area.right))


@dataclass(frozen=True, slots=True)
class TableWindow:
    """Some rows of a table as an element tells them; `following` is the first row after them, 0 at the end."""

    first: int
    following: int
    content: dict[str, Any]
    metadata: dict[str, Any]
    summary: str


def source_of(sheet: str, area: Range) -> dict[str, str]:
    """Return the metadata that says where something stands: the range as `A1:C9`, and the name of its sheet."""
    return {"source_range": area.name, "sheet": sheet}


def plan_table(
    rows: Mapping[int, SheetRow],
    area: Range,
    sheet: str,
    *,
    has_header: bool | None = None,
    caption: str = "",
    merged: Iterable[Range] = (),
) -> TablePlan:
    """Find caption and header of a region; `has_header` is known of tables that the author has declared."""
    inside = tuple(span for span in merged if span.overlaps(area))
    top = area.top
    lines = [caption] if caption else []
    while has_header is None and len(lines) < _MAX_CAPTION_LINES and (line := _caption_at(rows, area, top, inside)):
        lines.append(line)
        top += 1
    if has_header is None:
        has_header = _is_header(rows, area, top, inside)
    header = top if has_header else 0
    names = tuple(_cells(rows.get(top), area)) if header else ()
    shown = tuple(_shown(rows.get(top), area)) if header else ()
    return TablePlan(sheet, area, header, top + 1 if header else top, "\n".join(lines), names, shown, inside)


def windows(rows: Mapping[int, SheetRow], plan: TablePlan, most: int) -> list[TableWindow]:
    """Return up to `most` windows from the top of a table."""
    found: list[TableWindow] = []
    first = 1
    while len(found) < most:
        window = window_at(rows, plan, first)
        found.append(window)
        if not window.following:
            break
        first = window.following
    return found


def window_at(rows: Mapping[int, SheetRow], plan: TablePlan, first: int) -> TableWindow:
    """Return the window that begins with that row of the table's body, counted from 1."""
    start = plan.body + first - 1
    most = max(1, min(WINDOW_ROWS, WINDOW_CELLS // plan.area.width))
    shown: list[list[Cell]] = []
    characters = 0
    # Where the end of the sheet is only what it says of itself, what follows the last row that came is nothing.
    bottom = plan.area.bottom if plan.is_exact else min(plan.area.bottom, max(rows, default=0))
    for row in range(start, min(start + most - 1, bottom) + 1):
        cells = _cells(rows.get(row), plan.area)
        characters += sum(len(cell) for cell in cells if isinstance(cell, str))
        if shown and characters > WINDOW_CHARACTERS:
            break
        shown.append(cells)
    last = start + len(shown) - 1
    return _window(rows, plan, first, shown, _row_after(rows, plan, last))


def widened(plan: TablePlan, rows: Mapping[int, SheetRow]) -> TablePlan:
    """Return a plan that has room for these rows: those of a long sheet may turn out wider than its start."""
    columns = [column for row in rows.values() for column in row.values]
    if not plan.is_open or not columns:
        return plan
    left, right = min(plan.area.left, *columns), max(plan.area.right, *columns)
    more = [None] * (plan.area.left - left)
    names = (*more, *plan.names) if plan.names else ()
    shown = (*more, *plan.shown_names) if plan.shown_names else ()
    return replace(plan, area=plan.area._replace(left=left, right=right), names=names, shown_names=shown)


def _row_after(rows: Mapping[int, SheetRow], plan: TablePlan, last: int) -> int:
    # Of a long sheet only some rows are here; a gap in them is stepped over, for windows of blanks help nobody.
    if last >= plan.area.bottom:
        return 0
    following = last + 1 if last + 1 in rows else min((row for row in rows if row > last), default=0)
    return following - plan.body + 1 if 0 < following <= plan.area.bottom else 0


def _window(
    rows: Mapping[int, SheetRow], plan: TablePlan, first: int, shown: list[list[Cell]], following: int
) -> TableWindow:
    start, last = plan.body + first - 1, plan.body + first + len(shown) - 2
    content: dict[str, Any] = {"headers": list(plan.names), "rows": shown}
    content |= shown_content(plan.shown_names, [_shown(rows.get(row), plan.area) for row in range(start, last + 1)])
    if spans := _links_in(rows, plan, start, last):
        content["cell_spans"] = spans
    if merged := _merged_in(plan, start, last):
        content["merged"] = merged
    if plan.caption:
        content["caption"] = plan.caption
    if first > 1:
        content["row_offset"] = first - 1
    content |= {"total_rows": plan.total, "total_columns": plan.area.width}
    metadata: dict[str, Any] = plan.source(plan.area.top if first == 1 else start, max(last, plan.area.top))
    if plan.knows_formulas:
        metadata["has_formulas"] = _has_formulas(rows, plan, start, last)
    metadata["total_rows"] = plan.total
    if first > 1:
        metadata["row_offset"] = first - 1
    if not plan.is_exact:
        metadata["total_rows_exact"] = False
    if formulas := _formulas_in(rows, plan, start, last):
        metadata["formulas"] = formulas
    size = size_of_table(plan.names, plan.total, plan.area.width)
    size = f"{plan.caption.splitlines()[0]}: {size}" if plan.caption else size
    is_whole = first == 1 and not following
    return TableWindow(
        first, following, content, metadata, size if is_whole else f"Rows {first}–{first + len(shown) - 1} of {size}"
    )


def linked(window: TableWindow, table_id: str) -> TableWindow:
    """Return a window that names the one after it, where there is one."""
    if not window.following:
        return replace(window, summary=clip(window.summary))
    following = window_id(table_id, window.following)
    rows, _, size = window.summary.partition(" of ")
    # A page shows no metadata, so the summary has to say where the table goes on.
    return replace(
        window,
        metadata=window.metadata | {"next": following},
        summary=clip(f"{rows} (next: {following}) of {size}"),
    )


def window_id(table_id: str, first: int) -> str:
    """Return the id of the window that begins with that row."""
    return table_id if first == 1 else f"{table_id}-r{first}"


def _cells(row: SheetRow | None, area: Range) -> list[Cell]:
    if row is None:
        return [None] * area.width
    values = row.values
    return [values.get(column) for column in range(area.left, area.right + 1)]


def _shown(row: SheetRow | None, area: Range) -> list[str | None]:
    if row is None or not row.shown:
        return [None] * area.width
    shown = row.shown
    return [shown.get(column) for column in range(area.left, area.right + 1)]


def shown_content(headers: Sequence[str | None], rows: Sequence[Sequence[str | None]]) -> dict[str, Any]:
    """Return what cells show as part of a content; nothing where all of them show their values."""
    content: dict[str, Any] = {}
    if any(text is not None for text in headers):
        content["shown_headers"] = list(headers)
    if any(text is not None for row in rows for text in row):
        content["shown_rows"] = [list(row) for row in rows]
    return content


def _caption_at(rows: Mapping[int, SheetRow], area: Range, top: int, merged: Sequence[Range]) -> str:
    """Return the title in that row: one string alone above rows that hold more."""
    if area.width == 1 or top >= area.bottom:
        return ""
    filled = dict(_filled(rows, area, top))
    if len(filled) != 1:
        return ""
    column, value = next(iter(filled.items()))
    spans = any(span.holds(top, column) and span.width > 1 for span in merged)
    below = len(list(_filled(rows, area, top + 1)))
    is_title = isinstance(value, str) and (spans or (column == area.left and (below > 1 or not below)))
    return value.strip() if is_title and isinstance(value, str) else ""


def _filled(rows: Mapping[int, SheetRow], area: Range, row: int) -> Iterable[tuple[int, Cell]]:
    found = rows.get(row)
    for column, value in found.values.items() if found else ():
        if area.left <= column <= area.right:
            yield column, value


def _is_header(rows: Mapping[int, SheetRow], area: Range, top: int, merged: Sequence[Range]) -> bool:
    """Whether the row names columns: strings alone, hardly a gap, and rows below that look different or follow."""
    if top >= area.bottom:
        return False
    names = [value for _, value in _filled(rows, area, top)]
    # The corner above row names is often empty.
    first_is_empty = area.left not in rows[top].values if top in rows else True
    covered = sum(span.width - 1 for span in merged if span.top == top)
    if not names or len(names) + covered < area.width - (1 if first_is_empty and area.width > 2 else 0):
        return _is_styled(rows, area, top) and len(names) > area.width / 2
    if not all(isinstance(name, str) for name in names):
        return _is_years(names, rows, area, top)
    below = [value for row in range(top + 1, min(top + 20, area.bottom) + 1) for _, value in _filled(rows, area, row)]
    if _is_styled(rows, area, top) or any(not isinstance(value, str) for value in below):
        return True
    longest = max(len(str(name)) for name in names)
    if any(str(name).rstrip().endswith((":", "：")) for name in names):  # a label of what stands beside it
        return False
    return area.width > 1 and longest <= 80 and len(set(names)) == len(names)


def _is_styled(rows: Mapping[int, SheetRow], area: Range, top: int) -> bool:
    row, below = rows.get(top), rows.get(top + 1)
    columns = [column for column, _ in _filled(rows, area, top)]
    is_bold = row is not None and bool(columns) and all(column in row.bold for column in columns)
    below_too = below is not None and all(column in below.bold for column, _ in _filled(rows, area, top + 1))
    return is_bold and not below_too


def _is_years(names: Sequence[Cell], rows: Mapping[int, SheetRow], area: Range, top: int) -> bool:
    """Whether names and years stand there: `Region, 2023, 2024`."""
    years = [name for name in names if isinstance(name, int) and 1900 <= name <= 2100]
    others = [name for name in names if not isinstance(name, int)]
    rest = all(isinstance(name, str) for name in others)
    below = [value for _, value in _filled(rows, area, top + 1)]
    repeats = any(isinstance(value, int) and 1900 <= value <= 2100 for value in below)
    return rest and bool(others) and len(years) + len(others) == len(names) and not repeats


def _merged_in(plan: TablePlan, start: int, last: int) -> list[dict[str, int]]:
    found = []
    for span in plan.merged:
        if span.top == plan.header and plan.header:
            line, bottom = 0, min(span.bottom, last)
            height = 1 + max(0, bottom - plan.body + 1) if start == plan.body else 1
        elif span.bottom < start or span.top > last or span.top < plan.body:
            continue
        else:
            top = max(span.top, start)
            line, height = top - start + 1, min(span.bottom, last) - top + 1
        left, right = max(span.left, plan.area.left), min(span.right, plan.area.right)
        width = right - left + 1
        if width * height > 1:
            found.append({"row": line, "column": left - plan.area.left, "row_span": height, "column_span": width})
    return found


def _links_in(rows: Mapping[int, SheetRow], plan: TablePlan, start: int, last: int) -> list[dict[str, Any]]:
    """Return the cells of a window that lead somewhere: by a link, or by a formula that makes one."""
    if plan.origin:
        return []
    found = []
    for line, number in enumerate((plan.header, *range(start, last + 1))):
        row = rows.get(number)
        if row is None or not (plan.links or row.formulas):
            continue
        for column in row.values:
            rich = linked_text(row, column, plan.links.get((number, column)))
            if plan.area.left <= column <= plan.area.right and rich.spans:
                found.append({"row": line, "column": column - plan.area.left, "spans": spans_json(rich)})
    return found


def linked_text(row: SheetRow, column: int, link: RangeLink | None) -> RichText:
    """Return what a cell shows, with where it leads: by a link, or by a formula that makes one."""
    text = row.shown.get(column, cell_text(row.values.get(column)))
    if link is not None:
        # Other programs than Excel may link some words of a cell.
        start = text.find(link.display) if link.display and link.is_partial else 0
        length = len(link.display) if link.is_partial and start >= 0 else len(text)
        return RichText(
            text, (Span(max(start, 0), max(start, 0) + length, "link", link.url, link.tip),) if text else ()
        )
    url = next((linked_url(one.expression) for one in row.formulas if one.column == column), None)
    return RichText(text).marked("link", url) if url and text else RichText(text)


def _has_formulas(rows: Mapping[int, SheetRow], plan: TablePlan, start: int, last: int) -> bool:
    """Whether a cell calculates, also one of a compacted table, whose formulas are not told with it."""
    numbers = (plan.header, *range(start, last + 1))
    return any(
        rows[number].calculates or any(plan.area.left <= one.column <= plan.area.right for one in rows[number].formulas)
        for number in numbers
        if number in rows
    )


def _formulas_in(rows: Mapping[int, SheetRow], plan: TablePlan, start: int, last: int) -> list[dict[str, str]]:
    inside = [
        formula
        for number in (plan.header, *range(start, last + 1))
        if number in rows
        for formula in rows[number].formulas
        if plan.area.left <= formula.column <= plan.area.right
    ]
    return [{"range": run.range.name, "expression": run.first.expression} for run in runs(inside)[:MAX_RUNS]]


def compact(rows: Mapping[int, SheetRow], sheet: str) -> tuple[TablePlan, Mapping[int, SheetRow]]:
    """Return a sheet in too many pieces as one table without its blank rows and columns, under the columns' letters."""
    columns = sorted({column for row in rows.values() for column in row.values})
    at = {column: index for index, column in enumerate(columns, 1)}
    packed = {
        index: SheetRow(
            index,
            {at[column]: value for column, value in row.values.items()},
            shown={at[column]: text for column, text in row.shown.items() if column in at},
            calculates=bool(row.formulas) or row.calculates,
        )
        for index, row in enumerate((rows[number] for number in sorted(rows)), 1)
    }
    area = Range(1, 1, max(packed, default=1), max(1, len(columns)))
    names = tuple(column_name(column) for column in columns)
    origin = Range(min(rows), columns[0], max(rows), columns[-1])
    return TablePlan(sheet, area, 0, 1, names=names, origin=origin), packed
