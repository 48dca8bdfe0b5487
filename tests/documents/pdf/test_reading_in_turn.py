"""PDFs read page after page, and pages that hold far more than others."""

from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.pdf.document import PdfDocument
from tests.documents.pdf.making import Made, MadePage, lines

LABELLED = "/PageLabels<</Nums[0<</S/r>>4<</S/D>>60<</P(A-)/S/D>>]>>"
TITLES = [
    *[f"Page {label}" for label in ("i", "ii", "iii", "iv")],
    *[f"Page {number}" for number in range(1, 57)],
    *[f"Page A-{number}" for number in range(1, 11)],
]


def opened(folder: Path, made: Made) -> PdfDocument:
    path = folder / "made.pdf"
    path.write_bytes(made.build())
    return PdfDocument(path, OpenOptions())


@pytest.mark.parametrize(
    "order",
    [range(70), range(69, -1, -1), [0, 1, 2, 40, 41, 3, 69, 68, 4, 5, 1]],
    ids=["in turn", "backwards", "jumping about"],
)
def test_pages_keep_their_labels_in_whatever_order_they_are_read(order: range | list[int], tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage()] * 70, catalogue=LABELLED))
    assert [document.page(index).title for index in order] == [TITLES[index] for index in order]


def test_pages_without_labels_are_numbered(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage()] * 3))
    assert [document.page(index).title for index in range(3)] == ["Page 1", "Page 2", "Page 3"]


def test_a_page_of_more_lines_than_are_asked_for_at_once_is_read_whole(tmp_path: Path) -> None:
    told = [f"Line {number} of many lines that tell of foxes and of hares." for number in range(1200)]
    content = lines(72, 780, told, size=0.5, leading=0.6)
    (element,) = opened(tmp_path, Made([MadePage(content)])).page(0).elements
    assert element.content == {"text": " ".join(told)}


def test_a_page_after_a_long_one_has_its_own_text_only(tmp_path: Path) -> None:
    long = lines(72, 780, ["Foxes " * 15] * 120, size=5, leading=6)
    document = opened(tmp_path, Made([MadePage(long), MadePage(lines(72, 600, ["Hares live here."]))]))
    assert len(document.page(0).elements[0].content["text"]) > 10_000
    assert [element.content for element in document.page(1).elements] == [{"text": "Hares live here."}]


def test_pages_of_a_chapter_stay_parsed(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(lines(72, 600, ["Hares live here."]))] * 60))
    pages = [document.page(index) for index in range(60)]
    assert [document.page(index) is page for index, page in enumerate(pages)] == [True] * 60


def test_only_so_much_of_long_pages_stays_parsed(tmp_path: Path) -> None:
    long = lines(72, 780, ["Foxes and hares " * 6] * 1200, size=0.5, leading=0.6)
    document = opened(tmp_path, Made([MadePage(long)] * 8))
    pages = [document.page(index) for index in range(8)]
    assert document.page(7) is pages[7]
    again = document.page(0)
    assert again == pages[0]
    assert again is not pages[0]


def test_a_link_lies_exactly_where_the_file_says(tmp_path: Path) -> None:
    link = "<</Type/Annot/Subtype/Link/Rect[94.52 200 156.32 212]/A<</S/URI/URI(https://example.org/)>>>>"
    document = opened(tmp_path, Made([MadePage(annotations=[link], box=(0, 0, 595.22, 841.89))]))
    (element,) = document.page(0).elements
    x0, _, x1, _ = element.metadata["bbox"]
    assert (x0, x1) == (94.5, 156.4)
