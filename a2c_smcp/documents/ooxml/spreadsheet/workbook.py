"""The workbook part: which sheets there are, how their numbers read, and the values of any range."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.package import Package, kind_of_package
from a2c_smcp.documents.ooxml.spreadsheet.formats import read_styles
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.spreadsheet.references import parse_qualified
from a2c_smcp.documents.ooxml.spreadsheet.rows import NumberContext, RowReader, finish
from a2c_smcp.documents.ooxml.xml import R, attribute, child, children, is_on
from a2c_smcp.errors import DocumentError

MAX_SHEETS: Final = 5_000
MAX_LOOKUP: Final = 5_000
"""Rows of a range that a chart without a copy of its data refers to."""


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A sheet as the workbook lists it; `state` is empty, `hidden` or `very hidden`."""

    name: str
    part: str
    state: str = ""

    @property
    def title(self) -> str:
        """What the page index calls it."""
        return f"{self.name} ({self.state})" if self.state else self.name


@dataclass(frozen=True, slots=True)
class Workbook:
    """What holds for all sheets."""

    sheets: Sequence[SheetEntry]
    reading: NumberContext


_STATES: Final = {"hidden": "hidden", "veryHidden": "very hidden"}


def read_workbook(package: Package) -> Workbook:
    """Return the sheets in the order of their tabs.

    Raises:
        DocumentError: The package holds no workbook.
    """
    main = package.main_part()
    root = package.tree(main)
    sheets_node = child(root, "sheets")
    if sheets_node is None:
        raise DocumentError(f"not a workbook: {kind_of_package(package.content_type(main))}")
    sheets = []
    for node in islice(children(sheets_node, "sheet"), MAX_SHEETS):
        target = package.target(main, node.get(f"{R}id") or attribute(node, "id"))
        sheets.append(SheetEntry(attribute(node, "name"), target or "", _STATES.get(attribute(node, "state"), "")))
    properties = child(root, "workbookPr")
    since_1904 = properties is not None and is_on(properties.get("date1904", "0"))
    styles = next(package.related(main, "styles"), "")
    reading = NumberContext(
        styles=read_styles(package.optional(styles)) if styles else (),
        strings_part=next(package.related(main, "sharedStrings"), ""),
        since_1904=since_1904,
    )
    return Workbook(sheets, reading)


def range_values(package: Package, workbook: Workbook, reference: str) -> Sequence[Cell]:
    """Return the cells of a reference like `Sales!$B$2:$B$9` in reading order; none where it cannot be followed."""
    found = parse_qualified(reference)
    sheet = next((sheet for sheet in workbook.sheets if found and sheet.name == found[0]), None)
    if found is None or sheet is None or not sheet.part or found[1].height * found[1].width > MAX_LOOKUP:
        return ()
    area = found[1]
    reader = RowReader(Pieces(package, sheet.part, "row", "sheetData"))
    raw = takewhile(lambda row: row.number <= area.bottom, reader.rows(area.top))
    rows = {row.number: row.values for row in finish(raw, package, workbook.reading)}
    return [
        rows.get(row, {}).get(column)
        for row in range(area.top, area.bottom + 1)
        for column in range(area.left, area.right + 1)
    ]
