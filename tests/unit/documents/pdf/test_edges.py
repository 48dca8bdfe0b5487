"""The edges of a page: what runs from page to page, and notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf.edges import EdgeRow, runs_on, split_edges, split_footnotes
from a2c_smcp.documents.pdf.layout import Body
from a2c_smcp.documents.pdf.words import Font, Line

BODY = Body(10.0, 10.0, 12.0, bold=False, mono=False, width=612.0, height=792.0)


def line(text: str, x: float = 72.0, y: float = 300.0, *, size: float = 10.0) -> Line:
    return Line(text, x, y, x + 0.5 * size * len(text), y + size, size, Font(), 0, len(text))


def split(lines: list[Line], label: str, *, runs: bool = False) -> tuple[list[Line], list[Line], list[Line]]:
    return split_edges(lines, BODY, label, label, lambda row, is_top: runs)


MIDDLE = [line("some text that is long enough", y=100 + 12 * number) for number in range(40)]


@pytest.mark.parametrize("title", ["Results and discussion", "2 Methods", "12 Methods", "Chapter 3 12", "Figure 12"])
def test_a_line_at_the_top_is_a_header_only_where_other_pages_have_it(title: str) -> None:
    lines = [line(title, y=40), *MIDDLE]
    assert split(lines, "12") == ([], lines, [])
    assert split(lines, "12", runs=True) == (lines[:1], MIDDLE, [])


def test_the_number_of_the_page_apart_from_the_rest_makes_a_header_on_one_page() -> None:
    title, number = line("Results", y=40), line("12", x=500, y=40)
    assert split([title, number, *MIDDLE], "12") == ([title, number], MIDDLE, [])
    assert split([title, line("13", x=500, y=40), *MIDDLE], "12")[0] == []


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("Annual report", "Annual report", True),
        ("Annual report 7", "Annual report 9", True),
        ("Page 3 of 20", "Page 5 of 20", True),
        ("7 Methods", "9 Results", False),
        ("Annual report 7", "Annual report 8", False),
        ("Chapter 7", "Chapter 9", False),
        ("© Company, all rights reserved iii", "© Company, all rights reserved xi", True),
        ("Methods", "Results", False),
    ],
)
def test_a_row_runs_on_where_only_its_page_number_differs_as_the_pages_do(text: str, other: str, same: bool) -> None:
    row = EdgeRow((text,), 40.0)
    assert runs_on(row, [EdgeRow(("else",), 45.0), EdgeRow((other,), 42.0)], 2) is same
    assert not runs_on(row, [EdgeRow((other,), 90.0)], 2)


@pytest.mark.parametrize(
    "text", ["Page 1 of 205", "Appendix – Page 1 of 51", "Seite 3 von 9", "7-45", "3 / 12", "第 3 页"]
)
def test_what_can_only_be_the_number_of_a_page_needs_no_other_page(text: str) -> None:
    footer = line(text, y=750)
    assert split([*MIDDLE, footer], "1") == ([], MIDDLE, [footer])


def test_numbers_that_stand_apart_and_count_on_make_a_running_line() -> None:
    ours, other = EdgeRow(("Methods", "57"), 40.0), EdgeRow(("58", "Results"), 40.0)
    assert runs_on(ours, [other], 1)
    assert not runs_on(ours, [other], 2)


def test_a_part_of_a_row_that_is_on_another_page_is_enough() -> None:
    assert runs_on(EdgeRow(("Annual report", "Methods"), 40.0), [EdgeRow(("Annual report", "Results"), 40.0)], 1)
    assert not runs_on(EdgeRow(("A", "Methods"), 40.0), [EdgeRow(("A", "Results"), 40.0)], 1)


def test_running_lines_are_taken_from_the_edges() -> None:
    header, footer = line("Chapter 3 12", y=40), line("12", x=300, y=750)
    middle = list(MIDDLE)
    assert split([header, *middle, footer], "12", runs=True) == ([header], middle, [footer])


def test_a_page_of_nothing_but_edges_keeps_its_text() -> None:
    lines = [line("12", y=40), line("12", y=750)]
    assert split(lines, "12") == ([], lines, [])


def test_small_text_with_marks_at_the_foot_is_notes() -> None:
    body = [line("text with a note", y=400)]
    notes = [line("1 the note", y=700, size=8), line("goes on", y=709, size=8), line("2 another", y=718, size=8)]
    assert split_footnotes(body + notes, BODY) == (body, [notes[:2], notes[2:]])


def test_small_text_without_marks_is_text() -> None:
    lines = [line("text", y=400), line("small print", y=700, size=8)]
    assert split_footnotes(lines, BODY) == (lines, [])


@given(
    st.lists(
        st.builds(
            line,
            st.text("ab1 .*", min_size=1).filter(str.strip).map(str.strip),
            st.floats(0, 600),
            st.floats(0, 780),
            size=st.sampled_from([6.0, 10.0, 18.0]),
        ),
        max_size=40,
    )
)
def test_no_line_is_ever_lost_or_doubled(lines: list[Line]) -> None:
    def ids(found: list[Line]) -> list[int]:
        return sorted(map(id, found))

    headers, middle, footers = split(lines, "1", runs=True)
    assert ids(headers + middle + footers) == ids(lines)
    rest, notes = split_footnotes(lines, BODY)
    assert ids(rest + [each for note in notes for each in note]) == ids(lines)
