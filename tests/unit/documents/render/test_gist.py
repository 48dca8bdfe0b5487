"""An element in one line."""

from typing import Any

import pytest

from a2c_smcp.documents.render.gist import gist
from a2c_smcp.types import ElementCategory
from tests.unit.documents.render.annual_report import TABLE


@pytest.mark.parametrize(
    ("category", "content", "told"),
    [
        ("text", {"text": "one\ntwo"}, "one two"),
        ("heading", {"level": 1, "text": "Results"}, "Results"),
        ("list", {"ordered": False, "items": ["a", {"text": "b"}, ""]}, "a; b"),
        ("code", {"text": "x = 1\ny = 2"}, "x = 1 y = 2"),
        ("table", TABLE.content, "季度, 收入（万元）, 同比增长 (4 × 3)"),
        ("table", {"headers": [], "rows": [[1]], "caption": "C", "total_rows": 9, "total_columns": 2}, "C (9 × 2)"),
        ("table", {"headers": [], "rows": []}, "(0 × 0)"),
        (
            "pivot_table",
            {"row_fields": ["R"], "column_fields": ["C"], "values": [{"field": "V", "name": "Sum of V"}]},
            "Sum of V / R × C",
        ),
        (
            "pivot_table",
            {"row_fields": ["R"], "column_fields": [], "values": [{"field": "V"}], "title": "T"},
            "T: V / R",
        ),
        ("chart", {"chart_type": "bar", "title": "T", "data_summary": "D"}, "T"),
        ("chart", {"chart_type": "bar", "title": "", "data_summary": "D"}, "D"),
        ("chart", {"chart_type": "bar", "title": "", "data_summary": ""}, "bar"),
        ("diagram", {"diagram_type": "flowchart"}, "flowchart"),
        ("image", {"alt": "A", "description": "D"}, "D"),
        ("formula", {"expression": "=A1"}, "=A1"),
        ("link", {"text": "", "url": "u"}, "u"),
        ("annotation", {"text": "T"}, "T"),
        ("annotation", {"text": "T", "author": "A"}, "A: T"),
        ("header", {"text": "T"}, "T"),
        ("footer", {"text": "T"}, "T"),
        ("separator", {"separator_type": "line"}, "line"),
        ("audio", {"transcript": "T"}, "T"),
        ("video", {}, ""),
        (
            "form",
            {"fields": [{"name": "a", "field_type": "text"}, {"name": "b", "field_type": "text", "label": "B"}]},
            "a, B",
        ),
        ("form", {"fields": [{"name": "a", "field_type": "text"}], "title": "T"}, "T: a"),
        ("widget", {"widget_type": "slicer", "value": 7}, "7"),
    ],
)
def test_a_gist_is_what_the_content_says(category: ElementCategory, content: dict[str, Any], told: str) -> None:
    assert gist(category, content) == told


def test_a_gist_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert gist("text", {"text": "word " * 100}, width=12) == "word word w…"
