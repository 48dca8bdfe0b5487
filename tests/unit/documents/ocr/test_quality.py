"""Text worth keeping, and text that is not."""

import pytest

from a2c_smcp.documents.ocr.model import OcrBlock, OcrLine, OcrPage
from a2c_smcp.documents.ocr.quality import fault_of, repeats


@pytest.mark.parametrize(
    "text",
    [
        "word " * 400,
        "A sentence that comes again. " * 50,
        "\n".join(["| a | b |"] * 30),
        "哈" * 500,
        "Some proper beginning of a page.\n" + "and then it loops " * 200,
    ],
)
def test_loops_are_found(text: str) -> None:
    assert repeats(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "An ordinary sentence about something, with a second half.",
        "Contents " + "." * 300 + " 7",
        "\n".join(f"Row {number} of the table | {number * 7}" for number in range(60)),
        "-" * 400 + "\nText below a rule",
        "yes\nno\nyes\nno\nyes",
    ],
)
def test_text_that_only_looks_alike_is_kept(text: str) -> None:
    assert not repeats(text)


def test_a_page_of_lines_and_one_of_blocks_are_judged_alike() -> None:
    lines = OcrPage((OcrLine("fine", (0, 0, 1, 1), 0.9),), "x", 1, 1)
    blocks = OcrPage((), "x", 1, 1, blocks=(OcrBlock("table", {"headers": [], "rows": [["fine"]]}),))
    assert (fault_of(lines), fault_of(blocks), fault_of(OcrPage((), "x", 1, 1))) == ("", "", "no text was found")
