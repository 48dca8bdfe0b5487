"""The two programs that try an OCR service."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interaction.digest.conftest import Endpoint
from tests.interaction.digest.making import pdf, words

EXAMPLES = Path(__file__).parents[3] / "examples" / "dotsocr"


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    environment = {**os.environ, "A2C_DIGEST_OCR_KEY": "planted-key-0123"}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)


@pytest.mark.rule("8.3")
def test_a_pdf_is_sent_and_its_text_lands_in_the_folder(tmp_path: Path, endpoint: Endpoint) -> None:
    path = pdf(tmp_path / "a.pdf", [words(1), words(2)])
    endpoint.answer = lambda _: (200, {"pages": ["one", "two"]})
    done = run("test_pdf_ocr.py", endpoint.url, str(path), str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 pages in ")
    assert f"text: {tmp_path / 'out' / 'extract_text_remote.txt'}" in done.stdout
    assert endpoint.headers[0]["authorization"] == "Bearer planted-key-0123"


@pytest.mark.rule("8.3")
def test_a_picture_is_sent_and_its_text_printed(tmp_path: Path, endpoint: Endpoint) -> None:
    (tmp_path / "page.png").write_bytes(b"picture")
    endpoint.answer = lambda _: (200, {"text": "What the picture says."})
    done = run("test_image_ocr.py", endpoint.url, str(tmp_path / "page.png"), str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (0, "What the picture says.\n")
    assert b'name="task"\r\n\r\nimage_ocr' in endpoint.asked[0]["body"]


@pytest.mark.parametrize("name", ["test_pdf_ocr.py", "test_image_ocr.py"])
def test_a_service_that_fails_is_said(tmp_path: Path, endpoint: Endpoint, name: str) -> None:
    endpoint.answer = lambda _: (400, {})
    path = pdf(tmp_path / "a.pdf", [words(1)])
    done = run(name, endpoint.url, str(path), str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (1, "failed: the service answered 400\n")
    assert run(name).returncode == 1
