"""A region as a table: caption, header, windows."""

from collections.abc import Sequence

import pytest

from a2c_smcp.documents.content import Cell, validate_content
from a2c_smcp.documents.ooxml.spreadsheet.references import Range, parse_range
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ROWS, TablePlan, plan_table, windows


def rows(*lines: Sequence[Cell], bold: int = 0) -> dict[int, SheetRow]:
    found = {}
    for number, line in enumerate(lines, 1):
        values: dict[int, Cell] = {column: value for column, value in enumerate(line, 1) if value is not None}
        found[number] = SheetRow(number, values, bold=set(values) if number == bold else set())
    return found


def planned(*lines: Sequence[Cell], bold: int = 0, merged: str = "") -> TablePlan:
    area = Range(1, 1, len(lines), max(map(len, lines)))
    spans = [span for name in merged.split() if (span := parse_range(name))]
    return plan_table(rows(*lines, bold=bold), area, "S", merged=spans)


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        ([["name", "sum"], ["a", 1]], 1),
        ([["name", "sum"], ["a", "b"]], 1),
        ([["a", 1], ["b", 2]], 0),
        ([[1, 2], [3, 4]], 0),
        ([[None, "Q1", "Q2"], ["north", 1, 2]], 1),
        ([["Region", 2023, 2024], ["north", 1, 2]], 1),
        ([["Region", 2023], ["north", 2024]], 0),
        ([["same", "same"], ["a", "b"]], 0),
        ([["x" * 90, "y"], ["a", "b"]], 0),
        ([["only"]], 0),
        ([["Name:", "Ann"], ["Town:", "Rome"]], 0),
    ],
)
def test_a_header_is_recognized(lines: list[list[Cell]], header: int) -> None:
    assert planned(*lines).header == header


def test_a_bold_line_is_a_header_even_with_gaps() -> None:
    assert planned(["a", "b", None], ["x", "y", "z"], bold=1).header == 1


def test_a_merged_header_counts_as_filled() -> None:
    plan = planned(["first", "both", None], ["x", 1, 2], merged="B1:C1")
    assert (plan.header, plan.names) == (1, ("first", "both", None))


def test_a_title_above_the_header_is_the_caption() -> None:
    plan = planned(["Sales 2024", None], ["Region", "Sum"], ["north", 1])
    assert (plan.caption, plan.header, plan.names, plan.total) == ("Sales 2024", 2, ("Region", "Sum"), 1)


def test_row_names_are_no_captions() -> None:
    assert planned(["a", None], ["b", None], ["c", 1]).caption == ""


def test_a_table_of_many_rows_comes_in_windows_that_stand_alone() -> None:
    lines: list[Sequence[Cell]] = [["n", "square"], *([number, number**2] for number in range(1, 251))]
    found = rows(*lines)
    first, second, third = windows(found, plan_table(found, Range(1, 1, 251, 2), "S"), 10)
    assert [len(window.content["rows"]) for window in (first, second, third)] == [WINDOW_ROWS, WINDOW_ROWS, 50]
    assert (first.following, second.following, third.following) == (101, 201, 0)
    assert third.content == {
        "headers": ["n", "square"],
        "rows": [[number, number**2] for number in range(201, 251)],
        "row_offset": 200,
        "total_rows": 250,
        "total_columns": 2,
    }
    assert third.metadata == {
        "source_range": "A202:B251",
        "sheet": "S",
        "has_formulas": False,
        "total_rows": 250,
        "row_offset": 200,
    }
    assert third.summary == "Rows 201–250 of 250 rows × 2 columns: n, square"
    for window in (first, second, third):
        validate_content("table", window.content)


def test_wide_or_wordy_rows_make_smaller_windows() -> None:
    wide = rows(*([1] * 5_000 for _ in range(20)))
    assert (
        len(windows(wide, plan_table(wide, Range(1, 1, 20, 5_000), "S", has_header=False), 1)[0].content["rows"]) == 8
    )
    wordy = rows(*(["x" * 30_000] for _ in range(20)))
    assert len(windows(wordy, plan_table(wordy, Range(1, 1, 20, 1), "S", has_header=False), 1)[0].content["rows"]) == 6


def test_merged_cells_are_told_by_their_place_in_the_window() -> None:
    plan = planned(["a", "b"], ["x", 1], [None, 2], merged="A1:B1 A2:A3")
    window = windows(rows(["a", "b"], ["x", 1], [None, 2]), plan, 1)[0]
    assert window.content["merged"] == [
        {"row": 0, "column": 0, "row_span": 1, "column_span": 2},
        {"row": 1, "column": 0, "row_span": 2, "column_span": 1},
    ]
