"""A sheet as a page: regions, declared tables and pivot tables first, then what lies beside or upon them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.ooxml.drafts import Draft, PageNumbers
from a2c_smcp.documents.ooxml.spreadsheet import objects
from a2c_smcp.documents.ooxml.spreadsheet.formulas import Formula, linked_url, runs
from a2c_smcp.documents.ooxml.spreadsheet.references import Range, column_name
from a2c_smcp.documents.ooxml.spreadsheet.regions import split
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import (
    TablePlan,
    compact,
    linked,
    linked_text,
    plan_table,
    shown_content,
    source_of,
    window_id,
    windows,
)
from a2c_smcp.documents.render.values import cell_text
from a2c_smcp.documents.rich_text import joined, text_content

PAGE_WINDOWS: Final = 20
"""Windows of one table that a page shows: 2 000 rows; the others are read by their ids."""

SINGLE_FORMULAS: Final = 100
"""A sheet with more formulas than that tells neighbours with the same one together."""

MAX_LINKED: Final = 1_000
"""Cells that one link covers; a link over more is an element of its own."""

MAX_FORMULAS: Final = 500
_LONG_TEXT: Final = 40
_FEW_LINES: Final = 8


@dataclass(slots=True)
class SheetContent:
    """The cells of a sheet, or of its start, and what else lies on it."""

    name: str
    rows: Mapping[int, SheetRow]
    tail: objects.Tail = field(default_factory=objects.Tail)
    declared: Sequence[objects.Declared] = ()
    pivots: Sequence[tuple[Range, dict[str, Any]]] = ()
    comments: Sequence[tuple[tuple[int, int], dict[str, Any]]] = ()
    drawings: Sequence[Draft] = ()
    controls: Sequence[Draft] = ()
    last_row: int = 0
    """Of a sheet that goes on below these rows: where it ends."""
    is_exact: bool = True
    knows_formulas: bool = True
    """Whether the reader of the file sees formulas."""
    is_compacted: bool = False
    """Whether the sheet was in so many pieces that it has become one table without its blanks."""

    def value(self, row: int, column: int) -> Cell:
        """Return what a cell holds."""
        found = self.rows.get(row)
        return found.values.get(column) if found else None

    def shown(self, row: int, column: int) -> str | None:
        """Return what a cell shows by its number format, None where that is its value."""
        found = self.rows.get(row)
        return found.shown.get(column) if found else None

    def text(self, row: int, column: int) -> str:
        """Return what a cell shows."""
        shown = self.shown(row, column)
        return cell_text(self.value(row, column)) if shown is None else shown


@dataclass(slots=True)
class BuiltPage:
    """A page with what is needed to read on in its tables and to open its pictures."""

    page: Page
    plans: dict[str, TablePlan] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Placed:
    draft: Draft | None
    plan: TablePlan | None = None
    rows: Mapping[int, SheetRow] = field(default_factory=dict)
    place: tuple[float, ...] = ()


def build_page(index: int, title: str, sheet: SheetContent) -> BuiltPage:
    """Return a sheet as a page with its elements in reading order."""
    areas: list[Range] = []
    placed = [*_tables(sheet, areas), *_beside(sheet, areas)]
    placed.sort(key=lambda one: one.place)
    numbers, elements, built = PageNumbers(index), [], BuiltPage(Page(index, title))
    for one in placed:
        if one.plan is not None:
            shown = _windows(one, numbers.next_id("table"), most=1 if sheet.last_row else PAGE_WINDOWS)
            elements += shown
            built.plans[shown[0].id] = one.plan
        elif one.draft is not None:
            ((draft, element),) = numbers.number([one.draft])
            elements.append(element)
            if draft.picture:
                built.pictures[element.id] = draft.picture
    built.page = Page(index, title, tuple(elements))
    return built


def _windows(placed: _Placed, table_id: str, most: int) -> list[Element]:
    found = []
    for window in windows(placed.rows, placed.plan, most) if placed.plan else ():
        shown = linked(window, table_id)
        found.append(Element(window_id(table_id, shown.first), "table", shown.content, shown.summary, shown.metadata))
    return found


def _tables(sheet: SheetContent, areas: list[Range]) -> Iterable[_Placed]:
    """Return every region of cells; `areas` is filled with where they are."""
    for area, content in sheet.pivots:
        yield _placed(_pivot(sheet, area, content), area)
    for declared in _declared(sheet):
        yield _table(sheet, declared.area, has_header=declared.has_header, name=declared.name)
    taken = _taken(sheet)
    areas += taken
    occupied = _without(sheet.rows, taken)
    found = split(occupied, [span for span in sheet.tail.merged if not any(span.overlaps(area) for area in taken)])
    if found is None and sheet.last_row:  # a long sheet is one table, whatever its start looks like
        columns = [column for row in occupied.values() for column in row]
        found = [Range(min(occupied), min(columns), max(occupied), max(columns))]
    if found is None:
        plan, packed = compacted(sheet)
        if plan.origin:
            sheet.is_compacted = True
            areas.append(plan.origin)
            yield _Placed(None, plan, packed, (plan.origin.top, plan.origin.left, 0))
        return
    if sheet.last_row and found:
        found = _open_ended(found, sheet)
    areas += found
    for area in found:
        yield from _region(sheet, area, areas)


def compacted(sheet: SheetContent) -> tuple[TablePlan, Mapping[int, SheetRow]]:
    """Return what belongs to no declared table of a sheet as one table without blank rows and columns."""
    occupied = _without(sheet.rows, _taken(sheet))
    rows = {
        number: replace(sheet.rows[number], values={column: sheet.rows[number].values[column] for column in columns})
        for number, columns in occupied.items()
    }
    plan, packed = compact(rows, sheet.name)
    return replace(plan, knows_formulas=sheet.knows_formulas), packed


def _declared(sheet: SheetContent) -> list[objects.Declared]:
    """Return the declared tables that overlap neither a pivot table nor one another."""
    areas = [area for area, _ in sheet.pivots]
    found = []
    for declared in sheet.declared:
        if not any(declared.area.overlaps(other) for other in areas):
            areas.append(declared.area)
            found.append(declared)
    return found


def _taken(sheet: SheetContent) -> list[Range]:
    return [*(area for area, _ in sheet.pivots), *(declared.area for declared in _declared(sheet))]


def _without(rows: Mapping[int, SheetRow], taken: Sequence[Range]) -> dict[int, list[int]]:
    occupied: dict[int, list[int]] = {}
    for number, row in rows.items():
        here = [area for area in taken if area.top <= number <= area.bottom]
        columns = sorted(c for c in row.values if not any(area.left <= c <= area.right for area in here))
        if columns:
            occupied[number] = columns
    return occupied


def _open_ended(found: list[Range], sheet: SheetContent) -> list[Range]:
    """Return regions, those that reach the last row read as one that goes on to the end of the sheet."""
    last = max(sheet.rows)
    ending = [area for area in found if area.bottom == last]
    if not ending:
        return found
    whole = Range(
        min(area.top for area in ending),
        min(area.left for area in ending),
        max(sheet.last_row, last),
        max(area.right for area in ending),
    )
    return [*(area for area in found if area not in ending), whole]


def _reads_as_lines(lines: Sequence[str], beside: Sequence[Range]) -> bool:
    """Whether a column of strings is no table: sentences, or a few lines above or below one."""
    is_list = len(lines) > _FEW_LINES or all(other.width == 1 for other in beside)
    return not is_list or any(len(line) > _LONG_TEXT for line in lines)


def _region(sheet: SheetContent, area: Range, beside: Sequence[Range]) -> Iterable[_Placed]:
    values = [
        (row, column, sheet.value(row, column))
        for row in _rows_in(sheet, area)
        for column in _columns_in(sheet, row, area)
    ]
    is_text = all(isinstance(value, str) for _, _, value in values)
    goes_on = sheet.last_row > 0 and area.bottom >= max(sheet.rows)
    if len(values) == 1 and not goes_on:
        row, column, value = values[0]
        is_heading = (
            isinstance(value, str) and column in sheet.rows[row].bold and len(value) <= 120 and area.height == 1
        )
        text = linked_text(sheet.rows[row], column, _links_by_cell(sheet, area).get((row, column)))
        content = text_content(text, level=2) if is_heading else text_content(text)
        draft = Draft("heading" if is_heading else "text", content, _source(sheet, area))
        yield _placed(draft, area)
    elif (
        area.width == 1 and is_text and not goes_on and _reads_as_lines([str(value) for _, _, value in values], beside)
    ):
        links = _links_by_cell(sheet, area)
        lines = (linked_text(sheet.rows[row], column, links.get((row, column))) for row, column, _ in values)
        yield _placed(Draft("text", text_content(joined(lines, "\n")), _source(sheet, area)), area)
    else:
        filtered = next((one for one in sheet.tail.filtered if one.top == area.top and one.overlaps(area)), None)
        yield _table(sheet, area, has_header=True if filtered else None)


def _rows_in(sheet: SheetContent, area: Range) -> Iterable[int]:
    return (row for row in sheet.rows if area.top <= row <= area.bottom)


def _columns_in(sheet: SheetContent, row: int, area: Range) -> Iterable[int]:
    return (column for column in sorted(sheet.rows[row].values) if area.left <= column <= area.right)


def _table(sheet: SheetContent, area: Range, *, has_header: bool | None, name: str = "") -> _Placed:
    plan = plan_table(sheet.rows, area, sheet.name, has_header=has_header, caption=name, merged=sheet.tail.merged)
    plan = replace(plan, knows_formulas=sheet.knows_formulas, links=_links_by_cell(sheet, area))
    if sheet.last_row and area.bottom == sheet.last_row:
        plan = replace(plan, is_exact=sheet.is_exact, is_open=True)
    return _Placed(None, plan, sheet.rows, (area.top, area.left, 0))


def _links_by_cell(sheet: SheetContent, area: Range) -> dict[tuple[int, int], objects.RangeLink]:
    found: dict[tuple[int, int], objects.RangeLink] = {}
    for link in sheet.tail.links:
        if not link.area.overlaps(area) or link.area.height * link.area.width > MAX_LINKED:
            continue
        for row in range(link.area.top, link.area.bottom + 1):
            for column in range(link.area.left, link.area.right + 1):
                found[row, column] = link
    return found


def _pivot(sheet: SheetContent, area: Range, content: dict[str, Any]) -> Draft:
    numbers = list(islice(sorted(_rows_in(sheet, area)), 200))
    columns = range(area.left, min(area.right, area.left + 200) + 1)
    lines = [[sheet.value(row, column) for column in columns] for row in numbers]
    told = [[sheet.shown(row, column) for column in columns] for row in numbers]
    shown = content | ({"headers": lines[0], "rows": lines[1:]} | shown_content(told[0], told[1:]) if lines else {})
    return Draft("pivot_table", shown, _source(sheet, area))


def _beside(sheet: SheetContent, areas: Sequence[Range]) -> Iterable[_Placed]:
    """Yield what follows the region it belongs to: formulas, links, comments; and drawings at their anchors."""
    for draft in _formulas(sheet):
        yield _following(draft, areas, 1)
    for draft in _links(sheet, areas):
        yield _following(draft, areas, 2)
    for (row, column), content in sheet.comments:
        cell = Range(row, column, row, column)
        draft = Draft("annotation", content | {"target": cell.name}, _source(sheet, cell), (row, column))
        yield _following(draft, areas, 3)
    for area, content in sheet.tail.choices:
        value = sheet.value(area.top, area.left)
        filled = {"value": value} if value is not None and area.height * area.width == 1 else {}
        draft = Draft("widget", content | filled, _source(sheet, area), (area.top, area.left))
        draft.summary = f"{area.name}: {content['description']}"[:120]
        yield _following(draft, areas, 4)
    if sheet.tail.header:
        yield _Placed(Draft("header", {"text": sheet.tail.header}), place=(0,))
    if sheet.tail.footer:
        yield _Placed(Draft("footer", {"text": sheet.tail.footer}), place=(math.inf,))
    for draft in sheet.controls:
        yield _Placed(draft, place=draft.place)
    for draft in sheet.drawings:
        if math.isfinite(draft.place[0]):
            draft.metadata["anchor"] = f"{column_name(int(draft.place[1]))}{int(draft.place[0])}"
        yield _Placed(draft, place=(*draft.place, 0.5))


def _following(draft: Draft, areas: Sequence[Range], rank: int) -> _Placed:
    row, column = int(draft.place[0]), int(draft.place[1])
    area = next((area for area in areas if area.holds(row, column)), None)
    start = (area.top, area.left) if area else (row, column)
    return _Placed(draft, place=(*start, rank, row, column))


def _formulas(sheet: SheetContent) -> Iterable[Draft]:
    formulas = [formula for row in sheet.rows.values() for formula in row.formulas]
    if len(formulas) <= SINGLE_FORMULAS:
        for formula in formulas:
            yield _formula(sheet, formula, Range(formula.row, formula.column, formula.row, formula.column), 1)
        return
    for run in runs(formulas)[:MAX_FORMULAS]:
        yield _formula(sheet, run.first, run.range, run.count)


def _formula(sheet: SheetContent, formula: Formula, area: Range, count: int) -> Draft:
    content: dict[str, Any] = {"expression": formula.expression, "value": formula.value}
    shown = sheet.shown(formula.row, formula.column)
    if shown is not None:
        content["shown"] = shown
    content |= {"location": area.name, "notation": "excel"}
    value = "" if formula.value is None else f" → {sheet.text(formula.row, formula.column)}"
    told = f"{area.name}: {formula.expression}{value}" + (f" (and {count - 1} more)" if count > 1 else "")
    metadata = _source(sheet, area) | ({"cells": count} if count > 1 else {})
    return Draft("formula", content, metadata, (formula.row, formula.column), summary=told[:120])


def _links(sheet: SheetContent, areas: Sequence[Range]) -> Iterable[Draft]:
    """Yield the links that are no part of a text or a table: of pivot tables, and of cells that show nothing."""
    pivots = [area for area, _ in sheet.pivots]
    tables = [area for area in areas if area not in pivots]
    for link in sheet.tail.links:
        area = link.area
        shown = sheet.text(area.top, area.left)
        inside = any(table.holds(area.top, area.left) for table in tables)
        if not (inside and shown and area.height * area.width <= MAX_LINKED) or sheet.is_compacted:
            content = {"text": shown or link.display or link.url, "url": link.url}
            content |= {"title": link.tip} if link.tip else {}
            yield Draft("link", content, _source(sheet, area), (area.top, area.left))
    for row in sheet.rows.values():
        for formula in row.formulas:
            url = linked_url(formula.expression)
            cell = Range(formula.row, formula.column, formula.row, formula.column)
            if url and (sheet.is_compacted or not any(table.holds(cell.top, cell.left) for table in tables)):
                text = cell_text(formula.value) or url
                yield Draft("link", {"text": text, "url": url}, _source(sheet, cell), (formula.row, formula.column))


def _placed(draft: Draft, area: Range) -> _Placed:
    return _Placed(draft, place=(area.top, area.left, 0))


def _source(sheet: SheetContent, area: Range) -> dict[str, Any]:
    return dict(source_of(sheet.name, area))
