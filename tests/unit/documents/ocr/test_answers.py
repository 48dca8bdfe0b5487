"""Answers of services in all their forms, and those that are refused."""

import base64
import io
import json
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.ocr.answers import ServiceExtract, unpack
from a2c_smcp.documents.ocr.http import ServiceReply
from a2c_smcp.errors import DocumentError

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def answer(folder: Path, body: bytes, content_type: str = "application/json") -> ServiceReply:
    path = folder / "answer"
    path.write_bytes(body)
    return ServiceReply(path, content_type)


def archive(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return buffer.getvalue()


def images(folder: Path) -> Path:
    path = folder / "images"
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"text": "hello", "images": []}, "hello"),
        ({"ok": True, "data": {"text": "hello"}}, "hello"),
        ({"markdown": "# hi", "text": "hi"}, "# hi"),
        (["one", "two"], "one\n\ntwo"),
        ({"something": "else"}, ""),
    ],
)
def test_text_is_found_in_json(tmp_path: Path, value: object, text: str) -> None:
    assert unpack(answer(tmp_path, json.dumps(value).encode())) == ServiceExtract(text)


@pytest.mark.parametrize(
    ("value", "pages"),
    [
        ({"pages": [{"text": "one"}, {"text": "two"}]}, {1: "one", 2: "two"}),
        ({"pages": ["one", "", "three"]}, {1: "one", 2: "", 3: "three"}),
        ({"data": {"pages": [{"page": 2, "markdown": "two"}, {"page": 1, "markdown": "one"}]}}, {2: "two", 1: "one"}),
        ({"pages": [{"page_index": 0, "text": "one"}, {"page_index": 1, "text": "two"}]}, {1: "one", 2: "two"}),
        ({"pages": [{"page": 0, "text": "one"}, {"page": 1, "text": "two"}]}, {1: "one", 2: "two"}),
        ({"pages": [{"page": 1, "text": "one"}, {"page": 1, "text": "two"}]}, {1: "one", 2: "two"}),
        ({"text": "all of it", "pages": [{"page": 1, "text": "one"}]}, {1: "one"}),
        ({"text": "all of it", "pages": []}, {}),
        ({"text": "all of it", "pages": [1, 2]}, {}),
    ],
)
def test_pages_in_json_stay_apart(tmp_path: Path, value: object, pages: dict[int, str]) -> None:
    assert unpack(answer(tmp_path, json.dumps(value).encode())).pages == pages


@pytest.mark.parametrize(
    ("files", "pages"),
    [
        ({"page_1.md": b"one", "page_2.md": b"two", "page_10.md": b"ten"}, {1: "one", 2: "two", 10: "ten"}),
        ({"out/x_page_0.md": b"one", "out/x_page_0_nohf.md": b"o", "out/x_page_1.md": b"two"}, {1: "one", 2: "two"}),
        ({"1.txt": b"one", "2.txt": b"two"}, {1: "one", 2: "two"}),
        ({"page_1.md": b"one", "page_1.json": b'{"text": "1"}', "all.md": b"everything"}, {1: "one"}),
        ({"text.txt": b"everything"}, {}),
        ({"a.md": b"one", "b.md": b"two"}, {}),
    ],
)
def test_pages_in_files_stay_apart(tmp_path: Path, files: dict[str, bytes], pages: dict[int, str]) -> None:
    assert unpack(answer(tmp_path, archive(**files), "application/zip")).pages == pages


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<!-- error --><html><body>502</body></html>", "text/plain"),
        (b"\n\n<HTML lang=en>", "application/octet-stream"),
        (b'<?xml version="1.0"?><!DOCTYPE html><p>', "text/plain"),
        (b"Bad gateway", "text/html"),
        (b'{"text": "<!doctype html><title>Login</title>"}', "application/json"),
        (archive(**{"page_1.md": b"<html>no</html>", "page_2.md": b"<html>no</html>"}), "application/zip"),
    ],
)
def test_a_web_page_is_no_text(tmp_path: Path, body: bytes, content_type: str) -> None:
    with pytest.raises(DocumentError, match="web page"):
        unpack(answer(tmp_path, body, content_type))


