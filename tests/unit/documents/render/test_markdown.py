"""Markdown by the rendering table."""

from typing import Any

import pytest

from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render.markdown import (
    MAX_LIST_DEPTH,
    element_markdown,
    render_catalogue,
    render_document,
    render_document_with_pages,
    render_element,
    render_page,
)
from a2c_smcp.types import ElementCategory
from tests.unit.documents.render.annual_report import CONTRACT, ENTRIES, PAGE, REPORT, TABLE
from tests.unit.documents.render.structure import blocks


def markdown_of(category: ElementCategory, content: dict[str, Any], summary: str = "") -> str:
    return element_markdown(Element("e", category, content, summary))


@pytest.mark.rule("7.8.table")
def test_the_page_of_the_specification() -> None:
    assert (
        render_page(REPORT, PAGE)
        == """\
# 2026 年度总结

本报告总结了 2026 年度公司在各业务领域的运营情况...

| 季度 | 收入（万元） | 同比增长 |
| --- | --- | --- |
| Q1 | 1,250 | +12% |
| Q2 | 1,380 | +15% |
| Q3 | 1,420 | +8% |
| Q4 | 1,560 | +18% |

[图表: 季度收入趋势] Q1-Q4 收入呈上升趋势，Q4 达到最高点 1,560 万元"""
    )


@pytest.mark.rule("7.8.table")
@pytest.mark.parametrize(
    ("category", "content", "summary", "markdown"),
    [
        ("heading", {"level": 1, "text": "A"}, "", "# A"),
        ("heading", {"level": 3, "text": "A"}, "", "### A"),
        ("heading", {"level": 0, "text": "A"}, "", "# A"),
        ("heading", {"level": 9, "text": "A\nB"}, "", "###### A B"),
        ("heading", {"level": 2, "text": ""}, "", "##"),
        ("text", {"text": "one\ntwo\n\nthree"}, "", "one\ntwo\n\nthree"),
        ("text", {"text": " \n "}, "", ""),
        ("list", {"ordered": False, "items": ["a", "b"]}, "", "- a\n- b"),
        ("list", {"ordered": True, "items": ["a", "b"]}, "", "1. a\n2. b"),
        ("list", {"ordered": True, "start": 9, "items": ["a", "b\nc"]}, "", "9. a\n10. b\n    c"),
        ("list", {"ordered": False, "items": ["a\n\nb", ""]}, "", "- a\n\n  b\n-"),
        ("list", {"ordered": False, "items": []}, "", ""),
        (
            "list",
            {"ordered": False, "items": [{"text": "a", "checked": True}, {"text": "", "checked": False}]},
            "",
            "- [x] a\n- [ ]",
        ),
        ("code", {"text": "x = 1", "language": "python"}, "", "```python\nx = 1\n```"),
        ("code", {"text": "x = 1\n\n"}, "", "```\nx = 1\n\n```"),
        ("code", {"text": ""}, "", "```\n```"),
        ("code", {"text": "```\n````"}, "", "`````\n```\n````\n`````"),
        ("code", {"text": "x", "language": "c` --x"}, "", "```c\nx\n```"),
        ("chart", {"chart_type": "bar", "title": "T", "data_summary": "D"}, "", "[图表: T] D"),
        ("chart", {"chart_type": "bar", "title": "T", "data_summary": ""}, "", "[图表: T]"),
        ("image", {"alt": "A", "url": "https://e.com/a.png"}, "", "![A](https://e.com/a.png)"),
        ("image", {"url": "https://e.com/a.png", "description": "D"}, "S", "![D](https://e.com/a.png)"),
        ("image", {"url": "https://e.com/a.png"}, "S", "![S](https://e.com/a.png)"),
        ("image", {"description": "D", "alt": "A"}, "S", "[图片: D]"),
        ("image", {"alt": "A"}, "S", "[图片: A]"),
        ("image", {}, "S", "[图片: S]"),
        ("image", {"url": "data:image/png;base64,AA==", "alt": "A"}, "", "![A](data:image/png;base64,AA==)"),
        ("image", {"url": "javascript:x", "alt": "A"}, "", "[图片: A]"),
        ("link", {"text": "T", "url": "https://e.com"}, "", "[T](https://e.com)"),
        ("link", {"text": "", "url": "https://e.com"}, "", "[https://e.com](https://e.com)"),
        ("formula", {"expression": "=SUM(B2:B4)", "value": 3}, "", "$ =SUM(B2:B4) $"),
        ("formula", {"expression": r"\frac{a}{b}"}, "", r"$ \frac{a}{b} $"),
        ("formula", {"expression": ""}, "", "$ $"),
        ("pivot_table", {"row_fields": ["R"], "column_fields": [], "values": []}, "S", "[pivot_table: S]"),
        ("diagram", {}, "S", "[diagram: S]"),
        ("annotation", {"text": "T"}, "S", "[annotation: S]"),
        ("header", {"text": "T"}, "S", "[header: S]"),
        ("footer", {"text": "T"}, "S", "[footer: S]"),
        ("separator", {}, "S", "[separator: S]"),
        ("audio", {}, "S", "[audio: S]"),
        ("video", {}, "S", "[video: S]"),
        ("form", {"fields": []}, "S", "[form: S]"),
        ("widget", {"widget_type": "w"}, "S", "[widget: S]"),
    ],
)
def test_an_element_by_the_table(
    category: ElementCategory, content: dict[str, Any], summary: str, markdown: str
) -> None:
    assert markdown_of(category, content, summary) == markdown


