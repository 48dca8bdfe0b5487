"""What is written in C for tables says what the Python beside it says, refuses what is no record, and keeps nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf import bands, cells, grid, regions, tables, zones
from a2c_smcp.documents.pdf.graphics import Rule
from a2c_smcp.documents.pdf.words import Font, Line, Row, Word
from tests.unit.documents.pdf.in_c import BROKEN, LINE, NATIVE, OTHERS, WORD, blocks_after, same

if NATIVE is None:
    pytest.skip("the C extension was not built", allow_module_level=True)

places = st.sampled_from([float(10 * number) for number in range(13)]) | st.floats(0, 120)
cuts = st.lists(places, max_size=5).map(sorted)
rules = st.builds(
    lambda start, length, at: Rule(start, start + length, at), places, st.sampled_from([4.0, 40.0, 60.0, 120.0]), places
)
in_order = st.lists(rules, max_size=9).map(lambda found: sorted(found, key=lambda rule: (rule.at, rule.start)))
boxes = st.tuples(places, places, places, places)


@st.composite
def words(draw: st.DrawFn) -> list[Word]:
    """Draw words of lines that stand in rows, and now and then between two."""
    found: list[Word] = []
    for row in draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 3.5, 5]), max_size=6)):
        x, y, size = draw(st.sampled_from([0.0, 10.0, 50.0])), 12.0 * row, draw(st.sampled_from([8.0, 10.0]))
        texts = draw(st.lists(st.sampled_from(["word", "Name", "12", "中文", "表", "divi"]), min_size=1, max_size=5))
        line = Line(" ".join(texts), x, y, x, y + size, size, Font(), 0, 9, draw(st.booleans()))
        for text in texts:
            width = draw(st.sampled_from([5.0, 12.5, 20.0]))
            found.append(Word(text, x, y, x + width, y + size, line))
            x += width + draw(st.sampled_from([2.0, 4.0, 7.5, 9.0, 25.0]))
    return found


def ids(found: list[Word], numbers: set[int]) -> set[int]:
    return {id(word) for number, word in enumerate(found) if number in numbers}


@given(words(), places, places, places, places)
def test_words_are_inside_alike(found: list[Word], left: float, right: float, top: float, bottom: float) -> None:
    same("words_inside", grid._words_inside, found, 2 * left, 2 * right, 2 * top, 2 * bottom)


@given(words(), cuts, cuts)
def test_words_are_between_cuts_alike(found: list[Word], xs: list[float], ys: list[float]) -> None:
    same("words_between", grid._words_between, found, xs, ys)


@given(words(), cuts)
def test_words_are_crossed_alike(found: list[Word], xs: list[float]) -> None:
    same("words_across", tables._words_across, found, xs, 1.4)


@given(words(), cuts, cuts, st.integers(1, 6))
def test_gaps_are_found_alike(found: list[Word], xs: list[float], ys: list[float], few: int) -> None:
    same("gapped_rows", grid._gapped_rows, found, xs, ys, few, 0.9)


@given(words(), cuts)
def test_rows_are_divided_into_columns_alike(found: list[Word], xs: list[float]) -> None:
    same("divided", grid._divided, cells._rows_of(found), xs, 0.7)


@given(words(), cuts, cuts)
def test_columns_look_alike(found: list[Word], xs: list[float], ys: list[float]) -> None:
    same("looks_of", bands._looks_of, grid._words_between(found, xs, ys))


@given(words(), cuts, cuts)
def test_cells_of_tables_read_alike(found: list[Word], xs: list[float], ys: list[float]) -> None:
    same("cell_texts", cells._texts_of, grid._words_between(found, xs, ys))


@given(st.lists(rules, max_size=9), st.lists(rules, max_size=9), cuts, cuts)
def test_spans_are_found_alike(down: list[Rule], across: list[Rule], xs: list[float], ys: list[float]) -> None:
    same("spans_of", grid._spans_of, tuple(down), tuple(across), xs, ys, 4.0)


@given(words(), st.sets(st.integers(0, 20)))
def test_words_in_tables_are_left_out_alike(found: list[Word], numbers: set[int]) -> None:
    taken = ids(found, numbers)
    same("rows_without", regions._rows_without, cells._rows_of(found), taken)
    same("words_beside", tables._words_beside, found, taken)


@given(in_order, in_order)
def test_rules_that_cross_are_found_alike(across: list[Rule], down: list[Rule]) -> None:
    same("crossing_groups", regions._crossing_groups, across, down, 3.0)


@given(in_order, in_order, st.lists(boxes, max_size=2))
def test_rules_in_no_table_are_found_alike(across: list[Rule], down: list[Rule], taken: list[Any]) -> None:
    same("free_rules", regions._free_rules, across, down, taken, 40.0, 3.0)


@given(st.lists(rules, max_size=9), st.sampled_from([0.0, 40.0]), st.integers(1, 3))
def test_rules_of_one_length_are_found_alike(found: list[Rule], shortest: float, least: int) -> None:
    same("stacks_of", zones._stacks_of, found, shortest, least)


ROWS = [Row([WORD, Word("more", 30.0, 0.0, 40.0, 1.0, LINE)], 0.0, 1.0, 10.0)] * 4
RULE = Rule(0.0, 90.0, 5.0)
CALLS: dict[str, tuple[Any, ...]] = {
    "words_inside": ([WORD], 0.0, 9.0, 0.0, 9.0),
    "words_between": ([WORD, WORD], [0.5], [0.5]),
    "words_across": ([WORD], [0.5], 0.1),
    "gapped_rows": (ROWS[0].words * 4, [0.0, 50.0], [0.0, 50.0], 1, 0.1),
    "divided": (ROWS, [0.5, 35.0], 0.7),
    "looks_of": ([[[WORD], []], [[WORD, WORD], [WORD]]],),
    "cell_texts": ([[[WORD, WORD], []], [[WORD], [WORD]]],),
    "spans_of": ((RULE, Rule(0.0, 9.0, 30.0)), (RULE,), [0.0, 30.0, 50.0], [0.0, 30.0, 50.0], 4.0),
    "rows_without": (ROWS, {id(WORD)}),
    "words_beside": ([WORD, *ROWS[0].words], {id(WORD)}),
    "free_rules": ([RULE], [RULE], [(0.0, 0.0, 1.0, 1.0)], 40.0, 3.0),
    "stacks_of": ([RULE] * 3, 40.0, 3),
    "rules_of": ([], [], [], Rule, 612.0, 792.0, (1.0, 0.0, 0.0, -1.0, 0.0, 792.0)),
}
every_call = pytest.mark.parametrize(("name", "arguments"), CALLS.items(), ids=CALLS)
REFUSED = {**OTHERS, "nested": [[BROKEN]], "deep": [[[BROKEN]]]}


@every_call
@pytest.mark.parametrize("other", REFUSED.values(), ids=REFUSED)
def test_what_is_no_record_is_refused(name: str, arguments: tuple[Any, ...], other: Any) -> None:
    with pytest.raises((TypeError, AttributeError)):
        getattr(NATIVE, name)(other, *arguments[1:])


@every_call
def test_nothing_is_kept(name: str, arguments: tuple[Any, ...]) -> None:
    function = getattr(NATIVE, name)
    assert -blocks_after(100, function, *arguments) + blocks_after(1_000, function, *arguments) < 500


@every_call
@pytest.mark.parametrize("number", range(3))
def test_nothing_is_kept_of_what_is_refused(name: str, arguments: tuple[Any, ...], number: int) -> None:
    function, refused = getattr(NATIVE, name), list(arguments)
    refused[min(number, len(refused) - 1) :] = [[WORD, BROKEN, [BROKEN]], *refused[number + 1 :]]
    assert -blocks_after(100, function, *refused) + blocks_after(1_000, function, *refused) < 500
