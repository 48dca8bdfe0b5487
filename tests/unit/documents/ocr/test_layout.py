"""Lines on a picture as elements: order, headings, lists, tables, places."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.ocr.layout import elements_of
from a2c_smcp.documents.ocr.model import OcrLine, OcrPage
from a2c_smcp.documents.render.text import element_text

HEIGHT = 20


def line(text: str, x: float, y: float, height: float = HEIGHT, width: float | None = None) -> OcrLine:
    return OcrLine(text, (x, y, x + (width if width is not None else len(text) * height * 0.5), y + height), 0.9)


def page(lines: Sequence[OcrLine], width: int = 1000, height: int = 1400, rotation: int = 0) -> OcrPage:
    return OcrPage(tuple(lines), "local", width, height, rotation=rotation)


def contents(lines: Sequence[OcrLine]) -> list[tuple[str, object]]:
    return [(element.category, dict(element.content)) for element in elements_of(page(lines))]


def paragraph(x: float, y: float, words: Sequence[str], width: float = 420) -> list[OcrLine]:
    return [line(text, x, y + number * 26, width=width) for number, text in enumerate(words)]


LEFT = [f"left column line number {number} goes on" for number in range(1, 9)]
RIGHT = [f"right column line number {number} goes on" for number in range(1, 9)]


def test_lines_close_together_are_a_paragraph() -> None:
    lines = paragraph(100, 300, ["This is a para-", "graph of three", "lines."], 600)
    assert contents(lines) == [("text", {"text": "This is a paragraph of three lines."})]


def test_a_gap_begins_a_new_paragraph() -> None:
    lines = [*paragraph(100, 300, ["One paragraph", "of two lines"], 600), *paragraph(100, 420, ["and another"], 600)]
    assert contents(lines) == [
        ("text", {"text": "One paragraph of two lines"}),
        ("text", {"text": "and another"}),
    ]


def test_chinese_lines_join_without_blanks() -> None:
    assert contents(paragraph(100, 300, ["第一行文字", "第二行文字"], 600)) == [
        ("text", {"text": "第一行文字第二行文字"})
    ]


def test_tall_lines_are_headings_by_their_size() -> None:
    lines = [
        line("The Title", 100, 100, 44),
        *paragraph(100, 200, ["Some body text of the page", "which goes on for a while"], 600),
        line("A Section", 100, 320, 30),
        *paragraph(100, 400, ["More body text of the page", "which goes on for a while"], 600),
    ]
    assert contents(lines)[::2] == [
        ("heading", {"level": 1, "text": "The Title"}),
        ("heading", {"level": 2, "text": "A Section"}),
    ]


def test_two_columns_are_read_one_after_the_other() -> None:
    title = line("A title over both of the columns here", 100, 100, width=860)
    lines = [title, *paragraph(60, 200, LEFT), *paragraph(520, 200, RIGHT)]
    shuffled = [lines[0], *sorted(lines[1:], key=lambda one: one.box[1])]
    text = "\n".join(str(content["text"]) for _, content in contents(shuffled))  # type: ignore[index]
    assert text.index("left column line number 8") < text.index("right column line number 1")
    assert text.index("A title") < text.index("left column line number 1")


def test_cells_that_line_up_are_a_table() -> None:
    rows = [("Test", "Result", "Flag"), ("Glucose", "118", "HIGH"), ("eGFR", "82", ""), ("WBC", "7,200", "")]
    lines = [
        line(cell, 100 + column * 300, 300 + row * 40)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
        if cell
    ]
    assert contents(lines) == [
        ("table", {"headers": ["Test", "Result", "Flag"], "rows": [list(row) for row in rows[1:]]}),
    ]


def test_bullets_are_a_list_with_nesting() -> None:
    lines = [
        line("• first of the items", 100, 300),
        line("- nested in the first", 150, 340),
        line("• second of the items", 100, 380),
        line("that goes on", 120, 404),
    ]
    nested = {"ordered": False, "items": ["nested in the first"]}
    items = [{"text": "first of the items", "children": nested}, "second of the items that goes on"]
    assert contents(lines) == [("list", {"ordered": False, "items": items})]


def test_numbers_are_an_ordered_list_from_where_they_start() -> None:
    lines = [line("3. third thing to do", 100, 300), line("4. fourth thing to do", 100, 330)]
    assert contents(lines) == [
        ("list", {"ordered": True, "items": ["third thing to do", "fourth thing to do"], "start": 3})
    ]


def test_a_page_number_apart_from_the_text_is_a_footer() -> None:
    lines = [
        *paragraph(100, 300, ["Body text of the page", "goes on and on", "to its end"], 600),
        line("- 7 -", 480, 1350),
    ]
    assert contents(lines)[-1] == ("footer", {"text": "- 7 -"})


def test_elements_say_where_they_are_and_how_sure_they_are() -> None:
    [element] = elements_of(page([line("Hello there", 100, 200)]), 4, 200)
    assert element.id == "p4-txt1"
    assert element.metadata == {
        "ocr": {"engine": "local", "confidence": 0.9},
        "bbox": [36.0, 72.0, 75.6, 79.2],
        "page_width": 360.0,
        "page_height": 504.0,
    }


@pytest.mark.parametrize(
    ("rotation", "box", "size"),
    [
        (0, [10, 20, 40, 30], [100, 200]),
        (90, [20, 60, 30, 90], [200, 100]),
        (180, [60, 170, 90, 180], [100, 200]),
        (270, [170, 10, 180, 40], [200, 100]),
    ],
)
def test_places_are_those_of_the_page_before_it_was_turned(rotation: int, box: list[int], size: list[int]) -> None:
    lines = [OcrLine("x", (10, 20, 40, 30), 1.0)]
    [element] = elements_of(page(lines, 100, 200, rotation), dpi=72)
    assert element.metadata["bbox"] == box
    assert [element.metadata["page_width"], element.metadata["page_height"]] == size


words = st.text("abcdefgh 12.-•中文", min_size=1, max_size=30)
places = st.tuples(words, st.integers(0, 900), st.integers(0, 1300), st.integers(8, 60))


@given(st.lists(places, max_size=40))
def test_no_text_is_lost_and_all_content_is_valid(found: list[tuple[str, int, int, int]]) -> None:
    lines = [line(text, x, y, height) for text, x, y, height in found if text.strip()]
    elements = elements_of(page(lines))
    shown = "".join(element_text(element) for element in elements)
    for element in elements:
        validate_content(element.category, dict(element.content))
    letters = {character for one in lines for character in one.text if character.isalpha()}
    assert letters <= set(shown)
    counted = sum(character.isalpha() for one in lines for character in one.text)
    assert sum(character.isalpha() for character in shown) >= counted
