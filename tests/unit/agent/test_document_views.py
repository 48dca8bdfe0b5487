"""What is read from replies that any MCP server may have written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.document_views import (
    DocumentView,
    ElementView,
    PageView,
    TokenBudget,
    content_of,
    elements_of,
    known_documents,
    page_total,
    page_window,
)
from a2c_smcp.common.token_estimate import estimate_tokens

JUNK: dict[str, Any] = {
    "title": 3,
    "page_count": -1,
    "keywords": "x",
    "summary": None,
    "last_modified": 5,
    "content": [],
}


def document(**data: Any) -> DocumentView:
    return DocumentView("c", "dpe://h/a%2Fb", data)


def test_a_document_tells_its_facts() -> None:
    told = document(
        title="T", page_count=2, keywords=["k", 3], summary="s", last_modified="2026-01-01", file_type="pdf"
    )
    facts = (told.title, told.page_count, told.keywords, told.summary, told.last_modified, told.file_type, told.doc_ref)
    assert facts == ("T", 2, ("k",), "s", "2026-01-01", "pdf", "a/b")
    assert told.uri_of("pages/3", format="text") == "dpe://h/a%2Fb/pages/3?format=text"


def test_what_is_not_as_it_should_be_is_as_if_it_were_not_there() -> None:
    told = document(**JUNK)
    assert (told.title, told.page_count, told.keywords, told.summary, told.last_modified) == ("a/b", 0, (), "", None)
    element = ElementView("dpe://h/d/elements/e", "e", JUNK)
    assert (element.content, element.metadata, element.category, element.page_index) == ({}, {}, "", None)


def test_documents_without_a_readable_uri_are_passed_over_and_each_comes_once() -> None:
    told = [{"uri": "dpe://h/a?x=1"}, {"uri": "dpe://h/a"}, {"uri": "http://x"}, {"uri": "dpe://h"}, {}, "junk"]
    assert list(known_documents({"documents": told}, set())) == [("dpe://h/a", {"uri": "dpe://h/a?x=1"})]
    assert list(known_documents({"documents": told}, {"dpe://h/a"})) == []


def test_the_latest_word_on_how_many_pages_there_are_counts() -> None:
    assert page_total(document(page_count=2), {"page_total": 5, "page_count": 3}) == 5
    assert page_total(document(page_count=2), {"page_total": "many"}) == 2


def test_a_page_index_comes_in_order_from_where_one_starts() -> None:
    reply = {"pages": [{"page_index": n} for n in (3, 1, 2, 0)] + [{"page_index": True}, {}, None]}
    assert [index for index, _ in page_window(reply, 1, 9)] == [1, 2, 3]
    assert page_window({}, 1, 3) == [(1, {}), (2, {})]
    assert len(page_window({}, 0, 10**15)) == 100_000


def test_elements_without_an_id_are_passed_over() -> None:
    assert list(elements_of({"elements": [{"element_id": "e"}, {}, "junk"]})) == [("e", {"element_id": "e"})]
    assert list(elements_of({"elements": None})) == []


@pytest.mark.parametrize(
    ("reply", "markdown", "text"),
    [
        ({"content_markdown": "# M"}, "# M", "# M"),
        ({"content_text": "plain"}, "plain", "plain"),
        ({"element_id": "e", "category": "heading", "content": {"level": 2, "text": "*H*"}}, "## \\*H\\*", "*H*"),
        (
            {"elements": [{"element_id": "e", "category": "widget", "summary": "a dial"}]},
            "[widget: a dial]",
            "[widget: a dial]",
        ),
        (
            {"elements": [{"element_id": "e", "category": "text", "content": {"text": 3}, "summary": "s"}]},
            "[text: s]",
            "[text: s]",
        ),
        ({"elements": [{"element_id": "e", "category": "poem", "content": {"text": "rose"}}]}, "rose", "rose"),
        ({"elements": [{"element_id": "e", "category": "poem"}, {"element_id": "f"}]}, "", ""),
        ({}, "", ""),
    ],
)
def test_a_page_is_words_whatever_the_server_answers(reply: dict[str, Any], markdown: str, text: str) -> None:
    assert (content_of(reply, "markdown"), content_of(reply, "text")) == (markdown, text)


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(0, 120), st.sampled_from([estimate_tokens, len]))
def test_passages_stay_within_the_budget_and_leave_off_where_they_say(
    pages: list[str], tokens: int, count: Any
) -> None:
    budget = TokenBudget(tokens, count)
    paid = 0
    for index, markdown in enumerate(pages):
        passage = budget.take(PageView(f"dpe://h/d/pages/{index}", index), markdown)
        if passage is None:
            break
        paid += passage.tokens
        assert passage[: passage.end] == markdown[: passage.end]
        assert passage.complete == (passage == markdown)
        assert passage.end == len(markdown) if passage.complete else passage.end <= len(markdown)
    assert paid <= tokens


json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["dpe://h/d", "table"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "documents",
                    "uri",
                    "pages",
                    "page_index",
                    "elements",
                    "element_id",
                    "category",
                    "content",
                    "rows",
                    "text",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["documents", "pages", "page_total", "elements", "content_markdown"]), json))
def test_no_reply_is_too_strange_to_be_read(reply: dict[str, Any]) -> None:
    assert isinstance(content_of(reply, "markdown"), str)
    assert isinstance(content_of(reply, "text"), str)
    assert all(uri.startswith("dpe://") for uri, _ in known_documents(reply, set()))
    assert all(index >= 2 for index, _ in page_window(reply, 2, min(page_total(document(), reply), 9)))
    assert all(element_id for element_id, _ in elements_of(reply))
