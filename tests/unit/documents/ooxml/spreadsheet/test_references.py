"""References of cells: numbers and names are two ways to say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.ooxml.spreadsheet.references import (
    MAX_COLUMN,
    MAX_ROW,
    Range,
    column_name,
    column_number,
    parse_cell,
    parse_qualified,
    parse_range,
)

rows, columns = st.integers(1, MAX_ROW), st.integers(1, MAX_COLUMN)


@given(columns)
def test_names_of_columns_lead_back_to_their_numbers(number: int) -> None:
    assert column_number(column_name(number)) == number


@given(rows, columns, rows, columns)
def test_a_range_is_read_back_from_its_name(top: int, left: int, bottom: int, right: int) -> None:
    area = Range(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
    assert parse_range(area.name) == area


@pytest.mark.parametrize("text", ["", "A", "1", "A0", "XFE1", "A1048577", "A1:B", "AAAA1", "Ä1", "A1 B1"])
def test_what_is_no_range_is_none(text: str) -> None:
    assert parse_range(text) is None
    assert parse_cell(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$B$2:A1", ("", Range(1, 1, 2, 2))),
        ("Sales!$B$2", ("Sales", Range(2, 2, 2, 2))),
        ("'It''s 2024'!A1:B2", ("It's 2024", Range(1, 1, 2, 2))),
        ("Total", None),
        ("A!A1,A!B1", None),
    ],
)
def test_references_with_a_sheet_are_read(text: str, found: tuple[str, Range] | None) -> None:
    assert parse_qualified(text) == found
