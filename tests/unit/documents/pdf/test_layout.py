"""From lines to blocks: paragraphs and order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf.layout import (
    Body,
    blocks_of,
    body_of,
    in_reading_order,
    rows_of,
    text_of,
)
from a2c_smcp.documents.pdf.words import Block, Font, Line

PLAIN, BOLD, MONO = Font("Serif"), Font("Serif-Bold", bold=True), Font("Mono", mono=True)
BODY = Body(10.0, 10.0, 12.0, bold=False, mono=False, width=612.0, height=792.0)


def line(
    text: str, x: float = 72.0, y: float = 300.0, *, size: float = 10.0, font: Font = PLAIN, joined: bool = False
) -> Line:
    return Line(text, x, y, x + 0.5 * size * len(text), y + size, size, font, 0, len(text), joined)


def texts(blocks: list[Block]) -> list[tuple[str, str]]:
    return [(block.kind, text_of(block.lines)) for block in blocks]


def test_a_divided_word_is_whole_again() -> None:
    assert text_of([line("an exam", joined=True), line("ple of it")]) == "an example of it"


def test_a_hyphen_before_a_name_or_a_number_stays() -> None:
    assert text_of([line("the Anglo", joined=True), line("Saxon king")]) == "the Anglo-Saxon king"


def test_chinese_lines_are_joined_without_blanks() -> None:
    assert text_of([line("引导加载程序是"), line("第二阶段 UEFI"), line("启动")]) == "引导加载程序是第二阶段 UEFI 启动"


def test_a_gap_begins_a_paragraph() -> None:
    found = blocks_of([line("First line", y=100), line("second line", y=112), line("Other", y=140)], BODY)
    assert texts(found) == [("text", "First line second line"), ("text", "Other")]


def test_an_indented_first_line_begins_a_paragraph() -> None:
    lines = [line("One.", y=100), line("Two goes on", y=112), line("and ends.", y=124), line("Three", x=90, y=136)]
    assert texts(blocks_of(lines, BODY)) == [("text", "One. Two goes on and ends."), ("text", "Three")]


def test_a_change_of_size_or_weight_begins_a_block() -> None:
    lines = [line("Title", y=100, size=16), line("Run in", y=118, font=BOLD), line("text", y=130)]
    assert texts(blocks_of(lines, BODY)) == [("text", "Title"), ("text", "Run in"), ("text", "text")]


@pytest.mark.parametrize("mark", ["•", "-", "1.", "(a)", "iv)", "一、", "\uf0b7"])
def test_a_mark_begins_an_item(mark: str) -> None:
    (block,) = blocks_of([line(f"{mark} told")], BODY)
    assert (block.kind, block.label.strip()) == ("list", mark)


@pytest.mark.parametrize("told", ["e.g. a fox", "3.5 mm", "2026 was good", "I am here", "A fox"])
def test_what_only_looks_like_a_mark_is_text(told: str) -> None:
    assert texts(blocks_of([line(told)], BODY)) == [("text", told)]


def test_the_second_line_of_an_item_belongs_to_it() -> None:
    found = blocks_of([line("• told", y=100), line("in two lines", x=82, y=112), line("• more", y=124)], BODY)
    assert texts(found) == [("list", "• told in two lines"), ("list", "• more")]


def test_monospaced_lines_are_one_listing() -> None:
    lines = [line("so:", y=100), line("if x:", y=112, font=MONO), line("pass", x=96, y=124, font=MONO)]
    assert [(block.kind, len(block.lines)) for block in blocks_of(lines, BODY)] == [("text", 1), ("code", 2)]


def test_lines_of_a_table_of_contents_stay_apart() -> None:
    lines = [line("One . . . . . . 3", y=100), line("Two . . . . . . 7", y=112)]
    assert [block.kind for block in blocks_of(lines, BODY)] == ["contents", "contents"]


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    lines = [line("it goes on and", y=700), line("on in the next", x=320, y=100)]
    assert texts(blocks_of(lines, BODY)) == [("text", "it goes on and on in the next")]


def test_the_order_of_the_file_is_kept_when_it_makes_sense() -> None:
    lines = [line("one", y=100), line("two", y=112), line("three", x=320, y=100), line("four", x=320, y=112)]
    assert in_reading_order(lines, BODY) == lines


def test_lines_out_of_order_are_read_from_the_top() -> None:
    lines = [line(f"{number}", y=100 + 12 * number) for number in range(6)]
    assert in_reading_order(lines[::-1], BODY) == lines


def test_what_most_text_looks_like_is_the_body() -> None:
    lines = [line("Title", y=80, size=20), *(line("some text that is long", y=100 + 14 * n) for n in range(5))]
    assert body_of(lines, 612, 792) == Body(10.0, 10.0, 14.0, bold=False, mono=False, width=612, height=792)


lines_anywhere = st.lists(
    st.builds(
        line,
        st.text(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=("C", "Z")), min_size=1),
        st.floats(0, 600),
        st.floats(0, 780),
        size=st.sampled_from([6.0, 10.0, 18.0]),
        font=st.sampled_from([PLAIN, BOLD, MONO]),
        joined=st.booleans(),
    ),
    max_size=30,
)


@given(lines_anywhere)
def test_no_line_is_ever_lost_or_doubled(lines: list[Line]) -> None:
    def ids(found: list[Line]) -> list[int]:
        return sorted(map(id, found))

    assert ids([each for row in rows_of(lines) for each in row]) == ids(lines)
    if lines:
        assert ids(in_reading_order(lines, BODY)) == ids(lines)
    assert ids([each for block in blocks_of(lines, BODY) for each in block.lines]) == ids(lines)
