"""The engine that runs here, on a real scan, turned to every side."""

from pathlib import Path

import pytest

from a2c_smcp.documents.ocr.base import OcrSpec, elements_of, engine_of
from a2c_smcp.documents.ocr.pictures import open_picture, png_of

SCAN = Path(__file__).parents[3] / "data" / "documents" / "img_scan_laboratory.png"
LOCAL = OcrSpec("local")


def test_a_scan_is_read_with_its_heading_and_its_table() -> None:
    pytest.importorskip("rapidocr")
    page = engine_of(LOCAL).read(SCAN.read_bytes())
    elements = elements_of(page, 0, 200)
    [table] = [element for element in elements if element.category == "table"]
    assert [element.content["text"] for element in elements if element.category == "heading"] == [
        "LABORATORY RESULTS",
        "IMAGING STUDIES",
    ]
    assert table.content["headers"] == ["Test", "Result", "Reference Range", "Flag"]
    assert table.content["rows"][1] == ["HbA1c", "6.8%", "<5.7%", "HIGH"]
    assert len(table.content["rows"]) == 12
    assert table.metadata["ocr"]["confidence"] > 0.9


@pytest.mark.parametrize("turned", [90, 180])
def test_a_page_on_its_side_or_head_is_turned_upright(turned: int) -> None:
    pytest.importorskip("rapidocr")
    picture = open_picture(SCAN.read_bytes()).crop((60, 620, 860, 720))
    page = engine_of(LOCAL).read(png_of(picture.rotate(-turned, expand=True)))
    assert page.rotation == 360 - turned
    assert (page.width, page.height) == (800, 100)
    assert "IMPRESSION: Normal CT head examination" in " ".join(line.text for line in page.lines)


def test_a_blank_page_has_no_lines(blank: bytes) -> None:
    assert engine_of(LOCAL).read(blank).lines == ()
