"""The rows of an OpenDocument sheet and what lies on them; rows and cells that repeat are written once and counted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from a2c_smcp.documents.odf.book import OdsDeclarations, parts_of_sheet
from a2c_smcp.documents.odf.cell_values import (
    DRAW,
    OFFICE,
    TABLE,
    TEXT,
    XLINK,
    formula_of,
    paragraph_text,
    shown_of,
    value_of,
    words_of,
)
from a2c_smcp.documents.odf.drawings import OdsDrawings
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.spreadsheet.formulas import Formula
from a2c_smcp.documents.ooxml.spreadsheet.objects import MAX_MERGED, MAX_OBJECTS, RangeLink, Tail
from a2c_smcp.documents.ooxml.spreadsheet.page import SheetContent
from a2c_smcp.documents.ooxml.spreadsheet.references import MAX_COLUMN, MAX_ROW, Range
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ROWS
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, number, text_of

WHOLE_ROWS: Final = 10_000
WHOLE_CELLS: Final = 400_000
"""A sheet of more is read by windows, and its page shows the first."""

_CELLS: Final = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_BESIDE: Final = (f"{OFFICE}annotation", f"{TEXT}a", f"{DRAW}*", f"{TABLE}covered-table-cell")


@dataclass(slots=True)
class _Objects:
    tail: Tail = field(default_factory=Tail)
    comments: list[tuple[tuple[int, int], dict[str, Any]]] = field(default_factory=list)
    drawings: list[Draft] = field(default_factory=list)
    choices: dict[str, Range] = field(default_factory=dict)


class SheetReader:
    """Reads one sheet from its top on."""

    def __init__(self, package: Package, book: OdsDeclarations, index: int) -> None:
        self._package = package
        self._book = book
        self._index = index
        self._drawings = OdsDrawings(package)
        self._objects = _Objects()
        self._is_long = False

    def content(self) -> SheetContent:
        """Return a sheet, or the start of a long one, with what lies on it."""
        name = self._book.sheets[self._index][0]
        rows: dict[int, SheetRow] = {}
        cells, last = 0, 0
        for row, repeated in self._rows():
            last = row.number + repeated - 1
            if self._is_long:
                continue
            for row_number in range(row.number, min(last, row.number + WHOLE_ROWS) + 1):
                rows[row_number] = _at(row, row_number)
                cells += len(row.values)
                self._is_long = len(rows) > WHOLE_ROWS or (cells > WHOLE_CELLS and len(rows) > WINDOW_ROWS + 2)
                if self._is_long:
                    break
        if self._is_long:
            rows = {key: rows[key] for key in list(rows)[: WINDOW_ROWS + 2]}
        found = self._objects
        found.tail.filtered += self._book.filtered.get(name, ())
        found.tail.choices += [(area, self._book.choices[key]) for key, area in found.choices.items()]
        return SheetContent(
            name,
            rows,
            found.tail,
            declared=self._book.declared.get(name, ()),
            pivots=self._book.pivots.get(name, ()),
            comments=found.comments,
            drawings=found.drawings,
            last_row=last if self._is_long else 0,
        )

    def window(self, first: int, most: int) -> dict[int, SheetRow]:
        """Return up to `most` rows that hold something, from number `first` on."""
        rows: dict[int, SheetRow] = {}
        for row, repeated in self._rows(first):
            for row_number in range(max(row.number, first), row.number + repeated):
                if len(rows) >= most:
                    return rows
                rows[row_number] = _at(row, row_number)
        return rows

    def _rows(self, first: int = 1) -> Iterator[tuple[SheetRow, int]]:
        """Yield the rows that hold something and end at `first` or later, each with how often it stands there.

        What lies upon them is put aside. Of a sheet that has turned out to be long, it is only told where rows are.
        """
        following = 1
        for node in parts_of_sheet(self._package, self._index):
            if node.tag == f"{TABLE}shapes":
                self._draw(node, None)
                continue
            if following > MAX_ROW:
                return
            repeated = min(max(1, number(node.get(f"{TABLE}number-rows-repeated"), 1)), MAX_ROW - following + 1)
            start = following
            following += repeated
            if following <= first:
                continue
            if self._is_long and next(node.iter(*_BESIDE), None) is None:
                if any(cell.get(f"{OFFICE}value-type") for cell in node):
                    yield SheetRow(start), repeated
                continue
            row = self._row(node, start, repeated)
            if row.values:
                yield row, repeated

    def _row(self, node: Node, row_number: int, rows_repeated: int) -> SheetRow:
        row, column = SheetRow(row_number), 1
        for cell in node.iterchildren(*_CELLS):
            if column > MAX_COLUMN:
                break
            repeated = min(max(1, number(cell.get(f"{TABLE}number-columns-repeated"), 1)), MAX_COLUMN - column + 1)
            if len(cell) or len(cell.attrib):
                self._cell(cell, row, column, repeated)
                self._choose(cell, Range(row_number, column, row_number + rows_repeated - 1, column + repeated - 1))
            column += repeated
        return row

    def _cell(self, cell: Node, row: SheetRow, column: int, repeated: int) -> None:
        value = value_of(cell)
        written = cell.get(f"{TABLE}formula")
        if written:
            formula = Formula(row.number, column, formula_of(written), value)
            row.formulas.append(formula)
            value = formula.expression if value is None else value
        if value is not None and value != "":
            shown = shown_of(cell, value)
            for place in range(column, column + repeated):
                row.values[place] = value
                if shown is not None:
                    row.shown[place] = shown
                if cell.get(f"{TABLE}style-name") in self._book.bold:
                    row.bold.add(place)
        if len(cell):
            self._beside(cell, row.number, column)

    def _beside(self, cell: Node, row: int, column: int) -> None:
        found = self._objects
        place = Range(row, column, row, column)
        down, along = (number(cell.get(f"{TABLE}number-{kind}-spanned"), 1) for kind in ("rows", "columns"))
        if (down > 1 or along > 1) and len(found.tail.merged) < MAX_MERGED:
            bottom, right = min(row + max(1, down) - 1, MAX_ROW), min(column + max(1, along) - 1, MAX_COLUMN)
            found.tail.merged.append(Range(row, column, bottom, right))
        for note in cell.iterchildren(f"{OFFICE}annotation"):
            if len(found.comments) < MAX_OBJECTS:
                found.comments.append(((row, column), _comment(note)))
        for part in cell.iterchildren(f"{TEXT}p"):
            for link in part.iterdescendants(f"{TEXT}a"):
                url = link.get(f"{XLINK}href")
                if url and len(found.tail.links) < MAX_OBJECTS:
                    found.tail.links.append(
                        RangeLink(place, url, paragraph_text(link), attribute(link, "title"), is_partial=True)
                    )
        self._draw(cell, (row, column))

    def _draw(self, node: Node, place: tuple[int, int] | None) -> None:
        for draft in islice(self._drawings.read(node), MAX_OBJECTS - len(self._objects.drawings)):
            draft.place = place or (float("inf"), 0)
            self._objects.drawings.append(draft)

    def _choose(self, cell: Node, area: Range) -> None:
        name = cell.get(f"{TABLE}content-validation-name")
        if name in self._book.choices:
            known = self._objects.choices.get(name, area)
            self._objects.choices[name] = Range(
                min(known.top, area.top),
                min(known.left, area.left),
                max(known.bottom, area.bottom),
                max(known.right, area.right),
            )


def _at(row: SheetRow, row_number: int) -> SheetRow:
    """Return a row that is repeated as the one of that number."""
    if row.number == row_number:
        return row
    return SheetRow(row_number, row.values, [], row.bold, row.shown, row.calculates or bool(row.formulas))


def _comment(note: Node) -> dict[str, Any]:
    content: dict[str, Any] = {"text": words_of(note), "annotation_type": "comment"}
    for key, name in (("author", "creator"), ("created", "date")):
        if told := text_of(child(note, name)).strip():
            content[key] = told
    return content
