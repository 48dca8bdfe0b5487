"""`a2c ocr` over real HTTP, and the digest that uses it."""

import errno
import io
import json
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2c_smcp.digest.dotsocr import remote_tools
from a2c_smcp.digest.ocr_service import OcrServiceSettings, create_app
from tests.interaction.digest.conftest import DOCUMENTS, Endpoint, said
from tests.interaction.digest.making import pdf, words
from tests.interaction.server.programs import ROOT, command, environment

INVOICE = DOCUMENTS / "pdf_table_repair_inv.pdf"
SCAN = DOCUMENTS / "img_scan_laboratory.png"
TOKEN = "planted-token-0123456789"
HEADERS = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The URL of a service that wants a token and takes two megabytes."""
    env = environment({"A2C_OCR_TOKEN": TOKEN})
    words = command("ocr", "--port", "0", "--json", "--max-mb", "2")
    with subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["engines"] == ["local"]
        yield ready["url"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def post(service: str, file: Path | None = INVOICE, field: str = "pdf", **form: str) -> httpx.Response:
    files = {field: (file.name, file.read_bytes())} if file is not None else None
    return httpx.post(service, files=files, data=form, headers=HEADERS, timeout=300)


@pytest.mark.rule("8.3")
def test_a_pdf_is_answered_as_json(service: str) -> None:
    answer = post(service, task="pdf_ocr", dpi="40", image_extract="true").json()
    assert (answer["page_count"], len(answer["pages"])) == (3, 3)
    assert [image["filename"] for image in answer["images"]] == ["page1.png", "page2.png", "page3.png"]
    assert "bumper" in answer["text"].lower()


@pytest.mark.rule("8.3")
def test_a_pdf_is_answered_as_an_archive_or_as_text(service: str) -> None:
    packed = post(service, response="zip", dpi="40")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert archive.namelist() == ["text.txt", "page1.png", "page2.png", "page3.png"]
    plain = post(service, response="text")
    assert (plain.headers["content-type"], "bumper" in plain.text.lower()) == ("text/plain; charset=utf-8", True)


@pytest.mark.rule("8.3")
def test_a_picture_is_read_by_the_engine_through_the_tool(service: str, tmp_path: Path) -> None:
    params = {"image_path": str(SCAN), "out_dir": str(tmp_path), "ocr_url": service, "ocr_key": TOKEN}
    response = remote_tools.call_image(params)
    data = response["data"]
    assert data is not None
    assert "laboratory" in Path(data["text_path"]).read_text().lower()


@pytest.mark.parametrize(
    ("form", "status", "why"),
    [
        ({"task": "dance"}, 400, "There is no task 'dance'"),
        ({"task": "image_ocr"}, 400, "send it in the field `image`"),
        ({"dpi": "many"}, 400, "dpi must be a whole number"),
        ({"dpi": "9999"}, 400, "dpi must be a whole number from"),
        ({"response": "tape"}, 400, "There is no response form 'tape'"),
    ],
)
def test_a_form_without_sense_is_refused(service: str, form: dict[str, str], status: int, why: str) -> None:
    answer = post(service, INVOICE, "pdf", **form)
    assert (answer.status_code, why in answer.json()["error"]["message"]) == (status, True)


def test_a_file_that_cannot_be_read_is_told(service: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing")
    answer = post(service, broken)
    assert (answer.status_code, answer.json()["error"]["message"].startswith("Cannot be read")) == (422, True)


def test_a_page_that_cannot_be_read_says_why(service: str, tmp_path: Path) -> None:
    answer = post(service, pdf(tmp_path / "a.pdf", [words(1), None]), dpi="40").json()
    assert [page.get("problem") for page in answer["pages"]] == [None, "the page is damaged"]


async def test_a_full_disk_of_the_service_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("a2c_smcp.digest.ocr_service.extract", full)
    transport = httpx.ASGITransport(create_app(OcrServiceSettings(ocr=None)))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        answer = await client.post("/extract", files={"pdf": ("a.pdf", b"%PDF-")})
    assert (answer.status_code, answer.json()["error"]["message"]) == (507, "The disk of the service is full")


def test_a_file_too_large_is_refused_whether_its_size_was_declared_or_not(service: str) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"--x\r\ncontent-disposition: form-data; name=pdf; filename=a.pdf\r\n\r\n"
        for _ in range(48):
            yield b"0" * 65536

    head = HEADERS | {"content-type": "multipart/form-data; boundary=x"}
    declared = httpx.post(service, content=b"0" * (3 << 20), headers=head, timeout=60)
    assert declared.status_code == 413
    streamed = httpx.post(service, content=pieces(), headers=head, timeout=60)
    assert streamed.status_code == 413


def test_nobody_comes_in_without_the_token(service: str) -> None:
    answer = httpx.post(service, files={"pdf": b"x"})
    assert (answer.status_code, TOKEN in answer.text) == (401, False)
    health: Any = httpx.get(service.replace("/extract", "/health")).json()
    assert health["ok"] is True


def test_other_users_of_the_machine_need_the_token_that_is_printed(tmp_path: Path) -> None:
    words, env = command("ocr", "--port", "0", "--json"), environment({"XDG_STATE_HOME": str(tmp_path)})
    with subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        headers = {"authorization": f"Bearer {ready['token']}"}
        codes = [httpx.post(ready["url"], headers=one, timeout=60).status_code for one in ({}, headers)]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert codes == [401, 400]


def test_other_machines_need_a_token() -> None:
    run = subprocess.run(
        command("ocr", "--host", "0.0.0.0", "--port", "0", "--no-auth"),
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, "leave --no-auth or --host out" in run.stderr) == (1, True)


def test_a_vision_model_can_be_the_engine(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("# Laboratory\n\nSeen by a model, word for word.")
    words = command(
        "ocr", "--port", "0", "--json", "--no-auth", "--vision-url", endpoint.url, "--vision-model", "dots.ocr"
    )
    env = environment({"A2C_OCR_VISION_KEY": TOKEN})
    with subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        answer = httpx.post(ready["url"], files={"image": (SCAN.name, SCAN.read_bytes())}, timeout=120).json()
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(rest)) == (0, {"event": "stopped"})
    assert ready["engines"] == ["vision", "local"]
    assert ("Seen by a model" in answer["text"], answer["pages"][0]["by"]) == (True, "ocr:vision")
    assert (endpoint.asked[0]["model"], endpoint.headers[0]["authorization"]) == ("dots.ocr", f"Bearer {TOKEN}")
