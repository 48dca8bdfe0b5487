"""How single values are shown."""

from typing import Any

import pytest

from a2c_smcp.documents.content import Cell, ListContent
from a2c_smcp.documents.render.values import (
    RectangularTable,
    RenderedItem,
    all_items_of,
    cell_text,
    clean,
    clean_json,
    grid,
    one_line,
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("as it is\t\n", "as it is\t\n"),
        ("a\r\nb\rc\x0bd\x0ce\x85f", "a\nb\nc\nd\ne\nf"),
        ("\x00\x08\x1b\x7f\x9f", "\ufffd" * 5),
        ("\ud800 \udfff", "\ufffd \ufffd"),
        ("\U0001f600 \u2028 \u202e", "\U0001f600 \u2028 \u202e"),
    ],
)
def test_clean_text_has_one_kind_of_line_end_and_no_controls(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_clean_json_goes_all_the_way_down() -> None:
    value: Any = {"a\x00": ["\ud800", ("x", float("inf"), 1, None, True)]}
    assert clean_json(value) == {"a\ufffd": ["\ufffd", ["x", None, 1, None, True]]}


def test_one_line_puts_a_blank_for_every_break() -> None:
    assert one_line("  a \n\n  b\r\nc  d ") == "a b c  d"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (12, "12"),
        (12.0, "12"),
        (-0.5, "-0.5"),
        (1e15, "1000000000000000.0"),
        (float("nan"), ""),
        (" a\x00 ", "a\ufffd"),
    ],
)
def test_a_cell_reads_as_people_write_it(value: Cell, text: str) -> None:
    assert cell_text(value) == text


def test_a_grid_is_as_wide_as_its_widest_line() -> None:
    assert grid({"headers": ["a"], "rows": [[1, 2], []]}) == RectangularTable(["a", ""], [["1", "2"], ["", ""]])


def test_a_grid_has_what_cells_show() -> None:
    content = {
        "headers": [2024],
        "rows": [[1250, 0.12], [3]],
        "shown_headers": ["FY 2024"],
        "shown_rows": [["1,250", None]],
    }
    assert grid(content) == RectangularTable(["FY 2024", ""], [["1,250", "0.12"], ["3", ""]])


def test_all_items_come_in_reading_order() -> None:
    content: ListContent = {
        "ordered": False,
        "items": [
            {"text": "a", "children": {"ordered": True, "items": ["b", {"text": "c", "checked": True}]}},
            "d",
        ],
    }
    assert list(all_items_of(content)) == [
        RenderedItem("a", None, None),
        RenderedItem("b", None, None),
        RenderedItem("c", True, None),
        RenderedItem("d", None, None),
    ]
