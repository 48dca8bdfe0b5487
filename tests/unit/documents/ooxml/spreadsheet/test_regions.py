"""Blank rows and columns part one table from the next."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.ooxml.spreadsheet.references import Range, parse_range
from a2c_smcp.documents.ooxml.spreadsheet.regions import MAX_REGIONS, split


def drawn(*lines: str) -> dict[int, list[int]]:
    """A sheet as a drawing: a cross is a cell that holds something."""
    return {
        row: [column for column, mark in enumerate(line, 1) if mark == "x"]
        for row, line in enumerate(lines, 1)
        if "x" in line
    }


def names(*lines: str) -> list[str]:
    return [area.name for area in split(drawn(*lines)) or []]


def test_a_block_is_one_region() -> None:
    assert names("xx", "xx") == ["A1:B2"]


def test_holes_do_not_part_a_region() -> None:
    assert names("x.x", "xxx", "x..") == ["A1:C3"]


def test_blank_rows_part_regions() -> None:
    assert names("xx", "..", "xx") == ["A1:B1", "A3:B3"]


def test_blank_columns_part_regions() -> None:
    assert names("xx.xx", "xx.xx") == ["A1:B2", "D1:E2"]


def test_cuts_go_on_inside_the_parts() -> None:
    assert names("xx.xx", "xx...", "xx.xx") == ["A1:B3", "D1:E1", "D3:E3"]


def test_a_lone_column_beside_a_narrow_gap_stays_with_its_table() -> None:
    assert names("xx.x", "xx.x") == ["A1:D2"]
    assert names("xx.x", "xx..") == ["A1:B2", "D1"]
    assert names("xx..x", "xx..x") == ["A1:B2", "E1:E2"]


def test_a_merged_title_spans_the_gap_below_it() -> None:
    title = parse_range("A1:E1")
    assert title is not None
    assert split(drawn("x....", "xx.xx", "xx.xx"), [title]) == [Range(1, 1, 3, 5)]


def test_a_merged_range_without_a_value_joins_nothing() -> None:
    empty = parse_range("A2:B2")
    assert empty is not None
    assert split(drawn("xx", "..", "xx"), [empty]) == [Range(1, 1, 1, 2), Range(3, 1, 3, 2)]


def test_a_sheet_in_too_many_pieces_is_told_apart() -> None:
    assert split({row: [1] for row in range(1, 2 * MAX_REGIONS + 4, 2)}) is None


def test_an_empty_sheet_has_no_regions() -> None:
    assert split({}) == []


@given(st.sets(st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_every_cell_is_in_exactly_one_region(cells: set[tuple[int, int]]) -> None:
    occupied: dict[int, list[int]] = {}
    for row, column in sorted(cells):
        occupied.setdefault(row, []).append(column)
    found = split(occupied) or []
    assert all(sum(area.holds(row, column) for area in found) == 1 for row, column in cells)
    assert found == sorted(found)
