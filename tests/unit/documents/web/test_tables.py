"""Tables of web pages: spans resolved, headers told from rows, layout told from data."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.web.parse import parse
from a2c_smcp.documents.web.tables import WINDOW_ROWS, is_layout, table_contents


def contents(html: str) -> list[dict[str, Any]]:
    table = parse(f"<table>{html}</table>").css_first("table")
    assert table is not None
    found = list(table_contents(table))
    for content in found:
        validate_content("table", content)
    return found


@pytest.mark.parametrize(
    ("html", "content"),
    [
        ("<tr><td>1<td>2<tr><td>3<td>4", {"headers": [], "rows": [["1", "2"], ["3", "4"]]}),
        ("<tr><th>a<th>b<tr><td>1<td>2", {"headers": ["a", "b"], "rows": [["1", "2"]]}),
        ("<thead><tr><td>a<tbody><tr><td>1", {"headers": ["a"], "rows": [["1"]]}),
        ("<caption>Cap</caption><tr><th>a<tr><td>1", {"headers": ["a"], "rows": [["1"]], "caption": "Cap"}),
        ("<tr><th>row<td>1<tr><th>other<td>2", {"headers": [], "rows": [["row", "1"], ["other", "2"]]}),
        (
            "<tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3",
            {
                "headers": ["a", "b"],
                "rows": [["1", "2"], ["", "3"]],
                "merged": [{"row": 1, "column": 0, "row_span": 2, "column_span": 1}],
            },
        ),
        (
            "<tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3",
            {
                "headers": ["a", "", "b"],
                "rows": [["1", "2", "3"]],
                "merged": [{"row": 0, "column": 0, "row_span": 1, "column_span": 2}],
            },
        ),
        (
            "<tr><th rowspan=2>A<th colspan=2>B<tr><th>b1<th>b2<tr><td>1<td>2<td>3",
            {"headers": ["A", "B / b1", "B / b2"], "rows": [["1", "2", "3"]]},
        ),
        ("<tr><td rowspan=bogus colspan=0>1<td colspan=-2>2", {"headers": [], "rows": [["1", "2"]]}),
        (
            "<tr><td rowspan=0>1<td>2<tr><td>3",
            {
                "headers": [],
                "rows": [["1", "2"], ["", "3"]],
                "merged": [{"row": 1, "column": 0, "row_span": 2, "column_span": 1}],
            },
        ),
        ("<tr><td><ul><li>x<li>y</ul><td>2", {"headers": [], "rows": [["x\ny", "2"]]}),
    ],
)
def test_a_table(html: str, content: dict[str, Any]) -> None:
    assert contents(html) == [content]


def test_a_long_table_comes_in_windows_with_its_header_in_each() -> None:
    found = contents("<tr><th>n" + "".join(f"<tr><td>{number}" for number in range(450)))
    assert [(c["headers"], c["row_offset"], len(c["rows"]), c["total_rows"]) for c in found] == [
        (["n"], 0, WINDOW_ROWS, 450),
        (["n"], 200, WINDOW_ROWS, 450),
        (["n"], 400, 50, 450),
    ]


@pytest.mark.parametrize(
    ("html", "layout"),
    [
        ("<table role=presentation><tr><td>1<td>2</table>", True),
        ("<table><tr><td><h1>x</h1><td>y</table>", True),
        ("<table><tr><td>one<tr><td>two</table>", True),
        ("<table><tr><td>1<td>2</table>", False),
        ("<table><tr><th>one<tr><td>two</table>", False),
    ],
)
def test_tables_that_only_put_things_in_place(html: str, layout: bool) -> None:
    table = parse(html).css_first("table")
    assert table is not None
    assert is_layout(table) is layout


spans = st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=4), min_size=1, max_size=5)


@given(spans)
def test_every_cell_has_its_place_and_none_is_shown_twice(rows: list[list[tuple[int, int]]]) -> None:
    html, names = "", []
    for number, cells in enumerate(rows):
        html += "<tr>"
        for place, (down, across) in enumerate(cells):
            names.append(f"c{number}-{place}")
            html += f"<td rowspan={down} colspan={across}>{names[-1]}"
    shown = [cell for content in contents(html) for row in content["rows"] for cell in row if cell]
    assert sorted(shown) == sorted(names)
