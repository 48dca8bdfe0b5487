"""Rows, segments and the gaps between columns."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf.row_cells import column_cuts, is_divided, rows_of, segments_of, text_of_words
from a2c_smcp.documents.pdf.words import Font, Line, Word


def placed(text: str, x: float, y: float = 0.0, width: float = 20.0) -> Word:
    line = Line(text, x, y, x + width, y + 10, 10.0, Font(), 0, len(text))
    return Word(text, x, y, x + width, y + 10, line)


def test_words_side_by_side_are_a_row() -> None:
    words = [placed("b", 50, 1), placed("a", 0, 0), placed("c", 0, 14)]
    assert [[each.text for each in row.words] for row in rows_of(words)] == [["a", "b"], ["c"]]


def test_a_wide_gap_divides_a_row() -> None:
    (row,) = rows_of([placed("red", 0), placed("fox", 23), placed("4", 100)])
    assert [segment.text for segment in segments_of(row, 1.0)] == ["red fox", "4"]


def test_columns_are_divided_where_no_row_has_text() -> None:
    rows = [[placed("a", 0, 14 * n), placed("b", 100, 14 * n)] for n in range(4)]
    segments = [segments_of(row, 1.0) for row in rows_of([word for row in rows for word in row])]
    assert column_cuts(segments, 10.0) == [60.0]


def test_a_title_across_the_columns_does_not_hide_them() -> None:
    words = [
        placed("A title across", 0, 0, 130),
        *(placed(t, x, 14 * n) for n in range(1, 5) for t, x in (("a", 0), ("b", 100))),
    ]
    segments = [segments_of(row, 1.0) for row in rows_of(words)]
    assert len(column_cuts(segments, 10.0)) == 1


def test_text_without_gaps_has_no_columns() -> None:
    words = [placed("word", 22.0 * x, 14 * y) for x in range(5) for y in range(4)]
    assert column_cuts([segments_of(row, 1.0) for row in rows_of(words)], 10.0) == []


def test_a_cell_reads_row_by_row() -> None:
    assert text_of_words([placed("town", 0, 12), placed("the", 0), placed("old", 25)]) == "the old town"


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 700)), max_size=40))
def test_no_word_is_lost_in_rows_and_segments(places: list[tuple[float, float]]) -> None:
    words = [placed(str(number), x, y) for number, (x, y) in enumerate(places)]
    found = [each for row in rows_of(words) for segment in segments_of(row, 1.0) for each in segment.words]
    assert sorted(map(id, found)) == sorted(map(id, words))


@given(st.lists(st.floats(0, 500), min_size=1, max_size=10), st.floats(0.1, 5))
def test_a_row_is_divided_where_it_has_segments(places: list[float], gap: float) -> None:
    (row,) = rows_of([placed("word", x) for x in places])
    assert is_divided(row, gap) == (len(segments_of(row, gap)) > 1)
