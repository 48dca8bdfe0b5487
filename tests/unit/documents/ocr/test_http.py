"""Talking to a service: what is sent, when it is sent again, and what is refused."""

import io
import json
import socket
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.ocr.answers import unpack
from a2c_smcp.documents.ocr.http import Service, check_url, send_file, send_json
from a2c_smcp.errors import BadRequest, DocumentError
from tests.unit.documents.ocr.conftest import FakeService, Reply


def quick(service: FakeService, **settings: object) -> Service:
    return Service(service.url, **({"allow_http": "loopback", "backoff": 0.0, "timeout": 10.0} | settings))  # type: ignore[arg-type]


def test_a_picture_goes_out_as_a_form_with_its_task(service: FakeService, tmp_path: Path) -> None:
    service.answer(Reply(b"hello", "text/plain; charset=utf-8"))
    answer = send_file(quick(service, key="k1"), "image", b"PNGDATA", tmp_path / "a", {"dpi": "200"})
    [request] = service.requests
    assert (answer.path.read_bytes(), answer.content_type) == (b"hello", "text/plain")
    assert request.headers["Authorization"] == "Bearer k1"
    assert b'name="image"; filename="page.png"' in request.body
    assert b'name="task"\r\n\r\nimage_ocr' in request.body
    assert b'name="dpi"\r\n\r\n200' in request.body
    assert b"PNGDATA" in request.body


def test_a_pdf_is_sent_from_its_file(service: FakeService, tmp_path: Path) -> None:
    document = tmp_path / "x.pdf"
    document.write_bytes(b"%PDF-1.7 body")
    send_file(quick(service), "pdf", document, tmp_path / "a")
    [request] = service.requests
    assert b'name="pdf"; filename="document.pdf"' in request.body
    assert b'name="task"\r\n\r\npdf_ocr' in request.body
    assert b"%PDF-1.7 body" in request.body


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again_with_the_whole_file(
    service: FakeService, tmp_path: Path, status: int
) -> None:
    document = tmp_path / "x.pdf"
    document.write_bytes(b"whole")
    service.answer(Reply(status=status), Reply(b"fine"))
    answer = send_file(quick(service), "pdf", document, tmp_path / "a")
    assert answer.path.read_bytes() == b"fine"
    assert [b"whole" in request.body for request in service.requests] == [True, True]


def test_waits_grow_and_heed_what_the_service_asks_for(service: FakeService, tmp_path: Path) -> None:
    waits: list[float] = []
    service.answer(Reply(status=503), Reply(status=429, headers={"Retry-After": "7"}), Reply(status=503), Reply(b"x"))
    send_json(quick(service, backoff=1.0, retries=3), {}, tmp_path / "a", sleep=waits.append)
    assert 1.0 <= waits[0] <= 1.5
    assert waits[1] == 7.0
    assert 4.0 <= waits[2] <= 6.0


def test_no_wait_is_longer_than_the_limit(service: FakeService, tmp_path: Path) -> None:
    waits: list[float] = []
    service.answer(Reply(status=503, headers={"Retry-After": "86400"}), Reply(b"x"))
    send_json(quick(service), {}, tmp_path / "a", sleep=waits.append)
    assert waits == [30.0]


@pytest.mark.parametrize(("status", "why"), [(400, "400"), (401, "key"), (403, "key"), (404, "404"), (302, "redirect")])
def test_a_lasting_refusal_is_not_repeated(service: FakeService, tmp_path: Path, status: int, why: str) -> None:
    service.answer(Reply(status=status, headers={"Location": "http://127.0.0.1:1/"}))
    with pytest.raises(DocumentError, match=why):
        send_json(quick(service), {}, tmp_path / "a")
    assert len(service.requests) == 1


def test_it_gives_up_after_its_retries(service: FakeService, tmp_path: Path) -> None:
    service.answer(Reply(status=503))
    with pytest.raises(DocumentError, match="503"):
        send_json(quick(service, retries=2), {}, tmp_path / "a")
    assert len(service.requests) == 3


def test_it_gives_up_when_its_patience_ends(service: FakeService, tmp_path: Path) -> None:
    waits: list[float] = []
    service.answer(Reply(status=503, headers={"Retry-After": "20"}))
    with pytest.raises(DocumentError, match="503"):
        send_json(quick(service, retries=5, patience=10.0), {}, tmp_path / "a", sleep=waits.append)
    assert (len(service.requests), waits) == (1, [])


