"""Which pages make a section."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.digest.sections import MAX_SECTIONS, Section, check_ranges, cite, sections_of
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


def test_ranges_are_looked_at_before_the_number_of_pages_is_known() -> None:
    check_ranges([[9, 10]])
    with pytest.raises(BadRequest, match="must begin at 1"):
        check_ranges([[0, 5]])


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


def test_more_entries_than_sections_are_grouped_into_chapters() -> None:
    outline = [entry(f"Entry {number}", 3 * number - 2) for number in range(1, 101)]
    sections = sections_of(300, None, outline)
    assert 2 <= len(sections) <= MAX_SECTIONS
    assert sections[0] == Section(1, 9, "Entry 1 – Entry 3", ((1, "Entry 1"), (4, "Entry 2"), (7, "Entry 3")))
    assert [title for section in sections for _, title in section.entries or [(0, section.title)]] == [
        one["title"] for one in outline
    ]


def test_entries_that_are_numbered_are_grouped_by_their_chapter() -> None:
    titles = [
        f"{chapter}.{part} Topic" if part else f"{chapter} Chapter" for chapter in range(1, 8) for part in range(8)
    ]
    outline = [entry(title, number) for number, title in enumerate(titles, start=1)]
    sections = sections_of(56, None, outline)
    assert [(section.title, len(section.entries)) for section in sections] == [(f"{n} Chapter", 8) for n in range(1, 8)]


def test_a_book_with_many_chapters_below_its_title_is_grouped() -> None:
    outline = [entry("The book", 1)] + [entry(f"Chapter {number}", number + 1, 2) for number in range(1, 61)]
    sections = sections_of(62, None, outline)
    assert (len(sections), sections[0].title) == (8, "The book – Chapter 6")


@given(st.integers(1, 5_000), st.lists(st.tuples(st.integers(-5, 5_000), st.integers(1, 4)), max_size=200))
def test_sections_cover_every_page_once(count: int, entries: list[tuple[int, int]]) -> None:
    outline = [entry(f"{page}", page, level) for page, level in entries]
    pages = [page for section in sections_of(count, None, outline) for page in section.pages]
    assert pages == list(range(1, count + 1))


def test_a_document_without_pages_has_no_sections() -> None:
    with pytest.raises(BadRequest, match="no pages"):
        sections_of(0)


def test_citations_are_short() -> None:
    assert (cite(3), cite(3, 3), cite(3, 5)) == ("[p3]", "[p3]", "[p3-5]")
