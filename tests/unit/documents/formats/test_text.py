from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.text import FORMAT, LINES_A_PARAGRAPH, PARAGRAPHS_A_PAGE
from a2c_smcp.documents.model import Element


def opened(folder: Path, text: str) -> OpenDocument:
    path = folder / "a.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return FORMAT.open(path)


def elements(document: OpenDocument) -> list[Element]:
    return [e for index in range(document.describe().page_count) for e in document.page(index).elements]


def texts(document: OpenDocument) -> list[str]:
    return [element.content["text"] for element in elements(document)]


def test_blank_lines_divide_paragraphs_and_lines_stay(tmp_path: Path) -> None:
    assert texts(opened(tmp_path, "\n\nOne,\ntwo.\n \t\n\n\nThree.\n")) == ["One,\ntwo.", "Three."]


def test_a_form_feed_begins_a_page(tmp_path: Path) -> None:
    document = opened(tmp_path, "First page.\f\f\nSecond page.\n")
    assert [entry.title for entry in document.entries(0, 9)] == ["First page.", "Second page."]


def test_without_form_feeds_a_page_holds_some_paragraphs(tmp_path: Path) -> None:
    document = opened(tmp_path, "\n\n".join(f"Paragraph {n}." for n in range(PARAGRAPHS_A_PAGE + 1)))
    assert [(entry.title, entry.element_count) for entry in document.entries(0, 9)] == [
        ("Paragraph 0.", PARAGRAPHS_A_PAGE),
        ("Paragraph 0. (2)", 1),
    ]


def test_the_line_that_opens_a_page_is_its_heading(tmp_path: Path) -> None:
    document = opened(tmp_path, "The title\n\nSome text.\n\nA short line\n\nMore.")
    assert [element.id for element in elements(document)] == ["h-001", "txt-001", "txt-002", "txt-003"]
    assert document.describe() == Description("The title", 1, (), "Some text.")


@pytest.mark.parametrize("line", ["A sentence.", "一句话。", "x" * 81], ids=["stop", "chinese stop", "long"])
def test_a_sentence_is_no_heading(tmp_path: Path, line: str) -> None:
    assert elements(opened(tmp_path, f"{line}\n\nmore"))[0].category == "text"


def test_an_underlined_line_is_a_heading(tmp_path: Path) -> None:
    document = opened(tmp_path, "Intro.\n\nChapter:\n========\nText below.\n")
    assert [(e.category, e.content["text"]) for e in elements(document)] == [
        ("text", "Intro."),
        ("heading", "Chapter:"),
        ("text", "Text below."),
    ]


def test_a_log_without_blank_lines_comes_in_pieces(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(LINES_A_PARAGRAPH * 2 + 1)]
    pieces = texts(opened(tmp_path, "\n".join(lines)))
    assert len(pieces) == 3
    assert "\n".join(pieces).split("\n") == lines


def test_an_endless_line_is_broken(tmp_path: Path) -> None:
    pieces = texts(opened(tmp_path, "x" * 1_000_000))
    assert "".join(pieces).replace("\n", "") == "x" * 1_000_000
    assert max(map(len, pieces)) < 250_000


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    assert opened(tmp_path, " \n\f\n").describe() == Description("", 0, (), "Empty file")


@given(text=st.text(alphabet=st.sampled_from("ab.=-\n\f \t中"), max_size=200))
def test_no_word_is_lost_and_ids_are_stable(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("text")
    found = elements(opened(folder, text))
    assert found == elements(opened(folder, text))
    assert len({element.id for element in found}) == len(found)
    kept = "".join("".join(element.content["text"].split()) for element in found)
    assert _letters(kept) == _letters(text)


def _letters(text: str) -> str:
    return "".join(character for character in text if character in "ab中")
