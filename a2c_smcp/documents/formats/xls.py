"""Older and binary workbooks (XLS, XLSB) as far as calamine reads them: values, merged cells, hidden sheets."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.formats.base import Description, OpenDocument, require, suffix_of
from a2c_smcp.documents.formats.xlsx import FORMAT as XLSX
from a2c_smcp.documents.ooxml.package import advice_on_ole, open_package
from a2c_smcp.documents.ooxml.spreadsheet import objects
from a2c_smcp.documents.ooxml.spreadsheet.page import BuiltPage, SheetContent, build_page
from a2c_smcp.documents.ooxml.spreadsheet.paging import SheetPages, described
from a2c_smcp.documents.ooxml.spreadsheet.references import Range
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ROWS, TablePlan, compact, widened
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 128 << 20
MAX_UNPACKED: Final = 512 << 20
"""The library reads whole workbooks, so what comes out of an archive is measured before."""

WHOLE_ROWS: Final = 10_000

_OLE: Final = b"\xd0\xcf\x11\xe0"
_SUFFIXES: Final = {"xls": "xls", "xlt": "xls", "xlsb": "xlsb"}


class XlsFormat:
    """Workbooks that are not Office Open XML."""

    def file_type(self, name: str) -> str | None:
        """Accept `.xls`, `.xlt` and `.xlsb`."""
        return _SUFFIXES.get(suffix_of(name))

    def open(self, path: Path) -> OpenDocument:
        """Read the list of sheets."""
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        with path.open("rb") as file:
            head = file.read(8)
            told = advice_on_ole(file) if head.startswith(_OLE) else ""
        if told:
            raise DocumentError(told)
        if head.startswith(b"PK"):
            if _is_xlsx(path):
                return XLSX.open(path)
        elif not head.startswith(_OLE) and not head.startswith((b"\x09\x08", b"\x09\x04", b"\x09\x02", b"\x09\x00")):
            raise DocumentError("not a workbook: it is something else under the name of one, perhaps text or HTML")
        return XlsDocument(path)


FORMAT: Final = XlsFormat()


class XlsDocument(SheetPages):
    """A workbook that calamine reads; each call reads the sheet it needs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _workbook(path) as workbook:
            self._sheets = [(str(sheet.name), _state(sheet)) for sheet in workbook.sheets_metadata]
        super().__init__(len(self._sheets))

    def describe(self) -> Description:
        """Return the names of the sheets."""
        return described([_title(*sheet) for sheet in self._sheets])

    def _build(self, index: int) -> BuiltPage:
        name, state = self._sheets[index]
        with _workbook(self._path) as workbook:
            try:
                sheet = workbook.get_sheet_by_index(index)
            except (require("python_calamine", "documents").CalamineError, OSError):  # a chart or a macro sheet
                return build_page(index, _title(name, state), SheetContent(name, {}))
            height = sheet.end[0] + 1 if sheet.end else 0
            is_long = height > WHOLE_ROWS
            rows = _rows(sheet, 1, WINDOW_ROWS + 2 if is_long else None)
            merged = [
                Range(top + 1, left + 1, bottom + 1, right + 1)
                for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
            ]
            last = height if is_long else 0
        tail = objects.Tail(merged=merged)
        return build_page(
            index, _title(name, state), SheetContent(name, rows, tail, last_row=last, knows_formulas=False)
        )

    def _rows_of(self, index: int, plan: TablePlan, first: int) -> tuple[TablePlan, Mapping[int, SheetRow]]:
        start = 1 if plan.origin else plan.body + first - 1
        with _workbook(self._path) as workbook:
            rows = _rows(workbook.get_sheet_by_index(index), start, None if plan.origin else WINDOW_ROWS + 1)
        return compact(rows, self._sheets[index][0]) if plan.origin else (widened(plan, rows), rows)


def _rows(sheet: Any, first: int, most: int | None) -> dict[int, SheetRow]:
    start = sheet.start or (0, 0)
    found: dict[int, SheetRow] = {}
    values = enumerate(sheet.iter_rows(), start[0] + 1)
    for number, cells in islice(values, max(0, first - start[0] - 1), None):
        row = SheetRow(
            number,
            {
                column: value
                for column, cell in enumerate(cells, start[1] + 1)
                if (value := _cell(cell)) not in (None, "")
            },
        )
        if row.values:
            found[number] = row
        if most is not None and len(found) >= most:
            break
    return found


def _cell(value: Any) -> Cell:
    match value:
        case bool() | str() | int() | None:
            return value
        case float():
            return int(value) if value.is_integer() and abs(value) < 1e15 else value if math.isfinite(value) else None
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            seconds = round(value.total_seconds())
            return f"PT{seconds // 3600}H{seconds // 60 % 60}M{seconds % 60}S"
    return str(value)


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    calamine = require("python_calamine", "documents")
    _measure(path)
    data = path.read_bytes()
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(BytesIO(data))
        yield workbook
        workbook.close()
    except calamine.PasswordError as error:
        raise DocumentError(
            "password-protected: encrypted workbooks cannot be opened; save a copy without the password"
        ) from error
    except (DocumentError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    # A panic of the library is no Exception; whatever it dies of, the file is to blame and only the file is lost.
    except BaseException as error:
        raise DocumentError(f"damaged: it cannot be read as a workbook ({str(error)[:100]})") from error


def _measure(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return
    with open_package(path) as package:
        left = MAX_UNPACKED
        for name in package.names():
            for chunk in package.chunks(name, MAX_UNPACKED):
                left -= len(chunk)
            if left < 0:
                raise DocumentError(f"too large: it unpacks to more than {MAX_UNPACKED >> 20} MiB")


def _is_xlsx(path: Path) -> bool:
    with open_package(path) as package:
        return "xl/workbook.xml" in package


def _state(sheet: Any) -> str:
    return {"Hidden": "hidden", "VeryHidden": "very hidden"}.get(str(sheet.visible).rpartition(".")[2], "")


def _title(name: str, state: str) -> str:
    return f"{name} ({state})" if state else name
