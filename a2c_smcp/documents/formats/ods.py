"""OpenDocument workbooks: a sheet is a page, its regions of cells are tables, with all that lies on them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import OpenDocument, suffix_of
from a2c_smcp.documents.formats.xlsx import FORMAT as XLSX
from a2c_smcp.documents.odf.book import OdsDeclarations, read_book
from a2c_smcp.documents.odf.sheet import SheetReader
from a2c_smcp.documents.ooxml.package import open_package
from a2c_smcp.documents.ooxml.properties import Properties, properties_of
from a2c_smcp.documents.ooxml.spreadsheet.page import BuiltPage, build_page, compacted
from a2c_smcp.documents.ooxml.spreadsheet.paging import PackagePages
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ROWS, TablePlan, widened
from a2c_smcp.documents.ooxml.xml import child


class OdsFormat:
    """OpenDocument spreadsheets and their templates."""

    def file_type(self, name: str) -> str | None:
        """Accept `.ods` and `.ots`."""
        return "ods" if suffix_of(name) in ("ods", "ots") else None

    def open(self, path: Path) -> OpenDocument:
        """Read the list of sheets, for which all of them are passed over."""
        with open_package(path) as package:
            if "xl/workbook.xml" in package:
                return XLSX.open(path)
            book = read_book(package)
            return OdsDocument(path, book, properties_of(child(package.optional("meta.xml"), "meta")))


FORMAT: Final = OdsFormat()


class OdsDocument(PackagePages):
    """A workbook; each call reads the sheet it needs."""

    def __init__(self, path: Path, book: OdsDeclarations, properties: Properties) -> None:
        super().__init__(path, [f"{name} (hidden)" if hidden else name for name, hidden in book.sheets], properties)
        self._book = book

    def _build(self, index: int) -> BuiltPage:
        with open_package(self._path) as package:
            return build_page(index, self._titles[index], SheetReader(package, self._book, index).content())

    def _rows_of(self, index: int, plan: TablePlan, first: int) -> tuple[TablePlan, Mapping[int, SheetRow]]:
        with open_package(self._path) as package:
            reader = SheetReader(package, self._book, index)
            if plan.origin:
                return compacted(reader.content())
            rows = reader.window(plan.body + first - 1, WINDOW_ROWS + 1)
            return widened(plan, rows), rows