def test_where_nobody_wrote_a_summary_the_content_speaks() -> None:
    assert markdown_of("header", {"text": "Annual\nreport"}) == "[header: Annual report]"


def test_an_element_that_says_nothing_is_its_category() -> None:
    assert markdown_of("separator", {}) == "[separator]"


@pytest.mark.rule("7.8.escape")
def test_a_table_is_padded_and_shows_values_as_a_reader_expects() -> None:
    content = {"headers": ["a"], "rows": [[None, True, 12.0], [0.5, float("nan"), 1e300], []]}
    assert markdown_of("table", content) == (
        "| a |  |  |\n| --- | --- | --- |\n|  | true | 12 |\n| 0.5 |  | 1e+300 |\n|  |  |  |"
    )


@pytest.mark.rule("7.8.escape")
def test_a_cell_keeps_to_its_row_and_column() -> None:
    content = {"headers": ["a|b"], "rows": [["one\n\ntwo"], ["`x|y`\\"], ["<b> & [c](d)"]]}
    assert markdown_of("table", content) == (
        "| a\\|b |\n| --- |\n| one<br>two |\n| \\`x\\|y\\`\\\\ |\n| \\<b> & [c\\](d) |"
    )


def test_a_table_without_columns_has_no_markdown_form() -> None:
    assert markdown_of("table", {"headers": [], "rows": [[], []]}, "Empty") == "[table: Empty]"


def test_a_caption_stands_above_its_table() -> None:
    content = {"headers": ["a"], "rows": [], "caption": "Revenue"}
    assert markdown_of("table", content) == "Revenue\n\n| a |\n| --- |"


@pytest.mark.parametrize(
    ("window", "note"),
    [
        ({"total_rows": 100}, "[table: rows 1-1 of 100]"),
        ({"row_offset": 98, "total_rows": 100}, "[table: rows 99-99 of 100]"),
        ({"row_offset": 98}, "[table: rows 99-99 of 99]"),
    ],
)
def test_a_table_says_when_it_has_more_rows(window: dict[str, int], note: str) -> None:
    assert markdown_of("table", {"headers": ["a"], "rows": [["x"]], **window}) == f"| a |\n| --- |\n| x |\n\n{note}"


def test_a_table_window_past_the_end_says_so() -> None:
    content = {"headers": ["a"], "rows": [], "row_offset": 200, "total_rows": 100}
    assert markdown_of("table", content) == "| a |\n| --- |\n\n[table: no rows of 100]"


@pytest.mark.rule("7.8.escape")
@pytest.mark.parametrize(
    ("content", "markdown"),
    [
        ({"text": "a]b", "url": "https://e.com/x y"}, r"[a\]b](https://e.com/x%20y)"),
        ({"text": "*a*\nb", "url": "https://e.com/a_(b)"}, r"[\*a\* b](<https://e.com/a_(b)>)"),
        ({"text": "a", "url": 'https://e.com/"<>\\^`{|}\n'}, "[a](https://e.com/%22%3C%3E%5C%5E%60%7B%7C%7D)"),
        ({"text": "a", "url": "https://e.com/?a=1&copy=2&copy;"}, "[a](https://e.com/?a=1&copy=2&amp;copy;)"),
        ({"text": "a", "url": "https://e.com/中文"}, "[a](https://e.com/中文)"),
        ({"text": "a", "url": ""}, "[a]()"),
    ],
)
def test_a_link_goes_where_it_should(content: dict[str, Any], markdown: str) -> None:
    assert markdown_of("link", content) == markdown


