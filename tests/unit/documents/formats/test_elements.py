from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.elements import PREFIXES, ElementMaker, clip, page_title, paged, summarize
from a2c_smcp.documents.model import Element
from a2c_smcp.types import CATEGORIES, ElementCategory


@pytest.mark.rule("7.2.categories")
def test_every_category_has_an_id_prefix_of_its_own() -> None:
    assert set(PREFIXES) == set(CATEGORIES)
    assert len(set(PREFIXES.values())) == len(PREFIXES)


def test_ids_count_by_category() -> None:
    maker = ElementMaker()
    made = [maker.make("text", {"text": "a"}), maker.make("separator", {}), maker.make("text", {"text": "b"})]
    assert [element.id for element in made] == ["txt-001", "sep-001", "txt-002"]


@pytest.mark.parametrize(
    ("category", "content", "summary"),
    [
        ("heading", {"level": 1, "text": "Title"}, "Title"),
        ("text", {"text": "two\nlines"}, "two lines"),
        ("list", {"ordered": False, "items": ["a", {"text": "b"}]}, "2 items: a · b"),
        ("list", {"ordered": False, "items": ["a"]}, "1 item: a"),
        ("code", {"text": "\nx = 1\ny = 2", "language": "python"}, "python, 3 lines: x = 1"),
        ("code", {"text": "x"}, "1 line: x"),
        ("table", {"headers": ["a", "b"], "rows": [["1", "2"]]}, "1 row × 2 columns: a, b"),
        ("table", {"headers": [], "rows": [["1"], ["1", "2"]]}, "2 rows × 2 columns"),
        ("table", {"headers": ["a", ""], "rows": [], "total_rows": 9, "total_columns": 4}, "9 rows × 4 columns: a"),
        ("diagram", {"source": "flowchart LR\nA-->B", "language": "mermaid"}, "mermaid, 2 lines: flowchart LR"),
        ("diagram", {"title": "The way", "source": "x"}, "The way"),
        ("image", {"alt": "A cat", "url": "cat.png"}, "A cat"),
        ("image", {"alt": "", "url": "cat.png"}, "cat.png"),
        ("link", {"text": "here", "url": "https://example.com"}, "here → https://example.com"),
        ("link", {"text": "https://example.com", "url": "https://example.com"}, "https://example.com"),
        ("formula", {"expression": "a^2"}, "a^2"),
    ],
    ids=str,
)
def test_a_summary_tells_whether_to_open(category: ElementCategory, content: dict[str, Any], summary: str) -> None:
    assert summarize(category, content) == summary


@pytest.mark.parametrize(
    ("text", "length", "clipped"),
    [("short", 10, "short"), ("some longer words", 14, "some longer…"), ("x" * 20, 5, "xxxx…"), ("  a\n b ", 9, "a b")],
)
def test_a_clipped_text_ends_between_words(text: str, length: int, clipped: str) -> None:
    assert clip(text, length) == clipped


@given(st.text(), st.integers(min_value=2, max_value=200))
def test_a_clipped_text_is_one_line_that_fits(text: str, length: int) -> None:
    clipped = clip(text, length)
    assert len(clipped) <= length
    assert len(clipped.splitlines()) <= 1


def test_a_page_is_called_by_its_first_heading_or_by_how_it_begins() -> None:
    text = Element("txt-001", "text", {"text": "a"}, "begins so")
    heading = Element("h-001", "heading", {"level": 1, "text": "H"}, "H")
    assert [page_title([text, heading]), page_title([text]), page_title([], "none")] == ["H", "begins so", "none"]


def test_a_group_too_long_for_a_page_continues_on_the_next() -> None:
    elements = [Element(f"txt-{n}", "text", {"text": "a"}) for n in range(5)]
    pages = paged([("A", elements[:3]), ("B", elements[3:])], most=2)
    assert [(page.index, page.title, len(page.elements)) for page in pages] == [
        (0, "A", 2),
        (1, "A (2)", 1),
        (2, "B", 2),
    ]


@given(st.lists(st.integers(min_value=0, max_value=30)), st.integers(min_value=1, max_value=7))
def test_pages_hold_every_element_once_and_in_order(sizes: list[int], most: int) -> None:
    maker = ElementMaker()
    groups = [("t", [maker.make("text", {"text": "a"}) for _ in range(size)]) for size in sizes]
    pages = paged(groups, most)
    assert [e for page in pages for e in page.elements] == [e for _, group in groups for e in group]
    assert [page.index for page in pages] == list(range(len(pages)))
    assert all(0 < len(page.elements) <= most for page in pages)
