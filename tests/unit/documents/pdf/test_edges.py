"""The edges of a page: what runs from page to page, and notes."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf.edges import split_edges, split_footnotes
from a2c_smcp.documents.pdf.layout import Body
from a2c_smcp.documents.pdf.words import Font, Line

BODY = Body(10.0, 10.0, 12.0, bold=False, mono=False, width=612.0, height=792.0)


def line(text: str, x: float = 72.0, y: float = 300.0, *, size: float = 10.0) -> Line:
    return Line(text, x, y, x + 0.5 * size * len(text), y + size, size, Font(), 0, len(text))


def test_running_lines_are_taken_from_the_edges() -> None:
    header, footer = line("Chapter 3 12", y=40), line("12", x=300, y=750)
    middle = [line("some text that is long enough", y=100 + 12 * number) for number in range(40)]
    assert split_edges([header, *middle, footer], BODY, "12") == ([header], middle, [footer])


def test_a_page_of_nothing_but_edges_keeps_its_text() -> None:
    lines = [line("12", y=40), line("12", y=750)]
    assert split_edges(lines, BODY, "12") == ([], lines, [])


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

    headers, middle, footers = split_edges(lines, BODY, "1")
    assert ids(headers + middle + footers) == ids(lines)
    rest, notes = split_footnotes(lines, BODY)
    assert ids(rest + [each for note in notes for each in note]) == ids(lines)
