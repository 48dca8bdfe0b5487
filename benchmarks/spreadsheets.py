"""Opening a workbook of 100 000 rows and reading its first window, or one far down, against calamine's full read."""

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from a2c_smcp.documents.formats.xlsx import FORMAT
from benchmarks.table import Row, best

ROWS = 100_000
COLUMNS = "ABCDEFGHIJ"
BASIS = f"a generated workbook of {ROWS} rows and {len(COLUMNS)} columns; best of 3 to 5"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.xlsx"
        write_workbook(path, ROWS)
        full = best(lambda: _calamine(path), repeat=3, unit="ms")
        first = best(lambda: FORMAT.open(path).page(0), repeat=5, unit="ms")
        document = FORMAT.open(path)
        document.page(0)
        deep = best(lambda: document.find("p0-tbl-001-r90001"), repeat=3, unit="ms")
    return [
        Row(
            "XLSX of 100 000 rows: open, first 100 / calamine's full read",
            first,
            full,
            limit=0.05,
            unit="ms",
            basis=BASIS,
        ),
        Row(
            "XLSX of 100 000 rows: rows from 90 001 / calamine's full read",
            deep,
            full,
            limit=0.5,
            unit="ms",
            basis=BASIS,
        ),
    ]


def _calamine(path: Path) -> list[list[Any]]:
    from python_calamine import CalamineWorkbook  # noqa: PLC0415

    return CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()


def write_workbook(path: Path, rows: int) -> None:
    """Write a workbook of `rows` rows: shared strings, numbers, dates and formulas."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr("[Content_Types].xml", _types())
        archive.writestr("_rels/.rels", _relationships({"officeDocument": "xl/workbook.xml"}))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}"><sheets>'
            '<sheet name="Rows" sheetId="1" r:id="worksheet"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            _relationships(
                {"worksheet": "worksheets/sheet1.xml", "sharedStrings": "sharedStrings.xml", "styles": "styles.xml"}
            ),
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        )
        with archive.open("xl/worksheets/sheet1.xml", "w") as part:
            for piece in _sheet(rows):
                part.write(piece.encode())
        with archive.open("xl/sharedStrings.xml", "w") as part:
            part.write(f'<sst xmlns="{MAIN}" count="{rows * 3}" uniqueCount="{rows + 10}">'.encode())
            part.write("".join(f"<si><t>column {name}</t></si>" for name in COLUMNS).encode())
            for number in range(rows):
                part.write(f"<si><t>Customer {number * 7919 % rows} &amp; Sons</t></si>".encode())
            part.write(b"</sst>")


def _sheet(rows: int) -> Iterator[str]:
    yield f'<worksheet xmlns="{MAIN}"><dimension ref="A1:J{rows + 1}"/><sheetData><row r="1">'
    yield from (f'<c r="{name}1" t="s"><v>{index}</v></c>' for index, name in enumerate(COLUMNS))
    yield "</row>"
    for number in range(2, rows + 2):
        cells = [f'<c r="A{number}"><v>{number - 1}</v></c>', f'<c r="B{number}" t="s"><v>{number + 8}</v></c>']
        cells += [f'<c r="C{number}" s="1"><v>{40_000 + number % 5_000}</v></c>']
        cells += [f'<c r="{name}{number}"><v>{number * 37 % 10_007 / 100}</v></c>' for name in "DEFGHI"]
        cells += [f'<c r="J{number}"><f>D{number}+E{number}</f><v>{number * 37 % 10_007 / 50}</v></c>']
        yield f'<row r="{number}" spans="1:10">{"".join(cells)}</row>'
    yield "</sheetData></worksheet>"


def _relationships(targets: dict[str, str]) -> str:
    entries = (f'<Relationship Id="{k}" Type="{RELATIONSHIPS}/{k}" Target="{t}"/>' for k, t in targets.items())
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(entries)}</Relationships>'


def _types() -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {"workbook": "sheet.main", "worksheets/sheet1": "worksheet", "sharedStrings": "sharedStrings"}
    entries = (f'<Override PartName="/xl/{p}.xml" ContentType="{kind}.{t}+xml"/>' for p, t in parts.items())
    return (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{"".join(entries)}</Types>'
    )
