"""Which pages make a section."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.digest.sections import Section, cite, sections_of
from a2c_smcp.errors import BadRequest


@pytest.mark.rule("8.5")
def test_ranges_are_taken_as_they_are_asked_for() -> None:
    assert sections_of(8, [[1, 5], [6, 10]]) == [Section(1, 5), Section(6, 8)]


@pytest.mark.parametrize(
    ("ranges", "why"),
    [
        ([], "must be a list of pairs"),
        ("1-5", "must be a list of pairs"),
        ([[1]], "is no pair"),
        ([[1, "5"]], "is no pair"),
        ([[True, 5]], "is no pair"),
        ([[0, 5]], "must begin at 1"),
        ([[5, 4]], "must begin at 1"),
        ([[9, 10]], "beyond the 8 pages"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(ranges: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        sections_of(8, ranges)


def entry(title: str, page: int, level: int = 1) -> dict[str, Any]:
    return {"title": title, "page": page, "level": level}


def test_the_outline_divides_and_what_stands_before_it_is_kept() -> None:
    outline = [entry("One", 3), entry("One a", 4, 2), entry("Two", 9), entry("Three", 9), entry("beyond", 99)]
    assert sections_of(10, None, outline) == [Section(1, 2), Section(3, 8, "One"), Section(9, 10, "Two")]


def test_an_outline_of_one_book_is_looked_into() -> None:
    outline = [entry("The book", 1), entry("One", 2, 2), entry("Two", 30, 2), entry("Three", 60, 2)]
    assert [section.title for section in sections_of(90, None, outline)] == ["The book", "One", "Two", "Three"]


def test_an_outline_with_an_entry_for_every_page_is_not_followed_down() -> None:
    outline = [entry("A", 1), entry("B", 50)] + [entry(str(page), page, 2) for page in range(1, 100)]
    assert len(sections_of(100, None, outline)) == 2


@given(st.integers(1, 5_000), st.lists(st.tuples(st.integers(-5, 5_000), st.integers(1, 4)), max_size=60))
def test_sections_cover_every_page_once(count: int, entries: list[tuple[int, int]]) -> None:
    outline = [entry(f"{page}", page, level) for page, level in entries]
    pages = [page for section in sections_of(count, None, outline) for page in section.pages]
    assert pages == list(range(1, count + 1))


def test_a_document_without_pages_has_no_sections() -> None:
    with pytest.raises(BadRequest, match="no pages"):
        sections_of(0)


def test_citations_are_short() -> None:
    assert (cite(3), cite(3, 3), cite(3, 5)) == ("[p3]", "[p3]", "[p3-5]")