def test_a_service_that_never_answers_is_left(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(DocumentError, match=r"within 0\.2 seconds"):
            send_json(Service(url, timeout=0.2, retries=0, allow_http="loopback"), {}, tmp_path / "a")


def test_an_answer_that_is_too_large_is_refused(service: FakeService, tmp_path: Path) -> None:
    service.answer(Reply(b"x" * 5_000))
    with pytest.raises(DocumentError, match="more than"):
        send_json(quick(service, max_answer=1_000), {}, tmp_path / "a")


def test_an_answer_that_unpacks_to_too_much_is_refused(service: FakeService, tmp_path: Path) -> None:
    import gzip

    service.answer(Reply(gzip.compress(b"\0" * 2_000_000), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(DocumentError, match="more than"):
        send_json(quick(service, max_answer=100_000), {}, tmp_path / "a")


def test_a_service_that_is_not_there_is_told_without_its_address(tmp_path: Path) -> None:
    gone = FakeService()
    url = gone.url
    gone.close()
    with pytest.raises(DocumentError, match="cannot be reached") as caught:
        send_json(Service(url, allow_http="loopback", retries=1, backoff=0.0), {}, tmp_path / "a")
    assert "127.0.0.1" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://ocr.example/extract", "never"),
        ("http://ocr.example/extract", "loopback"),
        ("http://127.0.0.1:8000/", "never"),
        ("http://127.0.0.1.example/", "loopback"),
        ("ftp://ocr.example/", "always"),
        ("https://user:secret@ocr.example/", "never"),
        ("https:///x", "never"),
        ("https://[bad", "never"),
        ("file:///etc/passwd", "always"),
        ("", "always"),
    ],
)
def test_addresses_that_are_refused(url: str, allow: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_url(url, allow)  # type: ignore[arg-type]
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("https://ocr.example/extract", "never"),
        ("http://127.0.0.1:8000/x", "loopback"),
        ("http://localhost/x", "loopback"),
        ("http://[::1]:80/x", "loopback"),
        ("http://ocr.example/extract", "always"),
    ],
)
def test_addresses_that_are_taken(url: str, allow: str) -> None:
    check_url(url, allow)  # type: ignore[arg-type]


def test_a_key_is_never_shown() -> None:
    assert "k-secret" not in repr(Service("https://ocr.example/", "k-secret"))


KEY = "ocr-key-planted-0123456789"


def echoing_answers() -> list[Reply]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("page.md", f"Authorization: Bearer {KEY}")
        archive.writestr(f"{KEY}.png", b"\x89PNG\r\n\x1a\nrest")
    escaped = json.dumps({"text": KEY}).replace("ocr", "\\u006f\\u0063\\u0072").encode()
    return [
        Reply(f"your key is {KEY}".encode()),
        Reply(json.dumps({"markdown": f"# {KEY}"}).encode(), "application/json"),
        Reply(escaped, "application/json"),
        Reply(packed.getvalue(), "application/zip"),
    ]


@pytest.mark.parametrize("reply", echoing_answers(), ids=["text", "json", "escaped", "zip"])
def test_a_key_that_the_service_sends_back_is_removed_from_its_answer(
    service: FakeService, tmp_path: Path, reply: Reply
) -> None:
    service.answer(reply)
    answer = send_file(quick(service, key=KEY), "image", b"PNG", tmp_path / "a")
    (tmp_path / "pictures").mkdir()
    extract = unpack(answer, tmp_path / "pictures")
    assert "<redacted>" in extract.text
    assert KEY not in extract.text + repr(extract.pictures) + repr(answer)


def test_a_key_in_an_error_of_the_service_is_removed_before_the_error_is_cut(
    service: FakeService, tmp_path: Path
) -> None:
    service.answer(Reply(json.dumps({"ok": False, "error": "x" * 290 + KEY}).encode(), "application/json"))
    answer = send_file(quick(service, key=KEY), "image", b"PNG", tmp_path / "a")
    with pytest.raises(DocumentError) as refused:
        unpack(answer)
    assert KEY[:8] not in refused.value.message
