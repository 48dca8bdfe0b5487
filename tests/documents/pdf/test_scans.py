"""Pages that are pictures: without OCR they say how to turn it on, with it each element says who read it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.ocr import base
from a2c_smcp.documents.ocr.base import OcrLine, OcrPage, OcrPolicy, OcrSpec
from a2c_smcp.errors import DocumentError

DATA = Path(__file__).parents[2] / "data" / "documents"
SCAN = DATA / "pdf_scan_medrpt.pdf"
POLICY = OcrPolicy((OcrSpec("local"),))


@dataclass
class Reader:
    """Reads one line from any picture, or fails."""

    name: str = "reader"
    fails: bool = False
    pictures: int = 0

    def read(self, png: bytes) -> OcrPage:
        self.pictures += 1
        if self.fails:
            raise DocumentError("out of order")
        return OcrPage((OcrLine("Patient record", (100.0, 100.0, 600.0, 140.0), 0.9),), self.name, 1700, 2200)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    reader = Reader()
    monkeypatch.setattr(base, "engine_of", lambda spec: reader)
    return reader


def test_without_a_policy_a_scan_is_its_picture_and_says_how_to_turn_ocr_on() -> None:
    elements = FORMAT.open(SCAN).page(0).elements
    assert [element.category for element in elements] == ["image"]
    assert "OCR is off" in elements[0].summary


def test_with_a_policy_its_text_comes_with_engine_and_confidence(reader: Reader) -> None:
    elements = FORMAT.open(SCAN, options=OpenOptions(ocr=POLICY)).page(0).elements
    assert reader.pictures == 1
    assert "Patient record" in [element.content.get("text") for element in elements]
    read = next(element for element in elements if element.content.get("text") == "Patient record")
    assert read.metadata["ocr"] == {"engine": "reader", "confidence": 0.9}


def test_a_page_with_text_never_pays_for_ocr(reader: Reader) -> None:
    document = FORMAT.open(DATA / "pdf_word365_structure.pdf", options=OpenOptions(ocr=POLICY))
    document.page(0)
    assert reader.pictures == 0


def test_text_that_lies_unseen_over_a_picture_is_used(reader: Reader) -> None:
    FORMAT.open(DATA / "pdf_invisible_text.pdf", options=OpenOptions(ocr=POLICY)).page(0)
    assert reader.pictures == 0


def test_a_failing_engine_leaves_the_picture_with_the_reason(reader: Reader) -> None:
    reader.fails = True
    elements = FORMAT.open(SCAN, options=OpenOptions(ocr=POLICY)).page(0).elements
    assert [element.category for element in elements] == ["image"]
    assert "out of order" in elements[0].metadata["ocr_note"]


def test_the_picture_of_an_element_is_the_stored_one() -> None:
    document = FORMAT.open(SCAN)
    kind, data = document.element_image(document.page(0).elements[0].id)  # type: ignore[attr-defined]
    assert (kind, data[:3]) in (("image/jpeg", b"\xff\xd8\xff"), ("image/png", b"\x89PN"))
    assert document.element_image("p0-txt1") is None  # type: ignore[attr-defined]