@pytest.mark.rule("7.8.escape")
@pytest.mark.parametrize("url", ["javascript:alert(1)", " JavaScript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_a_link_that_could_run_is_shown_but_is_no_link(url: str) -> None:
    assert blocks(markdown_of("link", {"text": "a", "url": url})) == [("paragraph", f"[a]({url.strip()})")]


def test_a_dollar_sign_does_not_end_a_formula() -> None:
    assert markdown_of("formula", {"expression": "a$b\n$c$"}) == r"$ a\$b \$c\$ $"


@pytest.mark.parametrize("ordered", [True, False])
def test_two_neighbouring_lists_stay_two(ordered: bool) -> None:
    one = Element("1", "list", {"ordered": ordered, "items": ["a"]})
    two = Element("2", "list", {"ordered": ordered, "items": ["a"]})
    found = blocks(render_page(REPORT, Page(0, "", (one, two))))
    same = ("list", ordered, 1, [[("paragraph", "a")]])
    assert found == [same, ("html", "<!-- -->"), same]


def test_lists_of_two_kinds_need_nothing_between_them() -> None:
    one = Element("1", "list", {"ordered": True, "items": ["a"]})
    two = Element("2", "list", {"ordered": False, "items": ["b"]})
    assert render_page(REPORT, Page(0, "", (one, two))) == "1. a\n\n- b"


def test_an_element_with_nothing_to_show_leaves_no_gap() -> None:
    page = Page(0, "", (Element("1", "text", {"text": "a"}), Element("2", "text", {"text": ""}), TABLE))
    assert render_page(REPORT, page, ["text"]) == "a"


@pytest.mark.parametrize("depth", [MAX_LIST_DEPTH, MAX_LIST_DEPTH + 1, 5_000])
def test_a_list_of_any_depth_loses_no_item(depth: int) -> None:
    content: dict[str, Any] = {"ordered": False, "items": ["bottom"]}
    for _ in range(depth - 1):
        content = {"ordered": False, "items": [{"text": "item", "children": content}]}
    markdown = markdown_of("list", content)
    assert str(blocks(markdown)).count("'item'") == depth - 1
    assert markdown.rpartition("\n")[2] == "  " * (MAX_LIST_DEPTH - 1) + "- bottom"


@pytest.mark.rule("7.2.level3", "7.8.table")
def test_an_element_alone_is_as_on_its_page() -> None:
    assert render_element(REPORT, 0, TABLE) == render_page(REPORT, Page(0, "", (TABLE,)))


@pytest.mark.rule("7.2.level0")
def test_the_catalogue_is_a_table_whose_titles_lead_to_the_documents() -> None:
    assert render_catalogue([REPORT, CONTRACT]).splitlines() == [
        "| title | file_type | page_count | last_modified | keywords | summary |",
        "| --- | --- | --- | --- | --- | --- |",
        (
            "| [2026 年度报告](dpe://com.example.docs/rpt-2026) | xlsx | 12 | 2026-01-15T08:30:00Z | 财务, 年报 "
            "| 2026 年度财务与运营报告 |"
        ),
        "| [A1 合同](dpe://com.example.docs/contract-a1) | pdf | 5 | 2026-02-01T14:00:00Z | 合同 | A1 项目服务合同 |",
    ]


@pytest.mark.rule("7.2.level1")
def test_the_document_is_its_title_its_facts_and_its_summary() -> None:
    assert (
        render_document(REPORT)
        == """\
# 2026 年度报告

- uri: <dpe://com.example.docs/rpt-2026>
- file_uri: file:///data/reports/2026-annual.xlsx
- file_type: xlsx
- page_count: 12
- keywords: 财务, 年报
- last_modified: 2026-01-15T08:30:00Z

2026 年度财务与运营报告"""
    )


@pytest.mark.rule("7.2.level1")
def test_the_page_index_is_a_table_whose_titles_lead_to_the_pages() -> None:
    assert render_document_with_pages(REPORT, [*ENTRIES, PageEntry(2, "", 0)], 0, 20).endswith(
        """\
- last_modified: 2026-01-15T08:30:00Z
- page_offset: 0
- page_limit: 20
- page_total: 12

2026 年度财务与运营报告

| page_index | title | element_count |
| --- | --- | --- |
| 0 | [概览](dpe://com.example.docs/rpt-2026/pages/0) | 8 |
| 1 | [收入分析](dpe://com.example.docs/rpt-2026/pages/1) | 15 |
| 2 | [2](dpe://com.example.docs/rpt-2026/pages/2) | 0 |"""
    )


def test_a_document_of_which_little_is_known_leaves_the_rest_out() -> None:
    assert render_document(Document("h", "d", "", "txt", "", 0)) == (
        "# d\n\n- uri: <dpe://h/d>\n- file_type: txt\n- page_count: 0"
    )
