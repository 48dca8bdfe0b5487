"""Whatever a document contains, its Markdown parses back to the intended structure."""

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.render import escape
from a2c_smcp.documents.render.markdown import (
    element_markdown,
    render_catalogue,
    render_document,
    render_document_with_pages,
    render_page,
)
from a2c_smcp.documents.render.values import clean
from a2c_smcp.types import CATEGORIES, ElementCategory
from tests.unit.documents.render.strategies import lists, texts
from tests.unit.documents.render.structure import PARSER, Block, blocks, shown

pytestmark = pytest.mark.rule("7.8.escape")

DOCUMENT = Document("h", "d", "file:///d.txt", "txt", "D", 1)
SUMMARIZED = [
    category
    for category in CATEGORIES
    if category not in {"heading", "text", "table", "list", "code", "chart", "image", "link", "formula"}
]


def parsed(category: ElementCategory, content: dict[str, Any], summary: str = "") -> list[Block]:
    return blocks(element_markdown(Element("e", category, content, summary)))


def line(text: str) -> str:
    return shown(clean(text))


def paragraphs(text: str) -> list[Block]:
    return [("paragraph", shown(part)) for part in re.split(r"\n\s*\n", clean(text)) if part.strip()]


def code(text: str) -> Block:
    text = clean(text)
    return ("code", "", text + "\n" if text and not text.endswith("\n") else text)


def listed(content: dict[str, Any]) -> list[Block]:
    items = [listed_item(item) for item in content["items"]]
    start = min(content.get("start", 1), 999_999_999) if content["ordered"] else 1
    return [("list", content["ordered"], start, items)] if items else []


def listed_item(item: str | dict[str, Any]) -> list[Block]:
    if isinstance(item, str):
        return paragraphs(item)
    text = paragraphs(item["text"])
    if "checked" in item:
        box = "[x]" if item["checked"] else "[ ]"
        text = [("paragraph", f"{box} {text[0][1]}"), *text[1:]] if text else [("paragraph", box)]
    return text + (listed(item["children"]) if "children" in item else [])


@given(texts)
def test_text_is_its_paragraphs(text: str) -> None:
    assert parsed("text", {"text": text}) == paragraphs(text)


@given(texts, st.integers(-1, 9))
def test_a_heading_is_one_heading(text: str, level: int) -> None:
    assert parsed("heading", {"level": level, "text": text}) == [("heading", min(max(level, 1), 6), line(text))]


@given(st.lists(st.lists(texts, max_size=3), min_size=1, max_size=4))
def test_a_table_has_its_rows_its_columns_and_its_cells(lines: list[list[str]]) -> None:
    width = max(map(len, lines))
    assume(width)
    padded = [[line(text) for text in row] + [""] * (width - len(row)) for row in lines]
    assert parsed("table", {"headers": lines[0], "rows": lines[1:]}) == [("table", padded)]


@given(lists)
def test_a_list_has_its_items_its_numbers_and_its_nesting(content: dict[str, Any]) -> None:
    assert parsed("list", content) == listed(content)


@given(texts, texts)
def test_code_is_one_block_with_every_character(text: str, language: str) -> None:
    [(kind, _, content)] = parsed("code", {"text": text, "language": language})
    assert (kind, "", content) == code(text)


@given(texts, texts)
def test_a_chart_is_one_line(title: str, data_summary: str) -> None:
    content = {"chart_type": "bar", "title": title, "data_summary": data_summary}
    expected = f"[图表: {clean(title).strip()}] {data_summary}"
    assert parsed("chart", content) == [("paragraph", line(expected))]


@given(texts)
def test_a_formula_is_one_line(expression: str) -> None:
    assert parsed("formula", {"expression": expression}) == [("paragraph", line(f"$ {expression} $"))]


@given(texts, texts)
def test_a_link_is_a_link_or_shown_as_text(text: str, url: str) -> None:
    found = parsed("link", {"text": text, "url": url})
    if escape.is_linkable(url):
        [(kind, [(link, _), *label, (end,)])] = found
        assert (kind, link, end) == ("paragraph", "link", "end of link")
        assert label == [told for told in [line(text) or line(url)] if told]
    else:
        assert found == [("paragraph", line(f"[{clean(text).strip()}]({clean(url).strip()})"))]


