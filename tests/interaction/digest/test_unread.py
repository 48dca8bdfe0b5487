"""Pages that cannot be read, pictures, outlines, and disks that are full."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.digest.dotsocr import local_pdf_tool
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.digest.pipeline import Pipeline
from tests.interaction.digest.conftest import Endpoint, said
from tests.interaction.digest.making import PICTURE, pdf, words
from tests.unit.cli.running import a2c

NO_MODEL = LlmProxy(LlmSettings())


def run(path: Path, out_dir: Path, llm: LlmProxy = NO_MODEL, progress: Any = None, **more: Any) -> dict[str, Any]:
    params = {"pdf_path": str(path), "out_dir": str(out_dir), "dpi": 40, "ocr": False, **more}
    return dict(Pipeline(llm=llm).run(params, progress=progress))


def test_a_damaged_page_is_unread_and_the_digest_partial(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [words(1), None, words(3), b""])
    data = run(path, tmp_path / "out")["data"]
    assert (data["status"], data["unread"]) == ("partial", [{"page": 2, "why": "the page is damaged"}])
    assert data["sections"][0]["unread"] == [2]
    text = Path(data["output_md"]).read_text()
    assert "1 of 4 pages could not be read: 2." in text
    assert "> ⚠ Page 2 could not be read: the page is damaged" in text


def test_a_page_that_is_empty_is_not_unread(tmp_path: Path) -> None:
    data = run(pdf(tmp_path / "a.pdf", [words(1), b""]), tmp_path / "out")["data"]
    assert (data["status"], data["unread"]) == ("complete", [])


def test_a_section_of_unread_pages_is_not_called_empty(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [words(1), None])
    data = run(path, tmp_path / "out", section_ranges=[[1, 1], [2, 2]])["data"]
    text = Path(data["output_md"]).read_text()
    assert ("hold no text" in text, "Page 2 could not be read" in text) == (False, True)


def test_a_model_is_not_shown_unread_pages_and_cannot_cite_them(tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("One [p1], two [p2].")
    path = pdf(tmp_path / "a.pdf", [words(1), None])
    data = run(path, tmp_path / "out", llm=LlmProxy(LlmSettings(endpoint.url, model="m")))["data"]
    assert "[p2]" not in endpoint.asked[0]["messages"][1]["content"].partition("The pages:")[2]
    assert "One [p1], two." in Path(data["output_md"]).read_text()


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_pages_of_a_file_that_is_replaced_or_deleted_meanwhile_are_unread(tmp_path: Path, how: str) -> None:
    path = pdf(tmp_path / "a.pdf", [words(number) for number in range(1, 31)])

    def change(step: str, done: int, _: int) -> None:
        if (step, done) == ("pages", 3):
            path.unlink()
            if how == "replaced":
                pdf(path, [b""] * 30)

    response = run(path, tmp_path / "out", progress=change)
    data = response["data"]
    assert (response["ok"], data["status"]) == (True, "partial")
    assert 1 <= len(data["unread"]) <= 27
    assert {page["why"] for page in data["unread"]} == {"the file was replaced or deleted while it was read"}
    # What could not be read is not kept as if it had been.
    pdf(path, [words(number) for number in range(1, 31)])
    assert run(path, tmp_path / "out")["data"]["status"] == "complete"


def test_a_file_of_which_nothing_can_be_read_has_no_digest(tmp_path: Path) -> None:
    response = run(pdf(tmp_path / "a.pdf", [None, None]), tmp_path / "out")
    assert (response["ok"], response["error"]) == (
        False,
        "None of the 2 pages could be read; page 1: the page is damaged",
    )
    local = local_pdf_tool.call({"pdf_path": str(tmp_path / "a.pdf"), "out_dir": str(tmp_path / "o"), "ocr": False})
    assert (local["ok"], local["data"]) == (False, {"unread": [1, 2]})


def test_the_command_has_exit_codes_of_its_own(tmp_path: Path) -> None:
    part = pdf(tmp_path / "part.pdf", [words(1), None])
    done = a2c("digest", "--pdf", str(part), "--dpi", "40", "--no_ocr", "--no_model", "--quiet")
    assert done.code == 3
    assert "partial: 1 of 2 pages could not be read\nnote: page 2 (local): the page is damaged" in done.out
    nothing = pdf(tmp_path / "nothing.pdf", [None])
    failed = a2c("digest", "--pdf", str(nothing), "--dpi", "40", "--no_ocr", "--no_model", "--quiet", "--json")
    assert (failed.code, json.loads(failed.out)["ok"]) == (1, False)


def test_every_page_with_a_picture_is_shown(tmp_path: Path) -> None:
    pages = [words(number) + (b"\n" + PICTURE if number % 2 else b"") for number in range(1, 31)]
    data = run(pdf(tmp_path / "a.pdf", pages), tmp_path / "out")["data"]
    text = Path(data["output_md"]).read_text()
    shown = [number for number in range(1, 31) if f"![Page {number}](page{number}.png)" in text]
    assert shown == list(range(1, 31, 2))


def test_a_model_does_not_keep_pictures_from_being_recognized(tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("Words [p1].")
    path = pdf(tmp_path / "a.pdf", [words(1), words(2) + b"\n" + PICTURE])
    data = run(path, tmp_path / "out", llm=LlmProxy(LlmSettings(endpoint.url, model="m")))["data"]
    assert "![Page 2](page2.png)" in Path(data["output_md"]).read_text()


def test_an_outline_of_many_entries_makes_chapters(tmp_path: Path) -> None:
    pages = [words(number) for number in range(1, 61)]
    outline = [(f"Entry {number}", number) for number in range(1, 61)]
    data = run(pdf(tmp_path / "a.pdf", pages, outline), tmp_path / "out")["data"]
    assert (len(data["sections"]), data["sections"][0]["title"]) == (8, "Entry 1 – Entry 7")
    text = Path(data["output_md"]).read_text()
    assert all(f"- Entry {number} [p{number}]" in text for number in range(1, 61))


PROGRAM = """
import resource, signal, sys
from a2c_smcp.digest.pipeline import Pipeline
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
response = Pipeline(llm=LlmProxy(LlmSettings())).run(
    {"pdf_path": sys.argv[1], "out_dir": sys.argv[2], "dpi": 150, "ocr": False})
print(response["ok"], response["error"])
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="there is no such limit")
def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [words(1) + b"\n" + PICTURE])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.startswith("False ")
    assert "page1.png could not be written: the file would be larger than allowed" in done.stdout
    assert not list((tmp_path / "out").rglob(".part-*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        with open("/dev/full", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"x")

    monkeypatch.setattr("a2c_smcp.digest.folders._write_in", full)
    path = pdf(tmp_path / "a.pdf", [words(1)])
    response = local_pdf_tool.call({"pdf_path": str(path), "out_dir": str(tmp_path / "out"), "ocr": False})
    assert response["ok"] is False
    assert "could not be written: the disk is full; free some space and run again" in str(response["error"])