def test_a_table_in_html_is_text(tmp_path: Path) -> None:
    text = "<table><tr><td>1</td></tr></table>"
    assert unpack(answer(tmp_path, text.encode(), "text/plain")) == ServiceExtract(text)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_not_called_a_damaged_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        with open("/dev/full", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"x")

    monkeypatch.setattr(Path, "write_bytes", full)
    path = tmp_path / "answer"
    with path.open("wb") as file:
        file.write(archive(**{"a.png": PNG}))
    with pytest.raises(OSError, match="No space left"):
        unpack(ServiceReply(path, "application/zip"), tmp_path)


def test_pictures_in_json_become_files_with_safe_names(tmp_path: Path) -> None:
    content = base64.b64encode(PNG).decode()
    value = {
        "text": "t",
        "images": [
            {"filename": "../../etc/page 1.png", "content": content},
            {"filename": "page 1.exe", "content": f"data:image/png;base64,{content}"},
            {"filename": "", "content": content},
            {"filename": "script.png", "content": base64.b64encode(b"#!/bin/sh").decode()},
        ],
    }
    folder = images(tmp_path)
    extract = unpack(answer(tmp_path, json.dumps(value).encode()), folder)
    assert [path.relative_to(folder).as_posix() for path in extract.pictures] == [
        "page_1.png",
        "page_1_2.png",
        "image_3.png",
    ]
    assert all(path.read_bytes() == PNG for path in extract.pictures)


def test_a_zip_gives_its_texts_in_the_order_of_pages_and_its_pictures(tmp_path: Path) -> None:
    body = archive(**{"out/page_10.md": b"ten", "out/page_2.md": b"two", "pics/a.png": PNG, "x.bin": b"\0"})
    folder = images(tmp_path)
    extract = unpack(answer(tmp_path, body, "application/zip"), folder)
    assert (extract.text, [path.name for path in extract.pictures]) == ("two\n\nten", ["a.png"])


def test_a_zip_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    folder = images(tmp_path)
    extract = unpack(answer(tmp_path, archive(**{"../../evil.png": PNG}), "application/zip"), folder)
    assert extract.pictures == [folder / "evil.png"]


def test_plain_text_is_itself(tmp_path: Path) -> None:
    assert unpack(answer(tmp_path, "Grüße\n".encode(), "text/plain")) == ServiceExtract("Grüße\n")


def test_text_that_only_looks_like_json_is_text(tmp_path: Path) -> None:
    assert unpack(answer(tmp_path, b"[1] see below", "text/plain")) == ServiceExtract("[1] see below")


@pytest.mark.parametrize(
    ("body", "content_type", "why"),
    [
        (b'{"ok": false, "error": "queue is full"}', "application/json", "queue is full"),
        (b'{"error": {"message": "no"}}', "application/json", "no"),
        (b'{"text": ', "application/json", "damaged"),
        (b"[" * 100_000, "application/json", "damaged"),
        (b'{"text": "a", "images": [{"content": "%%%"}]}', "application/json", ""),
        (b"PK\x03\x04 nothing", "application/zip", "damaged"),
        (b"\xff\xfe\x00\x01", "application/octet-stream", "neither"),
        (b"<!DOCTYPE html><html>login</html>", "text/html", "web page"),
        (archive(**{"a.md": b"\0" * (20 << 20)}), "application/zip", "too much"),
    ],
)
def test_answers_that_are_refused(tmp_path: Path, body: bytes, content_type: str, why: str) -> None:
    if not why:
        assert unpack(answer(tmp_path, body, content_type), images(tmp_path)).pictures == []
        return
    with pytest.raises(DocumentError, match=why):
        unpack(answer(tmp_path, body, content_type))
