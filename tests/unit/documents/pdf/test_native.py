"""What is written in C says what the Python beside it says, refuses what is no record, and keeps nothing."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.elements import PREFIXES
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf import cells, edges, graphics, headings, layout, pieces, zones
from a2c_smcp.documents.pdf.words import Block, Font, Line, Piece, Row, Word
from tests.unit.documents.pdf.in_c import BROKEN, LINE, NATIVE, OTHERS, WORD, blocks_after, same

if NATIVE is None:
    pytest.skip("the C extension was not built", allow_module_level=True)

numbers = st.floats(-1_000, 2_000) | st.sampled_from([0.0, 72.0, 72.5, 300.0, 612.0])
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["word", "a b", "中文", "，", "fi\nx", "-"]
)
fonts = st.builds(Font, st.just(""), st.booleans(), st.booleans(), st.booleans())
lines = st.builds(
    Line,
    texts,
    numbers,
    numbers,
    numbers,
    numbers,
    st.sampled_from([0.0, 8.0, 10.0, 10.1, 24.0]),
    fonts,
    st.integers(0, 500),
    st.integers(0, 90),
    st.booleans(),
)
rows_of_cells = st.builds(
    lambda text, x0, width, row, font: Line(
        text, x0, 14.0 * row, x0 + width, 14.0 * row + 10, 10.0, font, 0, len(text)
    ),
    st.sampled_from(["name value", "1", "中文 表格", "running text that fills its line"]),
    st.sampled_from([72.0, 74.0, 300.0]),
    st.sampled_from([8.0, 60.0, 90.0, 150.0, 300.0, 450.0]),
    st.sampled_from([14.0 * row for row in range(9)]),
    fonts,
)
pages = st.lists(lines, max_size=12)
boxes = st.tuples(numbers, numbers, numbers, numbers)


@st.composite
def words(draw: st.DrawFn, least: int = 0) -> list[Word]:
    """Draw words of some lines, several at one height."""
    found: list[Word] = []
    for line in draw(st.lists(lines, min_size=1, max_size=5)):
        for text in draw(st.lists(texts, min_size=1, max_size=4)):
            x0 = draw(numbers)
            y0 = draw(st.sampled_from([line.y0, line.y0 + 3, line.y0 - 40]))
            found.append(Word(text, x0, y0, x0 + draw(st.floats(0, 80)), y0 + 10, line))
    return found[: draw(st.integers(least, len(found)))]


@given(pages, numbers, numbers)
def test_lines_are_parted_alike(page_of_lines: list[Line], upper: float, lower: float) -> None:
    same("parted", edges._parted, page_of_lines, min(upper, lower), max(upper, lower), 1e4, -1e4)


@given(pages)
def test_looks_are_counted_alike(page_of_lines: list[Line]) -> None:
    same("page_looks", layout._page_looks, page_of_lines)


def test_many_sizes_are_left_to_python() -> None:
    assert NATIVE.page_looks([Line("text", 0, 0, 1, 1, size, Font(), 0, 4) for size in range(1, 65)]) is not None
    assert NATIVE.page_looks([Line("text", 0, 0, 1, 1, size, Font(), 0, 4) for size in range(1, 66)]) is None


@given(st.lists(lines | rows_of_cells, max_size=12))
def test_lines_stand_in_rows_alike(page_of_lines: list[Line]) -> None:
    same("line_rows", layout._rows_of, page_of_lines)


@given(st.lists(lines | rows_of_cells, max_size=12), st.booleans())
def test_lines_look_like_rows_alike(page_of_lines: list[Line], is_mono: bool) -> None:
    same("marked_lines", zones._marked, page_of_lines, 220.0, 380.0, 38.4, is_mono)


@given(st.lists(lines, min_size=1, max_size=12))
def test_boxes_are_united_alike(page_of_lines: list[Line]) -> None:
    same("box_of", layout._box_of, page_of_lines)


@given(st.lists(lines, min_size=2, max_size=6))
def test_a_paragraph_reads_alike(page_of_lines: list[Line]) -> None:
    whole = NATIVE.joined_text(page_of_lines)
    assert whole is None or whole == layout._joined_text(page_of_lines)


def test_a_text_with_a_line_end_is_left_to_python() -> None:
    first, second = (Line(text, 0, 0, 1, 1, 10, Font(), 0, 4) for text in ("one", "fi\nx"))
    assert NATIVE.joined_text([first, second]) is None
    assert NATIVE.joined_text([first, first]) == "one one"


PLAIN, BOLD, ITALIC, MONO = Font("a"), Font("b", bold=True), Font("c", italic=True), Font("d", mono=True)
written = st.sampled_from(
    ["The text of a line", "goes on here", "and ends.", "indeed", "he said (so.)", "中文的一行", "结束。"]
)
labelled = st.sampled_from(
    ["1. item", "2) item", "• item", "(a) part", "- dash", "2. or more", "Name . . . . 12", "x := y"]
)
flowing = st.builds(
    lambda text, x0, width, y0, size, font: Line(text, x0, y0, x0 + width, y0 + size, size, font, 0, len(text)),
    written | labelled,
    st.sampled_from([72.0, 72.5, 84.0, 96.0, 300.0]),
    st.sampled_from([40.0, 200.0, 330.0, 400.0]),
    st.sampled_from([*(12.0 * row for row in range(12)), 150.0, 158.0]),
    st.sampled_from([8.0, 10.0, 10.5, 14.0]),
    st.sampled_from([PLAIN, PLAIN, BOLD, ITALIC, MONO]),
)
bodies = st.builds(
    layout.Body,
    st.sampled_from([8.0, 10.0]),
    st.just(10.0),
    st.sampled_from([10.0, 12.0, 14.0]),
    st.booleans(),
    st.booleans(),
    st.just(612.0),
    st.just(792.0),
)


@given(st.lists(flowing, max_size=14), st.booleans(), bodies)
def test_lines_become_blocks_alike(page_of_lines: list[Line], in_order: bool, body: layout.Body) -> None:
    if in_order:
        page_of_lines.sort(key=lambda line: line.y0)
    code = 0.0 if body.mono else 1.15 * body.size
    found = NATIVE.blocks_of(page_of_lines, layout._kind_of, body.leading, body.size, code)
    assert found == layout._rejoined(layout._blocks_of(page_of_lines, body, code))


def test_every_sign_begins_an_item_alike() -> None:
    signs = [chr(code) for code in range(0x20, 0x10000) if not 0xD800 <= code < 0xE000]
    begun = [
        text for sign in signs for text in (f"{sign} item", f"{sign}. item", f"{sign}x) item", f"{sign}、item", sign)
    ]
    begun += [
        "123. item",
        "1234. item",
        "12 item",
        "xiv) item",
        "xxviii) item",
        "I am",
        "(一) item",
        "（12）item",
        "oo item",
    ]
    page_of_lines = [
        Line(text, 72.0, 1_000.0 * row, 200.0, 1_000.0 * row + 10, 10.0, PLAIN, 0, len(text))
        for row, text in enumerate(begun)
    ]
    found = NATIVE.blocks_of(page_of_lines, layout._kind_of, 12.0, 10.0, 0.0)
    assert [(block.kind, block.label) for block in found] == [layout._kind_of(line, 0.0) for line in page_of_lines]


blocks = st.builds(
    Block,
    st.lists(flowing, min_size=1, max_size=5),
    st.sampled_from(["text", "text", "heading", "list", "code", "contents"]),
    st.integers(0, 6),
    st.sampled_from(["", "1.", "•"]),
    st.sampled_from([0.0, 12.0]),
)


@given(st.lists(blocks, max_size=8), bodies)
def test_headings_are_possible_alike(of_page: list[Block], body: layout.Body) -> None:
    same("possible_headings", headings._possible, of_page, body.size, body.largest, body.bold)


@given(st.lists(blocks, max_size=8))
def test_blocks_become_pieces_alike(of_page: list[Block]) -> None:
    found = NATIVE.pieces_of(of_page, layout.text_of, pieces._listing, pieces._lists)
    assert found == pieces._pieces_of(of_page)


told = (
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
    | st.text(st.sampled_from("word  \n中😀,"), min_size=90, max_size=110)
    | st.text(st.sampled_from("wordy "), min_size=60, max_size=180)
)
found_pieces = st.builds(
    Piece,
    st.sampled_from(["text", "heading", "header", "footer", "annotation"]),
    st.fixed_dictionaries({"text": told}),
    boxes,
) | st.builds(
    Piece,
    st.just("link"),
    st.fixed_dictionaries({"text": told | st.just(""), "url": st.sampled_from(["#page=3", "https://example.com/"])}),
    boxes,
)


@given(st.lists(found_pieces, max_size=9))
def test_pieces_become_elements_alike(of_page: list[Piece]) -> None:
    arguments = of_page, "p12-", 612.0, 792.0
    assert NATIVE.elements_of(*arguments, PREFIXES, pieces._summary) == pieces._elements_of(*arguments)


def test_a_category_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="poem"):
        NATIVE.elements_of([Piece("poem", {"text": ""}, (0.0, 0.0, 1.0, 1.0))], "p0-", 1.0, 1.0, PREFIXES, None)  # type: ignore[arg-type]


@given(boxes)
def test_tenths_are_counted_alike(box: tuple[float, float, float, float]) -> None:
    same("tenths", pieces._tenths, box)
    assert repr(NATIVE.tenths(box)) == repr(pieces._tenths(box))


@pytest.mark.parametrize("nowhere", [math.inf, -math.inf, math.nan])
def test_a_box_that_is_nowhere_is_refused(nowhere: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        NATIVE.tenths((0.0, 0.0, nowhere, 1.0))


@pytest.mark.parametrize("nowhere", [math.inf, -math.inf, math.nan])
def test_numbers_that_have_no_order_never_reach_a_sort(nowhere: float) -> None:
    rules = [graphics.Rule(0.0, 1.0, float(at)) for at in range(50)]
    with pytest.raises(ValueError, match="not finite"):
        NATIVE.merged([*rules, graphics.Rule(0.0, 1.0, nowhere)], graphics.Rule, 1.5)
    with pytest.raises(ValueError, match="not finite"):
        NATIVE.rows_of([replace(WORD, y0=nowhere)] * 3)


@given(words())
def test_words_stand_in_rows_alike(found: list[Word]) -> None:
    same("rows_of", cells._rows_of, found)


@given(words(least=1), st.floats(0, 3))
def test_rows_are_divided_alike(found: list[Word], gap: float) -> None:
    row = Row(found, 0.0, 10.0, 10.0)
    same("segments_of", cells._segments_of, row, gap)
    same("is_divided", cells._is_divided, row, gap)


@given(words(least=1))
def test_cells_read_alike(found: list[Word]) -> None:
    same("cell_text", cells._text_of_words, found)
    same("cell_texts", cells._texts_of, [[found, []], [found[:1], found[1:]]])


@given(st.lists(st.none() | boxes, max_size=8))
def test_paths_are_sorted_alike(found: Sequence[tuple[float, float, float, float] | None]) -> None:
    drawn = [(number, ()) for number in range(len(found))]
    same("kinds_of", graphics._kinds_of, drawn, list(found), graphics.Rule, 2.5, 5.0, 4.0)


@given(
    st.lists(st.builds(graphics.Rule, numbers, numbers, st.sampled_from([0.0, 1.0, 1.5, 10.0]) | numbers), max_size=9)
)
def test_rules_are_made_one_alike(rules: list[graphics.Rule]) -> None:
    assert NATIVE.merged(rules, graphics.Rule, 1.5) == graphics._merged(rules, 1.5)


def test_a_record_is_made_of_its_fields() -> None:
    fields: tuple[Any, ...] = "p0-h1", "heading", {"level": 1, "text": "T"}, "T", {"bbox": [0.0, 0.0, 1.0, 1.0]}
    assert NATIVE.maker(Element)(*fields) == Element(*fields)


def test_a_record_needs_all_of_its_fields() -> None:
    with pytest.raises(TypeError, match="5 fields, not 1"):
        NATIVE.maker(Element)("p0-h1")


BLOCK, ITEM = Block([LINE]), Block([LINE], "list", label="1.")
PIECE = Piece("text", {"text": "text " * 30}, (0.0, 0.0, 1.0, 1.0))
LINK = Piece("link", {"text": "text", "url": "#page=1"}, (0.0, 0.0, 1.0, 1.0))
CALLS: dict[str, tuple[Any, ...]] = {
    "parted": ([LINE], 0.0, 1.0, 9.0, -9.0),
    "page_looks": ([LINE],),
    "line_rows": ([LINE, LINE],),
    "possible_headings": ([BLOCK], 10.0, 10.0, False),
    "pieces_of": ([BLOCK, ITEM], layout.text_of, pieces._listing, pieces._lists),
    "elements_of": ([PIECE, LINK], "p0-", 612.0, 792.0, PREFIXES, pieces._summary),
    "marked_lines": ([LINE], 220.0, 380.0, 38.4, False),
    "box_of": ([LINE],),
    "blocks_of": ([LINE], layout._kind_of, 12.0, 10.0, 11.5),
    "joined_text": ([LINE, LINE],),
    "tenths": ((0.0, 1.0, 2.0, 3.0),),
    "rows_of": ([WORD, WORD],),
    "cell_text": ([WORD, WORD],),
    "segments_of": (Row([WORD], 0.0, 1.0, 10.0), 1.0),
    "is_divided": (Row([WORD], 0.0, 1.0, 10.0), 1.0),
    "kinds_of": ([(1, ())], [(0.0, 0.0, 90.0, 1.0)], graphics.Rule, 2.5, 5.0, 4.0),
    "merged": ([graphics.Rule(0.0, 9.0, 1.0)], graphics.Rule, 1.5),
    "crossing_groups": ([graphics.Rule(0.0, 9.0, 1.0)], [graphics.Rule(0.0, 9.0, 1.0)], 3.0),
    "maker": (Element,),
}
every_call = pytest.mark.parametrize(("name", "arguments"), CALLS.items(), ids=CALLS)


@every_call
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_is_no_record_is_refused(name: str, arguments: tuple[Any, ...], other: Any) -> None:
    try:
        getattr(NATIVE, name)(other, *arguments[1:])
    except (TypeError, AttributeError):
        return
    assert (name, type(other)) in {("segments_of", Row), ("is_divided", Row)}


@every_call
def test_nothing_is_kept(name: str, arguments: tuple[Any, ...]) -> None:
    function = getattr(NATIVE, name)
    assert -blocks_after(100, function, *arguments) + blocks_after(1_000, function, *arguments) < 500


@every_call
def test_nothing_is_kept_of_what_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    function, refused = getattr(NATIVE, name), ([LINE, WORD, BROKEN], *arguments[1:])
    assert -blocks_after(100, function, *refused) + blocks_after(1_000, function, *refused) < 500
