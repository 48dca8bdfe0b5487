"""Plain text of every level and category."""

from typing import Any

import pytest

from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.render.text import (
    element_text,
    render_catalogue,
    render_document,
    render_document_with_pages,
    render_element,
    render_page,
)
from a2c_smcp.types import ElementCategory
from tests.unit.documents.render.annual_report import CONTRACT, ENTRIES, PAGE, REPORT, TABLE


@pytest.mark.rule("7.2.level2")
def test_the_page_of_the_specification() -> None:
    assert (
        render_page(REPORT, PAGE)
        == """\
2026 年度总结

本报告总结了 2026 年度公司在各业务领域的运营情况...

季度\t收入（万元）\t同比增长
Q1\t1,250\t+12%
Q2\t1,380\t+15%
Q3\t1,420\t+8%
Q4\t1,560\t+18%

[图表: 季度收入趋势] Q1-Q4 收入呈上升趋势，Q4 达到最高点 1,560 万元"""
    )


@pytest.mark.parametrize(
    ("category", "content", "summary", "text"),
    [
        ("text", {"text": "# not *Markdown*\n\n"}, "", "# not *Markdown*"),
        ("heading", {"level": 2, "text": "A\nB"}, "", "A B"),
        ("list", {"ordered": False, "items": ["a\nb", ""]}, "", "- a\n  b\n-"),
        (
            "list",
            {
                "ordered": True,
                "start": 9,
                "items": [
                    {"text": "a", "checked": True},
                    {"text": "b", "checked": False, "children": {"ordered": False, "items": ["c"]}},
                ],
            },
            "",
            "9. [x] a\n10. [ ] b\n    - c",
        ),
        ("code", {"text": "if x:\n    y\n"}, "", "if x:\n    y"),
        ("table", {"headers": ["a", "b"], "rows": [["x\ty\nz"], [1, None]]}, "", "a\tb\nx y z\t\n1\t"),
        (
            "table",
            {"headers": [], "rows": [["x"]], "caption": "C", "total_rows": 7},
            "",
            "C\nx\n[table: rows 1-1 of 7]",
        ),
        ("table", {"headers": [], "rows": []}, "Empty", "[table: Empty]"),
        (
            "pivot_table",
            {"row_fields": ["R"], "column_fields": [], "values": [{"field": "V"}], "headers": ["R"], "rows": [["x"]]},
            "",
            "[pivot_table: V / R]\nR\nx",
        ),
        (
            "chart",
            {
                "chart_type": "bar",
                "title": "T",
                "data_summary": "",
                "series": [{"name": "S", "values": [1, None, 2.5]}],
            },
            "",
            "[图表: T]\nS: 1, , 2.5",
        ),
        (
            "diagram",
            {
                "nodes": [{"id": "a", "text": "Order"}, {"id": "b", "text": ""}],
                "edges": [{"source": "a", "target": "b", "text": "then"}, {"source": "b", "target": "z"}],
                "source": "graph TD\n",
            },
            "S",
            "[diagram: S]\nOrder\nb\nOrder -> b: then\nb -> z\ngraph TD",
        ),
        ("image", {"alt": "A", "url": "u", "text": "WORDS"}, "", "[图片: A]\nu\nWORDS"),
        ("image", {"url": "u"}, "", "[图片: u]"),
        ("formula", {"expression": "=A1"}, "", "=A1"),
        ("formula", {"expression": "=A1", "value": 2.0}, "", "=A1 → 2"),
        ("link", {"text": "T", "url": "u"}, "", "T <u>"),
        ("link", {"text": "", "url": "u"}, "", "u"),
        (
            "annotation",
            {"text": "Why?", "author": "A", "target": "B5", "replies": [{"text": "So"}]},
            "",
            "[annotation: B5 — A: Why?]\n[annotation: B5 — So]",
        ),
        ("annotation", {"text": "long " * 50}, "", f"[annotation: {('long ' * 50).strip()}]"),
        ("header", {"text": "T"}, "S", "T"),
        ("footer", {"text": "T"}, "S", "T"),
        ("separator", {}, "", "[separator]"),
        ("audio", {"title": "T", "transcript": "Hello\n"}, "", "[audio: T]\nHello"),
        ("video", {}, "S", "[video: S]"),
        (
            "form",
            {
                "title": "T",
                "fields": [
                    {"name": "a", "field_type": "text", "value": 1},
                    {"name": "b", "field_type": "choice", "label": "B", "value": ["x", True]},
                    {"name": "c", "field_type": "text"},
                ],
            },
            "",
            "[form: T]\na: 1\nB: x, true\nc:",
        ),
        ("widget", {"widget_type": "slicer"}, "", "[widget: slicer]"),
    ],
)
def test_an_element_reads_well(category: ElementCategory, content: dict[str, Any], summary: str, text: str) -> None:
    assert element_text(Element("e", category, content, summary)) == text


def test_a_list_of_any_depth_loses_no_item() -> None:
    content: dict[str, Any] = {"ordered": False, "items": ["bottom"]}
    for _ in range(4_999):
        content = {"ordered": False, "items": [{"text": "item", "children": content}]}
    assert len(element_text(Element("e", "list", content)).splitlines()) == 5_000


def test_an_element_with_nothing_to_show_leaves_no_gap() -> None:
    page = Page(0, "", (Element("1", "text", {"text": ""}), Element("2", "text", {"text": "a"}), TABLE))
    assert render_page(REPORT, page, ["text"]) == "a"


@pytest.mark.rule("7.2.level3")
def test_an_element_alone_is_as_on_its_page() -> None:
    assert render_element(REPORT, 0, TABLE) == render_page(REPORT, Page(0, "", (TABLE,)))


@pytest.mark.rule("7.2.level1")
def test_the_document_is_a_line_a_fact() -> None:
    assert (
        render_document(REPORT)
        == """\
doc_ref: rpt-2026
uri: dpe://com.example.docs/rpt-2026
file_uri: file:///data/reports/2026-annual.xlsx
file_type: xlsx
title: 2026 年度报告
page_count: 12
keywords: 财务, 年报
summary: 2026 年度财务与运营报告
last_modified: 2026-01-15T08:30:00Z"""
    )


@pytest.mark.rule("7.2.level1")
def test_the_page_index_is_a_line_a_page() -> None:
    assert render_document_with_pages(REPORT, ENTRIES, 0, 20) == (
        f"{render_document(REPORT)}\npage_offset: 0\npage_limit: 20\npage_total: 12\n\n"
        "0\t概览\t8\tdpe://com.example.docs/rpt-2026/pages/0\n"
        "1\t收入分析\t15\tdpe://com.example.docs/rpt-2026/pages/1"
    )


def test_a_page_index_without_pages_ends_with_the_facts() -> None:
    document = Document("h", "d", "", "txt", "D", 0)
    assert render_document_with_pages(document, [], 0, 20).endswith("page_total: 0")


@pytest.mark.rule("7.2.level0")
def test_the_catalogue_is_a_block_a_document() -> None:
    assert render_catalogue([REPORT, CONTRACT]) == f"{render_document(REPORT)}\n\n{render_document(CONTRACT)}"


def test_controls_and_half_characters_are_replaced() -> None:
    assert element_text(Element("e", "text", {"text": "a\x00b\ud800"})) == "a\ufffdb\ufffd"
