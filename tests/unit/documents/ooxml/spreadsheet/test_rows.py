"""Rows and strings as they are written by programs that keep to the rules and by others."""

from itertools import islice
from pathlib import Path

import pytest

from a2c_smcp.documents.ooxml.package import open_package
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.spreadsheet.rows import NumberContext, RowReader, SheetRow, finish, read_strings, unescape
from tests.unit.documents.ooxml.office import MAIN, worksheet, write


def read(folder: Path, rows: str, first: int = 1, most: int | None = None) -> list[SheetRow]:
    path = write(folder / "x.zip", {"sheet.xml": worksheet(rows)})
    with open_package(path) as package:
        reader = RowReader(Pieces(package, "sheet.xml", "row", "sheetData"))
        return finish(islice(reader.rows(first), most), package, NumberContext())


def test_rows_and_cells_without_references_follow_one_another(tmp_path: Path) -> None:
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>"
    assert [(row.number, row.values) for row in read(tmp_path, rows)] == [(1, {1: 1, 2: 2}), (2, {1: 3})]


def test_numbers_that_go_back_or_too_far_are_counted_on(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{number}"><c><v>1</v></c></row>' for number in (5, 3, 99_999_999, "x"))
    assert [row.number for row in read(tmp_path, rows)] == [5, 6, 7, 8]


def test_cells_beyond_the_last_column_are_left_out(tmp_path: Path) -> None:
    assert [
        row.values for row in read(tmp_path, '<row r="1"><c r="A1"><v>1</v></c><c r="ZZZ1"><v>2</v></c></row>')
    ] == [{1: 1}]


def test_rows_that_show_nothing_are_left_out(tmp_path: Path) -> None:
    rows = '<row r="1"/><row r="2"><c r="A2" s="3"/></row><row r="3"><c r="A3"><v>1</v></c></row>'
    assert [row.number for row in read(tmp_path, rows)] == [3]


@pytest.mark.parametrize("reference", ['r="{}"', ""])
def test_reading_from_a_row_on_gives_what_reading_all_gives_there(tmp_path: Path, reference: str) -> None:
    rows = "".join(f"<row {reference.format(n)}><c><v>{n}</v></c><c><v>0.5</v></c></row>" for n in range(1, 20_001))
    everything = read(tmp_path, rows)
    assert read(tmp_path, rows, first=15_000, most=100) == everything[14_999:15_099]


def formatted(first: int, last: int) -> str:
    return "".join(f'<row r="{n}"><c r="A{n}" s="1"/><c r="B{n}" s="1"/></row>' for n in range(first, last))


@pytest.mark.parametrize("filled", [300, 5_000])
def test_the_end_is_the_last_row_that_holds_something(tmp_path: Path, filled: int) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, filled + 1))
    path = write(tmp_path / "x.zip", {"sheet.xml": worksheet(rows + formatted(filled + 1, 30_000))})
    with open_package(path) as package:
        reader = RowReader(Pieces(package, "sheet.xml", "row", "sheetData"))
        assert len(list(islice(reader.rows(), 100))) == 100
        assert reader.end() == filled


def test_rows_that_are_only_formatted_are_passed_over(tmp_path: Path) -> None:
    rows = formatted(1, 50_000) + '<row r="50000"><c r="A50000"><v>1</v></c></row>'
    assert [row.number for row in read(tmp_path, rows)] == [50_000]


def test_only_the_strings_that_are_wanted_are_returned(tmp_path: Path) -> None:
    items = "".join(f"<si><t>string {number}</t></si>" for number in range(30_000))
    path = write(tmp_path / "x.zip", {"strings.xml": f'<sst xmlns="{MAIN}">{items}<si/></sst>'})
    with open_package(path) as package:
        assert read_strings(package, "strings.xml", {0, 29_999, 99_999}) == {0: "string 0", 29_999: "string 29999"}
        assert read_strings(package, "gone.xml", {1}) == {}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a_x000D__x000A_b", "a\nb"),
        ("_x005F_x0041_", "_x0041_"),
        ("_xD83D__xDE00_", "😀"),
        ("_xD83D_", "\ufffd"),
        ("_x_", "_x_"),
    ],
)
def test_escaped_characters_are_read(written: str, read: str) -> None:
    assert unescape(written) == read
