"""Older and other workbooks, as far as calamine reads them."""

import struct
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.formats.xls import FORMAT
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import cells, relationships, workbook, worksheet, write


def record(kind: int, data: bytes = b"") -> bytes:
    """A record of a binary workbook: kind and length in groups of seven bits."""
    written = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    return written + bytes([len(data)]) + data


def wide(text: str) -> bytes:
    return struct.pack("<L", len(text)) + text.encode("utf-16-le")


def binary_workbook(path: Path) -> Path:
    """A table on the first sheet; the second one is a chart, whose part holds no cells."""
    sheets = (("rId1", "Sales"), ("rId2", "Chart"))
    bundle = b"".join(
        record(156, struct.pack("<LL", 0, at) + wide(key) + wide(name)) for at, (key, name) in enumerate(sheets, 1)
    )
    rows = b"".join(
        record(0, struct.pack("<L", row) + bytes(21))
        + record(6, struct.pack("<LL", 0, 0) + wide(name))
        + (record(6, struct.pack("<LL", 1, 0) + wide("Sum")) if row == 0 else record(5, struct.pack("<LLd", 1, 0, 2.5)))
        for row, name in enumerate(("Region", "north"))
    )
    return write(
        path,
        {
            "xl/workbook.bin": record(153, bytes(12)) + record(143) + bundle + record(144) + record(132),
            "xl/_rels/workbook.bin.rels": relationships(
                {"rId1:worksheet": "worksheets/sheet1.bin", "rId2:chartsheet": "chartsheets/sheet1.bin"}
            ),
            "xl/worksheets/sheet1.bin": record(148, struct.pack("<4L", 0, 1, 0, 1)) + record(145) + rows + record(146),
            "xl/chartsheets/sheet1.bin": b"",
        },
    )


def test_a_binary_workbook_is_read_and_a_sheet_that_is_a_chart_is_an_empty_page(tmp_path: Path) -> None:
    document = FORMAT.open(binary_workbook(tmp_path / "book.xlsb"))
    table = Element(
        "p0-tbl-001",
        "table",
        {"headers": ["Region", "Sum"], "rows": [["north", 2.5]], "total_rows": 1, "total_columns": 2},
        "1 row × 2 columns: Region, Sum",
        {"source_range": "A1:B2", "sheet": "Sales", "total_rows": 1},
    )
    assert document.describe() == Description("", 2, ("Sales", "Chart"), "2 sheets: Sales, Chart")
    assert [document.page(index) for index in (0, 1)] == [Page(0, "Sales", (table,)), Page(1, "Chart")]


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
    path = write(tmp_path / "book.xlsb", {"xl/workbook.bin": b" " * (20 << 20)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 20 << 20), struct.pack("<L", 100)))
    with pytest.raises(DocumentError, match=r"its part 'xl/workbook\.bin' is larger than it says"):
        FORMAT.open(path)


@pytest.mark.parametrize(("name", "kind"), [("a.XLS", "xls"), ("a.xlsb", "xlsb"), ("a.xlt", "xls"), ("a.ods", None)])
def test_files_are_known_by_their_endings(name: str, kind: str | None) -> None:
    assert FORMAT.file_type(name) == kind
