"""Which lines of a PDF page are headings: by their looks, by their numbers, and by the outline."""

from pathlib import Path

import pytest

from tests.documents.pdf.making import Made, MadePage, lines, text
from tests.documents.pdf.test_reading import PROSE, contents, opened


def headings(folder: Path, content: str, outline: list[tuple[str, int]] | None = None) -> list[tuple[int, str]]:
    """Return level and text of the headings of a page of that content above and below running text."""
    page = lines(72, 700, PROSE) + content + lines(72, 500, PROSE)
    document = opened(folder, Made([MadePage(page)], outline=outline or ()))
    return [(heading["level"], heading["text"]) for heading in contents(document, "heading")]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (text(72, 600, "2.2.1 png", 14), [(3, "2.2.1 png")]),
        (text(72, 600, "2.6 ROT13", 10, "F2"), [(2, "2.6 ROT13")]),
        (text(72, 600, "2.8 The \\def command", 10, "F2"), [(2, "2.8 The \\def command")]),
        (text(72, 600, "[2016/05/16 v1.11]", 14, "F2"), [(2, "[2016/05/16 v1.11]")]),
        (text(72, 600, "2.3 From text to pages", 10), [(2, "2.3 From text to pages")]),
    ],
    ids=["short word", "bold", "bold with code", "date of a version", "plain, with room above"],
)
def test_a_line_is_a_heading_by_looks_and_number(tmp_path: Path, line: str, found: list[tuple[int, str]]) -> None:
    assert headings(tmp_path, line) == found


@pytest.mark.parametrize(
    "line",
    [
        text(72, 600, "2.50 m", 10, "F2"),
        text(72, 600, "17:30 / 18:45", 14, "F2"),
        text(72, 600, "2.3 is less than 2.4, and that is all.", 10),
        text(72, 600, "Room above makes no title", 10),
    ],
    ids=["measure", "times", "numbered sentence", "no number"],
)
def test_a_line_that_is_set_off_is_not_always_a_heading(tmp_path: Path, line: str) -> None:
    assert headings(tmp_path, line) == []


def test_a_numbered_line_without_room_above_is_one_only_by_the_outline(tmp_path: Path) -> None:
    line = text(72, 659, "4.1 The style of theorems", 10)
    assert headings(tmp_path, line) == []
    assert headings(tmp_path, line, [("The style of theorems", 0)]) == [(1, "4.1 The style of theorems")]


def test_an_outline_names_a_heading_beside_one_that_needs_none(tmp_path: Path) -> None:
    beside = text(72, 620, "1 Foxes", 16, "F2") + text(72, 590, "1.1 Where they live", 10)
    outline = [("Foxes", 0), ("Where they live", 0)]
    assert headings(tmp_path, beside) == [(1, "1 Foxes"), (2, "1.1 Where they live")]
    assert headings(tmp_path, beside, outline) == [(1, "1 Foxes"), (1, "1.1 Where they live")]