@given(texts, texts)
def test_an_image_is_an_image_or_shown_as_text(alt: str, url: str) -> None:
    found = parsed("image", {"alt": alt, "url": url, "description": "D"})
    told = line(alt) if alt else "D"
    if url.strip() and escape.is_linkable(url):
        [(kind, [(image, _, label)])] = found
        assert (kind, image, label) == ("paragraph", "image", told)
    else:
        assert found == [("paragraph", "[图片: D]")]


@given(st.from_regex(r"https?://[a-z]+\.example/[!-~]*", fullmatch=True))
def test_a_link_leads_where_its_url_says(url: str) -> None:
    [(_, [(_, href), *_])] = parsed("link", {"text": "x", "url": url})
    assert href == PARSER.normalizeLink(url)


@given(st.sampled_from(SUMMARIZED), texts.filter(str.strip))
def test_what_has_no_form_of_its_own_is_one_line(category: ElementCategory, summary: str) -> None:
    expected = f"[{category}: {clean(summary).strip()}]"
    assert parsed(category, {}, summary) == [("paragraph", line(expected))]


def elements() -> st.SearchStrategy[tuple[Element, list[Block]]]:
    return st.one_of(
        texts.map(lambda text: (Element("e", "text", {"text": text}), paragraphs(text))),
        texts.map(lambda text: (Element("e", "heading", {"level": 2, "text": text}), [("heading", 2, line(text))])),
        texts.map(lambda text: (Element("e", "code", {"text": text}), [code(text)])),
        texts.map(
            lambda text: (
                Element("e", "table", {"headers": [text], "rows": [[text]]}),
                [("table", [[line(text)], [line(text)]])],
            )
        ),
        lists.map(lambda content: (Element("e", "list", content), listed(content))),
        lists.map(lambda content: (Element("e", "list", content), listed(content))),
    )


@given(st.lists(elements(), max_size=5))
def test_a_page_is_the_sequence_of_its_elements(made: list[tuple[Element, list[Block]]]) -> None:
    page = Page(0, "", tuple(Element(str(n), e.category, e.content) for n, (e, _) in enumerate(made)))
    found = [block for block in blocks(render_page(DOCUMENT, page)) if block != ("html", "<!-- -->")]
    assert found == [block for _, expected in made for block in expected]


@given(texts.filter(str.strip), texts, texts)
def test_the_catalogue_is_one_table_whatever_the_documents_say(title: str, keyword: str, summary: str) -> None:
    document = Document("h", "d", "", "txt", title, 1, (keyword,), summary)
    [(kind, [headers, cells])] = blocks(render_catalogue([document]))
    assert (kind, len(headers), len(cells)) == ("table", 6, 6)
    assert [cells[0], *cells[1:]] == [
        [("link", "dpe://h/d"), line(title), ("end of link",)],
        *("txt", "1", "", line(keyword), line(summary)),
    ]


@given(texts.filter(str.strip), texts.filter(str.strip), texts)
def test_a_document_is_heading_facts_and_summary_whatever_they_say(title: str, file_uri: str, summary: str) -> None:
    document = Document("h", "d", file_uri, "txt", title, 1, (), summary)
    heading, (kind, ordered, _, facts), *rest = blocks(render_document(document))
    assert (heading, kind, ordered) == (("heading", 1, line(title)), "list", False)
    assert facts[1] == [("paragraph", line(f"file_uri: {file_uri}"))]
    assert rest == paragraphs(summary)


@given(texts.filter(str.strip))
def test_the_page_index_is_one_table_whatever_the_titles_say(title: str) -> None:
    index = blocks(render_document_with_pages(DOCUMENT, [Page(0, title).entry], 0, 20))[-1]
    link = [("link", "dpe://h/d/pages/0"), line(title), ("end of link",)]
    assert index == ("table", [["page_index", "title", "element_count"], ["0", link, "0"]])
