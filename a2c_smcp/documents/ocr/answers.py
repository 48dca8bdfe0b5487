"""What OCR services answer: JSON, a ZIP archive or plain text, none of which is trusted."""

import binascii
import json
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.masking import SecretMask
from a2c_smcp.documents.ocr.http import Answer
from a2c_smcp.documents.ocr.model import TransientOcrError
from a2c_smcp.errors import DocumentError

MAX_TEXT: Final = 16 << 20
MAX_PICTURES: Final = 5_000
MAX_PICTURE: Final = 64 << 20
MAX_UNPACKED: Final = 1 << 30
MAX_RATIO: Final = 400

_TEXTS: Final = (".md", ".markdown", ".txt", ".json")
_SIGNATURES: Final = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
    b"RIFF": ".webp",
    b"II*\0": ".tiff",
    b"MM\0*": ".tiff",
    b"BM": ".bmp",
}
_UNSAFE_NAME = re.compile(r"[^\w.-]+")
_DIGITS = re.compile(r"(\d+)")
_DATA_URL = re.compile(r"data:[^,]{0,100},", re.IGNORECASE)


@dataclass(slots=True)
class Extract:
    """The text of an answer, and the pictures it came with, which are files in the folder that was given."""

    text: str = ""
    pictures: list[Path] = field(default_factory=list)


def unpack(answer: Answer, folder: Path | None = None) -> Extract:
    """Return what is in an answer; pictures are written to `folder`, and left out without one.

    The key that the service was sent is removed from the text, from errors and from the names of pictures.

    Raises:
        DocumentError: The answer is an error, no known form, damaged or unsafe.
    """
    extract = _unpack(answer, folder)
    return replace(extract, text=answer.mask.hide(extract.text))


def _unpack(answer: Answer, folder: Path | None) -> Extract:
    with answer.path.open("rb") as file:
        head = file.read(512)
    if head.startswith(b"PK\x03\x04"):
        return _from_zip(answer.path, folder, answer.mask)
    if answer.path.stat().st_size > MAX_TEXT * 8:
        raise DocumentError("the service answered more text than is read")
    data = answer.path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TransientOcrError("the service answered something that is neither JSON, ZIP nor text") from error
    if answer.content_type.endswith("json") or head.lstrip()[:1] in (b"{", b"["):
        try:
            return _from_json(json.loads(text), folder, answer.mask)
        except (ValueError, RecursionError) as error:
            if answer.content_type.endswith("json"):
                raise TransientOcrError("the service answered JSON that is damaged") from error
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise TransientOcrError("the service answered a web page: its URL is probably not that of the service")
    return Extract(_bounded(text))


def _from_json(value: Any, folder: Path | None, mask: SecretMask) -> Extract:
    if isinstance(value, dict) and (value.get("ok") is False or (value.get("error") and not value.get("text"))):
        raise TransientOcrError(f"the service says: {mask.hide(str(value.get('error') or 'it failed'))[:300]}")
    extract = Extract(_bounded(_text_in(value, 0)))
    if folder is not None:
        for number, (name, content) in enumerate(_pictures_in(value), start=1):
            if number > MAX_PICTURES:
                raise DocumentError("the service answered more pictures than are kept")
            _write(extract, folder, mask.hide(name), _decoded(content))
    return extract


def _text_in(value: Any, depth: int) -> str:
    """Return the text of a JSON answer, wherever services put it."""
    if isinstance(value, str):
        return value
    if depth > 4:
        return ""
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "bbox" in item for item in value):
            return json.dumps(value)  # a layout, which is read further on
        return "\n\n".join(filter(None, (_text_in(item, depth + 1) for item in value)))
    if isinstance(value, dict):
        for key in ("markdown", "text", "md", "content", "data", "result", "results", "pages", "layout", "cells"):
            if value.get(key):
                return _text_in(value[key], depth + 1)
    return ""


def _pictures_in(value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict) or depth > 3:
        return
    pictures = value.get("images")
    for picture in pictures if isinstance(pictures, list) else ():
        if isinstance(picture, dict) and isinstance(picture.get("content"), str):
            yield str(picture.get("filename") or picture.get("name") or ""), picture["content"]
    for key in ("data", "result"):
        yield from _pictures_in(value.get(key), depth + 1)


def _decoded(content: str) -> bytes:
    try:
        return binascii.a2b_base64(_DATA_URL.sub("", content, count=1))
    except (binascii.Error, ValueError) as error:
        raise TransientOcrError("the service answered a picture that is damaged") from error


def _from_zip(path: Path, folder: Path | None, mask: SecretMask) -> Extract:
    extract = Extract()
    texts: list[str] = []
    left = MAX_UNPACKED
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > MAX_PICTURES:
                raise DocumentError("the service answered an archive of more files than are read")
            for info in sorted(infos, key=lambda info: _natural(info.filename)):
                suffix = posixpath.splitext(info.filename.lower())[1]
                wanted = suffix in _TEXTS or folder is not None
                if not wanted or "__MACOSX" in info.filename:
                    continue
                data = _member(archive, info, min(left, MAX_TEXT if suffix in _TEXTS else MAX_PICTURE))
                left -= len(data)
                if suffix in _TEXTS:
                    texts.append(_text_file(data, suffix))
                    if sum(map(len, texts)) > MAX_TEXT:
                        raise DocumentError("the service answered more text than is read")
                elif folder is not None:
                    _write(extract, folder, mask.hide(info.filename), data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise TransientOcrError("the service answered an archive that is damaged") from error
    extract.text = _bounded("\n\n".join(filter(None, texts)))
    return extract


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    packed_well = info.file_size > 1 << 20 and info.file_size > max(info.compress_size, 1) * MAX_RATIO
    if info.file_size > limit or packed_well:
        raise DocumentError("the service answered an archive that unpacks to too much")
    with archive.open(info) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise DocumentError("the service answered an archive that unpacks to too much")
    return data


def _text_file(data: bytes, suffix: str) -> str:
    text = data.decode("utf-8-sig", errors="replace")
    if suffix != ".json":
        return text.strip()
    try:
        return _text_in(json.loads(text), 0).strip()
    except (ValueError, RecursionError):
        return ""


def _write(extract: Extract, folder: Path, name: str, data: bytes) -> None:
    """Keep a picture under a name that is its own, safe and within the folder."""
    if len(data) > MAX_PICTURE:
        raise DocumentError("the service answered a picture larger than is kept")
    suffix = next((suffix for signature, suffix in _SIGNATURES.items() if data.startswith(signature)), None)
    if suffix is None:  # not a picture, whatever it is called
        return
    stem = posixpath.splitext(posixpath.basename(name.replace("\\", "/")))[0]
    stem = _UNSAFE_NAME.sub("_", stem).strip("._")[:80] or f"image_{len(extract.pictures) + 1}"
    path = folder / f"{stem}{suffix}"
    number = 1
    while path.exists() or path.is_symlink():
        number += 1
        path = folder / f"{stem}_{number}{suffix}"
    path.write_bytes(data)
    extract.pictures.append(path)


def _natural(name: str) -> list[Any]:
    """Sort page2 before page10."""
    return [(1, int(part), "") if part.isdecimal() and len(part) < 10 else (0, 0, part) for part in _DIGITS.split(name)]


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise DocumentError("the service answered more text than is read")
    return text
