"""Sheets too long to be held: their windows are read alone, and what they say of themselves is checked."""

import tracemalloc
from pathlib import Path

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import OpenDocument
from a2c_smcp.documents.formats.xlsx import FORMAT
from a2c_smcp.documents.model import Element
from benchmarks.spreadsheets import write_workbook
from tests.unit.documents.ooxml.office import cells, relationships, workbook, worksheet


def first_table(document: OpenDocument) -> Element:
    found = document.page(0).elements[0]
    validate_content("table", found.content)
    return found


@pytest.fixture(scope="module")
def long_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.xlsx"
    write_workbook(path, 40_000)
    return path


def test_of_a_long_sheet_a_page_shows_the_start_and_each_window_is_read_alone(long_book: Path) -> None:
    document = FORMAT.open(long_book)
    first = first_table(document)
    assert (len(first.content["rows"]), first.metadata["total_rows"], first.metadata["next"]) == (
        100,
        40_000,
        "p0-tbl-001-r101",
    )
    found = document.find("p0-tbl-001-r39901")
    assert found is not None
    last = found[1]
    assert [row[0] for row in last.content["rows"]] == list(range(39_901, 40_001))
    assert last.metadata["source_range"] == "A39902:J40001"
    assert "next" not in last.metadata
    assert last.content["headers"][0] == "column A"
    assert [document.find(f"p0-tbl-001-r{row}") for row in (0, 40_001)] == [None, None]


def test_a_long_sheet_is_not_held(long_book: Path) -> None:
    document = FORMAT.open(long_book)
    document.page(0)
    tracemalloc.start()
    document.find("p0-tbl-001-r30001")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("dimension", ["", '<dimension ref="A1"/>', '<dimension ref="A1:C1048576"/>'])
def test_what_a_long_sheet_says_of_its_size_is_not_believed_blindly(tmp_path: Path, dimension: str) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}.5</v></c></row>' for n in range(1, 90_001)
    )
    path = workbook(tmp_path / "book.xlsx", {"S": worksheet(rows, before=dimension)})
    assert first_table(FORMAT.open(path)).content["total_rows"] == 90_000


def test_rows_that_are_only_formatted_are_no_rows_of_a_window(tmp_path: Path) -> None:
    filled = cells(*((n, {"A": n, "B": n}) for n in range(1, 151)))
    empty = "".join(f'<row r="{n}"><c r="A{n}" s="1"/><c r="B{n}" s="1"/></row>' for n in range(151, 340_001))
    sheet = worksheet(filled + empty, before='<dimension ref="A1:B340000"/>')
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": sheet}))
    assert first_table(document).metadata["total_rows_exact"] is False
    found = document.find("p0-tbl-001-r101")
    assert found is not None
    assert found[1].content["rows"] == [[n, n] for n in range(101, 151)]
    assert "next" not in found[1].metadata
    assert document.find("p0-tbl-001-r301") is None


def test_a_gap_in_a_long_sheet_is_stepped_over(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{"x" * 80} {n}</t></is></c></row>'
        for n in [*range(1, 301), *range(900_000, 960_000)]
    )
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(rows)}))
    found = document.find("p0-tbl-001-r201")
    assert found is not None
    assert found[1].metadata["next"] == "p0-tbl-001-r900000"


def test_a_sheet_in_many_pieces_is_read_on_by_its_windows(tmp_path: Path) -> None:
    rows = cells(*((number, {"A" if number % 4 == 1 else "C": number}) for number in range(1, 6_001, 2)))
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(rows)}))
    assert document.page(0).elements[-1].metadata["next"] == "p0-tbl-001-r2001"
    found = document.find("p0-tbl-001-r2901")
    assert found is not None
    assert found[1].content["rows"][-1] == [None, 5_999]
    assert "next" not in found[1].metadata


