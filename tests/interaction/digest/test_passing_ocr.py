"""OCR that fails for a reason that may pass: the page is unread, and the next run reads it."""

from pathlib import Path

from a2c_smcp.digest.extraction import ExtractionSettings, extract
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from tests.unit.documents.ocr.conftest import FakeService, Reply, service

__all__ = ["service"]

SCAN = Path(__file__).parents[2] / "data" / "documents" / "pdf_scan_medrpt.pdf"


def test_a_page_whose_ocr_failed_is_unread_and_read_by_the_next_run(tmp_path: Path, service: FakeService) -> None:
    spec = OcrSpec("remote", url=service.url, timeout=20.0, retries=0, allow_http="loopback")
    settings = ExtractionSettings(dpi=40, ocr=OcrPolicy((spec,)))

    service.answer(Reply(status=503))
    first = extract(SCAN, tmp_path, settings, numbers=[1])
    assert [page.problem for page in first.pages] != [""]
    assert "503" in first.pages[0].problem

    service.answer(Reply(b"the penguins of the patient", "text/plain"))
    second = extract(SCAN, tmp_path, settings, numbers=[1])
    assert (second.reused, second.pages[0].problem) == (0, "")
    assert any("penguins" in str(element.content) for element in second.pages[0].elements)

    third = extract(SCAN, tmp_path, settings, numbers=[1])
    assert third.reused == 1
