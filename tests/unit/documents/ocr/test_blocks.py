"""Answers as blocks: Markdown, tables in HTML, and layouts in JSON."""

import json
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.ocr.blocks import blocks_of
from a2c_smcp.documents.ocr.model import OcrBlock


def test_markdown_becomes_blocks() -> None:
    assert blocks_of("```markdown\n# Title\n\nText\n\n- a\n- b\n```") == (
        OcrBlock("heading", {"level": 1, "text": "Title"}),
        OcrBlock("text", {"text": "Text"}),
        OcrBlock("list", {"ordered": False, "items": ["a", "b"]}),
    )


def test_a_table_in_html_is_a_table_between_its_texts() -> None:
    text = "Before\n\n<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>\n\nAfter"
    assert blocks_of(text) == (
        OcrBlock("text", {"text": "Before"}),
        OcrBlock("table", {"headers": ["a", "b"], "rows": [["1", "2"]]}),
        OcrBlock("text", {"text": "After"}),
    )


LAYOUT: list[dict[str, Any]] = [
    {"bbox": [10, 10, 90, 20], "category": "Title", "text": "# Report"},
    {"bbox": [10, 30, 90, 40], "category": "Section-header", "text": "## Part"},
    {"bbox": [10, 50, 90, 60], "category": "List-item", "text": "- one"},
    {"bbox": [10, 60, 80, 70], "category": "List-item", "text": "- two"},
    {"bbox": [10, 80, 90, 90], "category": "Table", "text": "<table><tr><td>1</td><td>2</td></tr></table>"},
    {"bbox": [10, 90, 90, 95], "category": "Formula", "text": "$$x^2$$"},
    {"bbox": [10, 95, 90, 97], "category": "Picture"},
    {"bbox": [10, 97, 90, 98], "category": "Footnote", "text": "1 see"},
    {"bbox": [10, 98, 90, 99], "category": "Page-footer", "text": "7"},
    {"bbox": [10, 99, 90, 99], "category": "Text", "text": "end"},
]


def test_a_layout_keeps_its_categories_and_places() -> None:
    assert blocks_of(json.dumps(LAYOUT)) == (
        OcrBlock("heading", {"level": 1, "text": "Report"}, (10, 10, 90, 20)),
        OcrBlock("heading", {"level": 2, "text": "Part"}, (10, 30, 90, 40)),
        OcrBlock("list", {"ordered": False, "items": ["one", "two"]}, (10, 50, 90, 70)),
        OcrBlock("table", {"headers": [], "rows": [["1", "2"]]}, (10, 80, 90, 90)),
        OcrBlock("formula", {"expression": "x^2", "notation": "latex"}, (10, 90, 90, 95)),
        OcrBlock("image", {"alt": ""}, (10, 95, 90, 97)),
        OcrBlock("annotation", {"text": "1 see", "annotation_type": "footnote"}, (10, 97, 90, 98)),
        OcrBlock("footer", {"text": "7"}, (10, 98, 90, 99)),
        OcrBlock("text", {"text": "end"}, (10, 99, 90, 99)),
    )


@pytest.mark.parametrize(
    "cells",
    [
        [{"bbox": [1, 2, 3], "category": "Text", "text": "x"}],
        [{"bbox": ["a", 2, 3, 4], "category": "Text", "text": "x"}],
        [{"bbox": [5, 2, 3, 4], "category": "Text", "text": "x"}],
        [{"bbox": [-1, 2, 3, 4], "category": "Text", "text": "x"}],
    ],
)
def test_a_layout_with_impossible_places_is_taken_as_text(cells: object) -> None:
    [block] = blocks_of(json.dumps(cells))
    assert block.category == "text"
    assert block.box is None


def test_all_blocks_have_the_shape_of_their_category() -> None:
    for block in blocks_of(json.dumps(LAYOUT)):
        validate_content(block.category, dict(block.content))
