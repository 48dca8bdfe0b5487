"""Answers of services in all their forms, and those that are refused."""

import base64
import io
import json
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.ocr.answers import Extract, unpack
from a2c_smcp.documents.ocr.http import Answer
from a2c_smcp.errors import DocumentError

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def answer(folder: Path, body: bytes, content_type: str = "application/json") -> Answer:
    path = folder / "answer"
    path.write_bytes(body)
    return Answer(path, content_type)


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
        ({"pages": [{"text": "one"}, {"text": "two"}]}, "one\n\ntwo"),
        (["one", "two"], "one\n\ntwo"),
        ({"something": "else"}, ""),
    ],
)
def test_text_is_found_in_json(tmp_path: Path, value: object, text: str) -> None:
    assert unpack(answer(tmp_path, json.dumps(value).encode())) == Extract(text)


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
    assert unpack(answer(tmp_path, "Grüße\n".encode(), "text/plain")) == Extract("Grüße\n")


def test_text_that_only_looks_like_json_is_text(tmp_path: Path) -> None:
    assert unpack(answer(tmp_path, b"[1] see below", "text/plain")) == Extract("[1] see below")


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