def test_a_long_sheet_in_many_pieces_is_one_table(tmp_path: Path) -> None:
    def row(n: int) -> str:
        return "".join(f'<c r="{name}{n}"><v>{n}</v></c>' for name in ("A", "C", "E", "G"))

    rows = "".join(f'<row r="{n}">{row(n)}</row>' for n in range(1, 80_001, 2))
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(rows)}))
    (table,) = document.page(0).elements
    assert (table.content["total_rows"], table.content["total_columns"]) == (79_999, 7)
    found = document.find("p0-tbl-001-r79999")
    assert found is not None
    assert found[1].content["rows"] == [[79_999, None, 79_999, None, 79_999, None, 79_999]]


def test_a_long_declared_table_is_as_long_as_it_is_declared(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}.25</v></c></row>' for n in range(1, 90_001)
    )
    table = '<table ref="A1:B90000" displayName="Sales"/>'
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships({"t:table": "../table.xml"}),
        "xl/table.xml": table,
    }
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(rows)}, parts))
    found = first_table(document)
    assert (found.content["caption"], found.metadata["total_rows"]) == ("Sales", 89_999)
    assert "total_rows_exact" not in found.metadata


def test_rows_that_turn_out_wider_than_the_start_are_not_cut(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="B{n}"><v>{n}</v></c><c r="C{n}"><v>{n}.25</v></c></row>' for n in range(1, 90_001)
    )
    wide = '<row r="90001"><c r="A90001"><v>1</v></c><c r="B90001"><v>2</v></c><c r="E90001"><v>3</v></c></row>'
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(rows + wide)}))
    found = document.find("p0-tbl-001-r90001")
    assert found is not None
    assert found[1].content["rows"] == [[1, 2, None, None, 3]]
    assert found[1].metadata["source_range"] == "A90001:E90001"


def test_what_follows_a_long_declared_table_is_on_the_page(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}.25</v></c></row>' for n in range(1, 90_001)
    )
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships({"t:table": "../table.xml"}),
        "xl/table.xml": '<table ref="A1:B90000" displayName="Sales"/>',
    }
    sheet = worksheet(rows + cells((90_005, {"A": "Sources and remarks"})))
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": sheet}, parts))
    table, remark = document.page(0).elements
    assert table.content["total_rows"] == 89_999
    assert (remark.metadata["source_range"], remark.content["rows"]) == ("A90005", [["Sources and remarks"]])


def shared_formulas(count: int, *, cdata: bool = False) -> str:
    """Rows whose third column is one formula that the first of them holds for all."""
    formula = "A2*2&lt;=B2" if not cdata else "<![CDATA[A2*2<=B2]]>"

    def row(number: int) -> str:
        told = f'<f t="shared" ref="C2:C{count}" si="0">{formula}</f>' if number == 2 else '<f t="shared" si="0"/>'
        cells = f'<c r="A{number}"><v>{number}</v></c><c r="B{number}"><v>{number}.5</v></c>'
        return f'<row r="{number}">{cells}<c r="C{number}" t="b">{told}<v>0</v></c></row>'

    return cells((1, {"A": "a", "B": "b", "C": "c"})) + "".join(map(row, range(2, count + 1)))


@pytest.mark.parametrize("cdata", [False, True])
def test_a_formula_that_rows_share_is_in_every_window(tmp_path: Path, cdata: bool) -> None:
    sheet = worksheet(shared_formulas(60_000, cdata=cdata))
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": sheet}))
    assert first_table(document).metadata["formulas"] == [{"range": "C2:C101", "expression": "=A2*2<=B2"}]
    for first in (2_001, 30_001, 59_901):
        found = document.find(f"p0-tbl-001-r{first}")
        assert found is not None
        row = first + 1
        expected = [{"range": f"C{row}:C{min(row + 99, 60_000)}", "expression": f"=A{row}*2<=B{row}"}]
        assert (found[1].metadata["formulas"], found[1].metadata["has_formulas"]) == (expected, True)


def test_a_formula_shared_below_the_start_of_a_sheet_of_moderate_length(tmp_path: Path) -> None:
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(shared_formulas(3_000))}))
    found = document.find("p0-tbl-001-r2901")
    assert found is not None
    assert found[1].metadata["formulas"] == [{"range": "C2902:C3000", "expression": "=A2902*2<=B2902"}]
