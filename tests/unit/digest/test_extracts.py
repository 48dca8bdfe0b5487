"""What is worth reading of some pages."""

from typing import Any

from a2c_smcp.digest.extracts import MAX_ROWS, SectionExtract, elements_of
from a2c_smcp.digest.extracts import extract_of as extract_of_elements

PROSE = """# Results

Coffee was measured in twelve offices. The results show that coffee consumption doubled in twelve offices. In 2024,
Dr. Smith found 4.5 litres a day. Weather was fine.

1.1 Introduction . . . . . . . . 3
"""


def extract_of(pages: dict[int, str], **more: Any) -> SectionExtract:
    return extract_of_elements({number: elements_of(text) for number, text in pages.items()}, **more)


def test_headings_come_with_page_and_level() -> None:
    assert extract_of({2: PROSE}).headings == [(2, 1, "Results")]


def test_a_heading_in_a_table_of_contents_is_none() -> None:
    assert extract_of({1: "# 2 Simple manipulations . . 8\n\n# 3 Objects . . . . . . 20"}).headings == []


def test_the_sentences_that_say_most_come_first_and_stand_in_their_order() -> None:
    found = extract_of({2: PROSE}, sentences=2).sentences
    assert found == [
        (2, "The results show that coffee consumption doubled in twelve offices."),
        (2, "In 2024, Dr. Smith found 4.5 litres a day."),
    ]


def test_lines_of_a_table_of_contents_are_no_sentences() -> None:
    everything = str(extract_of({2: PROSE}).sentences)
    assert "Introduction" not in everything


def test_chinese_is_divided_at_its_own_stops() -> None:
    text = "本指南推荐每日测量血压两次。结果表明血压控制可以降低风险。天气很好。"
    assert extract_of({1: text}, sentences=2).sentences == [
        (1, "本指南推荐每日测量血压两次。"),
        (1, "结果表明血压控制可以降低风险。"),
    ]


def test_a_sentence_is_not_said_twice() -> None:
    text = "The committee must approve the budget in March.\n\nThe committee must approve the budget in March."
    assert len(extract_of({1: text}).sentences) == 1


def test_tables_stay_tables_and_long_ones_are_cut_with_a_note() -> None:
    rows = "\n".join(f"| {number} | x |" for number in range(MAX_ROWS + 5))
    ((page, table),) = extract_of({4: f"| a | b |\n| --- | --- |\n{rows}"}).tables
    assert (page, table.splitlines()[0], table.splitlines()[-1]) == (4, "| a | b |", "*… 5 more rows*")


def test_pages_without_text_give_nothing() -> None:
    found = extract_of({1: "", 2: "   "})
    assert (found.headings, found.sentences, found.tables) == ([], [], [])


def test_what_only_says_that_something_is_there_is_no_sentence() -> None:
    text = "[图片: Image of 500 × 250 pixels]\n\n[footer: Report of the committee, page 1]\n\nThe budget was approved."
    assert extract_of({1: text}).sentences == [(1, "The budget was approved.")]
