"""Formulas are written out for every cell, and told together where they are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.ooxml.spreadsheet.formulas import Formula, Run, linked_url, moved, readable, runs
from a2c_smcp.documents.ooxml.spreadsheet.references import Range


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("A1*2", "B3*2"),
        ("$A1+A$1+$A$1", "$A3+B$1+$A$1"),
        ("SUM(A1:C9)", "SUM(B3:D11)"),
        ("Sheet1!A1", "Sheet1!B3"),
        ("'A1 B2'!A1", "'A1 B2'!B3"),
        ('"A1"&A1', '"A1"&B3'),
        ('"say ""A1"""&A1', '"say ""A1"""&B3'),
        ("LOG10(A1)", "LOG10(B3)"),
        ("Total2020+A1", "Total2020+B3"),
        ("Table1[Total]", "Table1[Total]"),
        ("XFD1", "A3"),
    ],
)
def test_a_shared_formula_reads_as_if_typed_into_its_cell(text: str, there: str) -> None:
    assert moved(text, 2, 1) == there


@given(st.integers(0, 5_000), st.integers(0, 500))
def test_moving_there_and_back_changes_nothing(rows: int, columns: int) -> None:
    text = "SUM($A1:B$2)*C3+'D 4'!E5"
    assert moved(moved(text, rows, columns), -rows, -columns) == text


@pytest.mark.parametrize(
    ("written", "typed"),
    [("A1", "=A1"), ("=A1", "=A1"), (" _xlfn.XLOOKUP(A1) ", "=XLOOKUP(A1)"), ("_xlfn._xlws.SORT(A1)", "=SORT(A1)")],
)
def test_formulas_read_as_their_author_typed_them(written: str, typed: str) -> None:
    assert readable(written) == typed


def test_neighbours_with_the_same_formula_are_one_run() -> None:
    down = [Formula(row, 3, f"=A{row}*B{row}", row) for row in range(2, 6)]
    along = [Formula(6, column, f"=SUM({name}2:{name}5)", 0) for column, name in ((1, "A"), (2, "B"), (3, "C"))]
    assert runs([*down, *along]) == [
        Run(down[0], Range(2, 3, 5, 3), 4),
        Run(along[0], Range(6, 1, 6, 3), 3),
    ]


def test_a_gap_ends_a_run() -> None:
    cells = [Formula(row, 1, f"=B{row}", None) for row in (1, 2, 4)]
    assert [run.range.name for run in runs(cells)] == ["A1:A2", "A4"]


@pytest.mark.parametrize(
    ("expression", "url"),
    [
        ('=HYPERLINK("https://a.b/c","x")', "https://a.b/c"),
        ('=IF(A1,hyperlink( "x""y" ),"")', 'x"y'),
        ("=HYPERLINK(A1)", None),
        ("=A1", None),
    ],
)
def test_the_address_of_a_link_formula_is_found(expression: str, url: str | None) -> None:
    assert linked_url(expression) == url
