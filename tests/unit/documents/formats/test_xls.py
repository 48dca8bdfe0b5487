"""Older and other workbooks, as far as calamine reads them."""

import struct
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.xls import FORMAT
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import cells, workbook, worksheet, write

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
MIME_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def value(content: object) -> str:
    match content:
        case str():
            return f'<table:table-cell office:value-type="string"><text:p>{content}</text:p></table:table-cell>'
        case bool():
            return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(content).lower()}"/>'
        case None:
            return "<table:table-cell/>"
    return f'<table:table-cell office:value-type="float" office:value="{content}"/>'


def ods(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(map(value, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f'<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:table="{OASIS}:table:1.0" '
        f'xmlns:text="{OASIS}:text:1.0"><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0"/>'
    return write(path, {"mimetype": MIME_TYPE, "content.xml": content, "META-INF/manifest.xml": manifest})


def opened(folder: Path, sheets: dict[str, list[list[object]]]) -> OpenDocument:
    return FORMAT.open(ods(folder / "book.ods", sheets))


def test_an_ods_sheet_is_a_page_with_its_tables(tmp_path: Path) -> None:
    document = opened(tmp_path, {"Sales": [["Region", "Sum"], ["north", 10], ["south", 2.5]], "Empty": []})
    table = Element(
        "p0-tbl-001",
        "table",
        {"headers": ["Region", "Sum"], "rows": [["north", 10], ["south", 2.5]], "total_rows": 2, "total_columns": 2},
        "2 rows × 2 columns: Region, Sum",
        {"source_range": "Sales!A1:B3", "total_rows": 2},
    )
    assert document.describe() == Description("", 2, ("Sales", "Empty"), "2 sheets: Sales, Empty")
    assert document.page(0) == Page(0, "Sales", (table,))
    assert document.page(1) == Page(1, "Empty")
    assert [entry.element_count for entry in document.entries(0, 9)] == [1, 0]
    assert document.find("p0-tbl-001") == (0, table)
    assert [document.find(key) for key in ("p0-tbl-002", "p7-tbl-001", "x", "p0-tbl-001-r9")] == [None] * 4


def test_a_long_sheet_is_read_in_windows(tmp_path: Path) -> None:
    rows: list[list[object]] = [["n", "text"], *([number, f"row {number}"] for number in range(1, 12_001))]
    document = opened(tmp_path, {"Long": rows})
    (first,) = document.page(0).elements
    assert (first.content["total_rows"], first.metadata["next"]) == (12_000, "p0-tbl-001-r101")
    found = document.find("p0-tbl-001-r11901")
    assert found is not None
    assert found[1].content["rows"] == [[number, f"row {number}"] for number in range(11_901, 12_001)]
    assert found[1].metadata["source_range"] == "Long!A11902:B12001"


def test_a_workbook_of_the_newer_kind_under_an_old_name_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xls", {"S": worksheet(cells((1, {"A": "words"})))})
    assert FORMAT.open(path).page(0).elements[0].content == {"text": "words"}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"<html><table></table>", "not a workbook: it is something else under the name of one, perhaps text or HTML"),
        (b"", "not a workbook: it is something else under the name of one, perhaps text or HTML"),
        (b"PK\x03\x04broken", "damaged: its archive cannot be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2_000, "damaged: it cannot be read as a workbook"),
    ],
)
def test_what_is_no_workbook_is_refused_with_the_reason(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "book.xls"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=told):
        FORMAT.open(path)


def test_a_bomb_is_measured_before_the_library_sees_it(tmp_path: Path) -> None:
    path = write(tmp_path / "book.ods", {"mimetype": MIME_TYPE, "content.xml": b" " * (20 << 20)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 20 << 20), struct.pack("<L", 100)))
    with pytest.raises(DocumentError, match=r"its part 'content\.xml' is larger than it says"):
        FORMAT.open(path)


@pytest.mark.parametrize(("name", "kind"), [("a.XLS", "xls"), ("a.xlsb", "xlsb"), ("a.ods", "ods"), ("a.xlsx", None)])
def test_files_are_known_by_their_endings(name: str, kind: str | None) -> None:
    assert FORMAT.file_type(name) == kind
