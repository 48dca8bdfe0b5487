"""The content shapes and their validation."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.content import SHAPES, validate_content
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import CATEGORIES

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "dpe"

# Each category with only what it must say, then with all that it can say.
EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": "First paragraph.\n\nSecond paragraph."}),
    ("heading", {"level": 1, "text": "Results"}),
    ("list", {"ordered": False, "items": ["milk", "bread"]}),
    (
        "list",
        {
            "ordered": True,
            "start": 3,
            "items": ["plain", {"text": "done", "checked": True, "children": {"ordered": False, "items": ["inner"]}}],
        },
    ),
    ("code", {"text": "print(1)"}),
    ("code", {"text": "print(1)", "language": "python"}),
    ("table", {"headers": [], "rows": []}),
    (
        "table",
        {
            "headers": ["Quarter", 2026, None],
            "rows": [["Q1", 1.5, True], []],
            "merged": [{"row": 0, "column": 1, "row_span": 1, "column_span": 2}],
            "caption": "Revenue",
            "row_offset": 100,
            "total_rows": 100_000,
            "total_columns": 3,
        },
    ),
    ("pivot_table", {"row_fields": ["Region"], "column_fields": [], "values": [{"field": "Sales"}]}),
    (
        "pivot_table",
        {
            "row_fields": ["Region"],
            "column_fields": ["Year"],
            "values": [{"field": "Sales", "function": "sum", "name": "Sum of sales"}],
            "filter_fields": ["Product"],
            "title": "Sales",
            "source": "Data!A1:F900",
            "headers": ["Region", "2025"],
            "rows": [["North", 7]],
        },
    ),
    ("chart", {"chart_type": "line", "title": "", "data_summary": ""}),
    (
        "chart",
        {
            "chart_type": "bar",
            "title": "Sales",
            "data_summary": "Rising",
            "series": [{"name": "2026", "values": [1, 2.5, None], "categories": ["a", 2, None], "chart_type": "line"}],
            "x_title": "Month",
            "y_title": "EUR",
            "source": "Data!A1:B3",
        },
    ),
    ("diagram", {}),
    (
        "diagram",
        {
            "diagram_type": "flowchart",
            "title": "Order",
            "description": "From order to payment",
            "nodes": [{"id": "a", "text": "Order"}, {"id": "b", "text": "Pay", "parent": "a"}],
            "edges": [{"source": "a", "target": "b", "text": "then"}],
            "source": "graph TD; a-->b",
            "language": "mermaid",
        },
    ),
    ("image", {}),
    (
        "image",
        {
            "alt": "A cat",
            "url": "https://example.com/cat.png",
            "description": "A cat on a sofa",
            "text": "MEOW",
            "mime_type": "image/png",
            "width": 640,
            "height": 480,
        },
    ),
    ("formula", {"expression": "=SUM(B2:B4)"}),
    ("formula", {"expression": "=SUM(B2:B4)", "value": 12.5, "location": "B5", "notation": "excel"}),
    ("link", {"text": "Home", "url": "https://example.com"}),
    ("link", {"text": "Home", "url": "https://example.com", "title": "The home page"}),
    ("annotation", {"text": "Really?"}),
    (
        "annotation",
        {
            "text": "Really?",
            "annotation_type": "comment",
            "author": "reviewer",
            "created": "2026-01-15T08:30:00Z",
            "target": "B5",
            "replies": [{"text": "Yes", "author": "author", "created": "2026-01-16T08:30:00Z"}],
        },
    ),
    ("header", {"text": "Annual report"}),
    ("footer", {"text": "Page 1 of 12"}),
    ("separator", {}),
    ("separator", {"separator_type": "page_break"}),
    ("audio", {}),
    (
        "audio",
        {
            "title": "Interview",
            "url": "https://example.com/a.mp3",
            "description": "Two voices",
            "mime_type": "audio/mpeg",
            "duration": 61.5,
            "transcript": "Good morning.",
        },
    ),
    ("video", {}),
    ("video", {"title": "Tour", "url": "https://example.com/v.mp4", "duration": 3, "width": 1920, "height": 1080}),
    ("form", {"fields": []}),
    (
        "form",
        {
            "title": "Registration",
            "action": "https://example.com/register",
            "fields": [
                {
                    "name": "days",
                    "field_type": "choice",
                    "label": "Days",
                    "value": ["Mon", 2, None],
                    "options": ["Mon", "Tue"],
                    "required": True,
                    "read_only": False,
                }
            ],
        },
    ),
    ("widget", {"widget_type": "slicer"}),
    ("widget", {"widget_type": "slicer", "name": "s1", "label": "Region", "value": "North", "description": "Filters"}),
]


@pytest.mark.rule("7.2.categories")
def test_every_category_has_a_shape_and_no_other_has() -> None:
    assert tuple(SHAPES) == CATEGORIES


@pytest.mark.rule("7.2.categories")
@pytest.mark.parametrize(("category", "content"), EXAMPLES)
def test_a_content_of_its_shape_comes_back_itself(category: str, content: dict[str, Any]) -> None:
    assert validate_content(category, content) is content


def test_the_examples_cover_every_category() -> None:
    assert {category for category, _ in EXAMPLES} == set(CATEGORIES)


@pytest.mark.rule("7.2.level2", "7.2.level3")
def test_the_contents_that_the_specification_prints_are_valid() -> None:
    page = json.loads((GOLDEN / "level2.json").read_text(encoding="utf-8"))
    element = json.loads((GOLDEN / "level3.json").read_text(encoding="utf-8"))
    for printed in [*page["elements"], element]:
        validate_content(printed["category"], printed["content"])


def test_keys_that_a_shape_does_not_name_are_kept() -> None:
    content = {"text": "x", "language_hint": "en"}
    assert validate_content("text", content) == {"text": "x", "language_hint": "en"}


@pytest.mark.parametrize(
    ("category", "content", "problem"),
    [
        ("heading", {"level": "1", "text": "x"}, "level: Input should be a valid integer"),
        ("heading", {"level": True, "text": "x"}, "level: Input should be a valid integer"),
        ("heading", {"level": 0, "text": "x"}, "level: Input should be greater than or equal to 1"),
        ("text", {}, "text: Field required"),
        ("text", [], "content: Input should be a valid dictionary"),
        (
            "list",
            {"ordered": False, "items": [7]},
            "items.0: Input should be a valid string, or Input should be a valid dictionary",
        ),
        ("list", {"ordered": False, "items": [{"text": 1}]}, "items.0.text: Input should be a valid string"),
        (
            "table",
            {"headers": [], "rows": [[float("nan")]]},
            (
                "rows.0.0: Input should be a valid string, or Input should be a valid integer, "
                "or Input should be a finite number, or Input should be a valid boolean"
            ),
        ),
        ("form", {"fields": [{"name": "a"}]}, "fields.0.field_type: Field required"),
    ],
)
def test_a_refusal_names_the_place_and_what_would_do(category: str, content: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRequest) as refused:
        validate_content(category, content)
    assert refused.value.message.startswith(f"The content of this {category} element is not valid: ")
    assert refused.value.details is not None
    assert problem in refused.value.details["problems"]


def test_a_refusal_names_every_place_but_not_thousands() -> None:
    with pytest.raises(BadRequest) as refused:
        validate_content("table", {"headers": [], "rows": [[object()] * 1_000]})
    assert refused.value.details is not None
    problems = refused.value.details["problems"]
    assert [problem.partition(":")[0] for problem in problems] == [*(f"rows.0.{n}" for n in range(10)), "and 990 more"]


def test_an_unknown_category_is_refused_with_those_that_exist() -> None:
    with pytest.raises(BadRequest, match="no element category 'poem'; the categories are text, heading"):
        validate_content("poem", {})


def test_a_list_nested_beyond_reason_is_refused() -> None:
    content: dict[str, Any] = {"ordered": False, "items": []}
    for _ in range(2_000):
        content = {"ordered": False, "items": [{"text": "", "children": content}]}
    with pytest.raises(BadRequest, match="content: nested too deeply"):
        validate_content("list", content)
