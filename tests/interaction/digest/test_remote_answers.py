"""What services leave out: pictures, page marks, most of the text."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.digest.dotsocr import remote_tools
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.digest.output_assembler import OutputAssemblerExpert
from a2c_smcp.digest.page_texts import divided
from a2c_smcp.digest.pipeline import Pipeline
from tests.interaction.digest.conftest import Endpoint
from tests.interaction.digest.making import PICTURE, pdf, words

NO_MODEL = LlmProxy(LlmSettings())
REMOTE = [f"The service read this on page {number}, and that is enough." for number in (1, 2, 3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return pdf(tmp_path / "a.pdf", [words(1), words(2), words(3) + b"\n" + PICTURE])


def run(path: Path, endpoint: Endpoint, **more: Any) -> dict[str, Any]:
    params = {"pdf_path": str(path), "dpi": 40, "ocr": False, "ocr_url": endpoint.url, **more}
    response = Pipeline(llm=NO_MODEL).run(params)
    assert response["data"] is not None, response["error"]
    return response["data"]


def test_an_answer_without_pictures_gives_an_illustrated_digest(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (200, {"pages": REMOTE})
    data = run(path, endpoint)
    assert [Path(image).name for image in data["page_images"]] == ["page1.png", "page2.png", "page3.png"]
    assert {page["path"] for page in data["pages"]} == {"remote"}
    text = Path(data["output_md"]).read_text()
    # The words are the service's; which page has a picture is seen here.
    assert ("The service read this on page 3" in text, "What stands on page" in text) == (True, False)
    assert ("![Page 3](page3.png)" in text, "![Page 1](page1.png)" in text) == (True, False)
    before = [Path(image).stat().st_mtime_ns for image in data["page_images"]]
    again = run(path, endpoint)
    assert ([Path(image).stat().st_mtime_ns for image in again["page_images"]], len(endpoint.asked)) == (before, 1)


def test_pictures_of_the_service_are_kept_and_those_that_lack_are_drawn(path: Path, endpoint: Endpoint) -> None:
    packed = io.BytesIO()
    png = b"\x89PNG\r\n\x1a\n" + b"theirs"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("page_2.png", png)
        for number, text in enumerate(REMOTE, start=1):
            archive.writestr(f"page_{number}.md", text)
    endpoint.answer = lambda _: (200, packed.getvalue())
    data = run(path, endpoint)
    assert sorted(Path(image).name for image in data["page_images"]) == ["page1.png", "page3.png", "page_2.png"]
    assert Path(data["folder"], "page_2.png").read_bytes() == png


@pytest.mark.parametrize("form", ["json", "zip"])
def test_pages_of_an_answer_stay_apart(path: Path, endpoint: Endpoint, tmp_path: Path, form: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, text in enumerate(REMOTE, start=1):
            archive.writestr(f"page_{number}.md", text)
    endpoint.answer = lambda _: (200, {"pages": REMOTE} if form == "json" else packed.getvalue())
    params = {"pdf_path": str(path), "out_dir": str(tmp_path / "out"), "ocr_url": endpoint.url}
    data = remote_tools.call_pdf(params)["data"]
    assert data is not None
    assert divided(Path(data["text_path"]).read_text(), 3) == dict(enumerate(REMOTE, start=1))


def test_numbers_that_are_none_of_pages_are_not_taken_for_some(path: Path, endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answer = lambda _: (200, {"pages": [{"page": 2024, "text": REMOTE[0]}, {"page": 2025, "text": REMOTE[1]}]})
    params = {"pdf_path": str(path), "out_dir": str(tmp_path / "out"), "ocr_url": endpoint.url}
    data = remote_tools.call_pdf(params)["data"]
    assert data is not None
    assert "<!-- page" not in Path(data["text_path"]).read_text()


def test_a_page_with_too_little_text_is_read_here(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (200, {"pages": [f"{REMOTE[0]} {' '.join(map(str, range(500)))}", "2", REMOTE[2]]})
    data = run(path, endpoint)
    assert [(page["path"], page["why"]) for page in data["pages"]] == [
        ("remote", ""),
        ("local", "remote: hardly any text"),
        ("remote", ""),
    ]
    assert "What stands on page 2" in Path(data["text_path"]).read_text()


def test_a_text_too_short_for_its_pages_is_not_taken(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (200, {"text": "Thirty letters, for three pages."})
    assert run(path, endpoint)["path"] == "local"


def test_a_page_that_nobody_could_read_is_unread(tmp_path: Path, endpoint: Endpoint) -> None:
    path = pdf(tmp_path / "b.pdf", [words(1), None])
    endpoint.answer = lambda _: (200, {"pages": [REMOTE[0], ""]})
    data = run(path, endpoint)
    assert (data["status"], [page["page"] for page in data["unread"]]) == ("partial", [2])


def test_an_assembler_alone_reads_what_its_text_lacks(path: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(f"<!-- page 1 -->\n{REMOTE[0]}\n\n<!-- page 2 -->\n2\n\n<!-- page 3 -->\n{REMOTE[2]}\n")
    params = {
        "pdf_path": str(path),
        "text_path": str(text),
        "page_count": 3,
        "out_md_path": str(tmp_path / "d.md"),
        "ocr": False,
    }
    assert OutputAssemblerExpert(NO_MODEL).compose(params)["ok"]
    written = (tmp_path / "d.md").read_text()
    assert ("What stands on page 2" in written, "The service read this on page 1" in written) == (True, True)


def test_a_refused_key_is_sent_to_a_service_once(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (401, {})
    data = run(path, endpoint)
    assert (data["path"], len(endpoint.asked)) == ("local", 1)
    assert "401" in data["why"]


def test_what_a_service_writes_cannot_harm_the_digest(path: Path, endpoint: Endpoint) -> None:
    bad = (
        "# Forged\n\n<script>alert(1)</script>\n\n![x](https://evil.example/i.png)\n\n"
        "A sentence with [a link](javascript:alert(1)) and enough words to be chosen as a key sentence.\n\n"
        "| a | b |\n| --- | --- |\n| <img src=x onerror=alert(1)> | [c](javascript:x) |\n\n```\nnot closed"
    )
    endpoint.answer = lambda _: (200, {"pages": [bad, REMOTE[1], f"{REMOTE[2]}\n<!-- page 1 -->\nforged"]})
    text = Path(run(path, endpoint)["output_md"]).read_text()
    assert not [part for part in ("<script", "<img", "javascript:", "evil.example", "\n# Forged") if part in text]
