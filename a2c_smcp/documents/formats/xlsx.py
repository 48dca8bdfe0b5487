"""Excel workbooks: a sheet is a page, its regions of cells are tables.

Small sheets are read whole when they are asked for. Of a long one a page shows the start, and each window of it is an
element of its own (`p0-tbl-001-r101`) that is read by streaming up to its rows: the sheet is never held.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import OpenDocument, suffix_of
from a2c_smcp.documents.ooxml.charts import Lookup
from a2c_smcp.documents.ooxml.package import Package, open_package
from a2c_smcp.documents.ooxml.properties import Properties, read_properties
from a2c_smcp.documents.ooxml.spreadsheet import objects
from a2c_smcp.documents.ooxml.spreadsheet.margins import margins_of
from a2c_smcp.documents.ooxml.spreadsheet.page import BuiltPage, SheetContent, build_page, compacted
from a2c_smcp.documents.ooxml.spreadsheet.paging import PackagePages
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.spreadsheet.references import parse_range
from a2c_smcp.documents.ooxml.spreadsheet.rows import RowReader, SheetRow, finish
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ROWS, TablePlan, widened
from a2c_smcp.documents.ooxml.spreadsheet.workbook import SheetEntry, Workbook, range_values, read_workbook
from a2c_smcp.documents.ooxml.xml import attribute, child

WHOLE_BYTES: Final = 4 << 20
"""A sheet of at most this much XML, some ten thousand rows, is read whole."""

SURVEY_BYTES: Final = 16 << 20
"""A sheet of at most this much XML is looked through for its end and what stands there; that needs no parsing."""

_CLOSE_ENOUGH: Final = 1.5


class XlsxFormat:
    """Office Open XML workbooks, with macros or without."""

    def file_type(self, name: str) -> str | None:
        """Accept `.xlsx`, `.xlsm` and their templates."""
        return {"xlsx": "xlsx", "xltx": "xlsx", "xlsm": "xlsm", "xltm": "xlsm"}.get(suffix_of(name))

    def open(self, path: Path) -> OpenDocument:
        """Read the list of sheets."""
        with open_package(path) as package:
            return XlsxDocument(path, read_workbook(package), read_properties(package))


FORMAT: Final = XlsxFormat()


class XlsxDocument(PackagePages):
    """A workbook; each call reads the sheet it needs."""

    def __init__(self, path: Path, workbook: Workbook, properties: Properties) -> None:
        super().__init__(path, [sheet.title for sheet in workbook.sheets], properties)
        self._workbook = workbook

    def _build(self, index: int) -> BuiltPage:
        sheet = self._workbook.sheets[index]
        with open_package(self._path) as package:
            return build_page(index, sheet.title, self._content(package, sheet))

    def _rows_of(self, index: int, plan: TablePlan, first: int) -> tuple[TablePlan, Mapping[int, SheetRow]]:
        sheet = self._workbook.sheets[index]
        with open_package(self._path) as package:
            if plan.origin:
                plan, rows = compacted(self._content(package, sheet))
            else:
                reader = RowReader(Pieces(package, sheet.part, "row", "sheetData"))
                raw = islice(reader.rows(plan.body + first - 1), WINDOW_ROWS + 1)
                rows = {row.number: row for row in finish(raw, package, self._workbook.reading)}
        return widened(plan, rows), rows

    def _content(self, package: Package, sheet: SheetEntry) -> SheetContent:
        content = SheetContent(sheet.name, {})
        if not sheet.part:
            return content
        self._read_cells(package, sheet, content)
        content.declared = objects.declared_tables(package, sheet.part)
        self._read_below(package, sheet, content)
        content.pivots = list(objects.pivot_tables(package, sheet.part))
        content.comments = list(objects.comments(package, sheet.part))
        content.drawings = list(objects.drawings(package, sheet.part, self._lookup(package)))
        content.controls = list(objects.controls(package, sheet.part))
        return content

    def _lookup(self, package: Package) -> Lookup:
        return lambda reference: range_values(package, self._workbook, reference)

    def _read_cells(self, package: Package, sheet: SheetEntry, content: SheetContent) -> None:
        pieces = Pieces(package, sheet.part, "row", "sheetData")
        reader = RowReader(pieces)
        size = package.size(sheet.part)
        if size <= WHOLE_BYTES:
            rows = finish(reader.rows(), package, self._workbook.reading)
        else:
            raw = list(islice(reader.rows(), WINDOW_ROWS + 2))
            rows = finish(raw, package, self._workbook.reading)
            if len(raw) == WINDOW_ROWS + 2:  # else that was all, and the rest is only formatted
                content.last_row, content.is_exact = _end_of(pieces, reader, raw[-1].number, size)
        content.rows = {row.number: row for row in rows}
        if pieces.tail:
            root = pieces.tail_tree()
            content.tail = objects.read_tail(root, package, sheet.part)
            content.tail.header, content.tail.footer = margins_of(root, sheet.name)

    def _read_below(self, package: Package, sheet: SheetEntry, content: SheetContent) -> None:
        """Read what follows a declared table that is longer than the start of its sheet."""
        seen = max(content.rows, default=0)
        bottom = max((table.area.bottom for table in content.declared if table.area.bottom >= seen), default=0)
        if not 0 < bottom < content.last_row:
            return
        reader = RowReader(Pieces(package, sheet.part, "row", "sheetData"))
        raw = list(islice(reader.rows(bottom + 1), WINDOW_ROWS + 2))
        below = {row.number: row for row in finish(raw, package, self._workbook.reading)}
        content.rows = {**content.rows, **below}
        if len(raw) < WINDOW_ROWS + 2:
            content.last_row, content.is_exact = max(content.rows), True


def _end_of(pieces: Pieces, reader: RowReader, seen: int, size: int) -> tuple[int, bool]:
    """Return the last row of a long sheet, and whether that is sure.

    What a sheet says of its own size is often wrong, so it has to agree with the size of the part; else the sheet is
    looked through.
    """
    told = child(pieces.head_tree(), "dimension")
    area = parse_range(attribute(told, "ref")) if told is not None else None
    expected = size / pieces.bytes_an_item()
    if size > SURVEY_BYTES and area and expected / _CLOSE_ENOUGH <= area.bottom <= expected * _CLOSE_ENOUGH:
        return area.bottom, False
    return max(seen, reader.end()), True
