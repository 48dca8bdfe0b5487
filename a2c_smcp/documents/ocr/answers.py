"""What OCR services answer: JSON, a ZIP archive or plain text, none of which is trusted."""

import binascii
import errno
import json
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.masking import SecretMask
from a2c_smcp.documents.ocr.http import ServiceReply
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
_WEB_PAGE = re.compile(
    r"(?:\s|\ufeff|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_WEB_TYPES: Final = ("text/html", "application/xhtml+xml")
_PAGE_NUMBER = re.compile(r"(?:\A|.*?[^0-9])(\d{1,6})(?:[^0-9]*)\Z", re.DOTALL)
_CALLED_PAGE = re.compile(r"(?:\bp|page|第)[-_. ]?\d+[^/\\]*\Z", re.IGNORECASE)
_TEXT_KEYS: Final = (
    "markdown", "text", "md", "content", "data", "result", "results", "pages", "layout", "cells",
)  # fmt: skip
_COUNTED_FROM: Final = {"page": 1, "page_number": 1, "page_no": 1, "page_num": 1, "page_index": 0, "index": 0}
"""Keys under which services number pages, and the number of the first."""


@dataclass(slots=True)
class ServiceExtract:
    """The text of an answer, and the pictures it came with, which are files in the folder that was given.

    Attributes:
        pages: The text by page number, from 1, where the answer has a text for each page; empty where it has not.
    """

    text: str = ""
    pictures: list[Path] = field(default_factory=list)
    pages: dict[int, str] = field(default_factory=dict)


def unpack(answer: ServiceReply, folder: Path | None = None) -> ServiceExtract:
    """Return what is in an answer; pictures are written to `folder`, and left out without one.

    The key that the service was sent is removed from the text, from errors and from the names of pictures.

    Raises:
        DocumentError: The answer is an error, no known form, damaged or unsafe.
    """
    extract = _unpack(answer, folder)
    hidden = {number: answer.mask.hide(text) for number, text in extract.pages.items()}
    return replace(extract, text=answer.mask.hide(extract.text), pages=hidden)


def _unpack(answer: ServiceReply, folder: Path | None) -> ServiceExtract:
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
    if answer.content_type in _WEB_TYPES:
        raise TransientOcrError(_NO_WEB_PAGE)
    return ServiceExtract(_bounded(text))


def _from_json(value: Any, folder: Path | None, mask: SecretMask) -> ServiceExtract:
    if isinstance(value, dict) and (value.get("ok") is False or (value.get("error") and not value.get("text"))):
        raise TransientOcrError(f"the service says: {mask.hide(str(value.get('error') or 'it failed'))[:300]}")
    pages = {number: _bounded(text) for number, text in _pages_in(value).items()}
    extract = ServiceExtract(_bounded("\n\n".join(filter(None, pages.values())) or _text_in(value, 0)), pages=pages)
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
        for key in _TEXT_KEYS:
            if value.get(key):
                return _text_in(value[key], depth + 1)
    return ""


def _pages_in(value: Any, depth: int = 0) -> dict[int, str]:
    """Return the texts of `pages` by their numbers; nothing where there are no pages, or two have the same number."""
    if not isinstance(value, dict) or depth > 3:
        return {}
    items = value.get("pages")
    if isinstance(items, list) and items and all(isinstance(item, str | dict) for item in items):
        texts = ["" if _has_no_text(item) else _text_in(item, 1) for item in items]
        return dict(zip(_numbers_of(items), texts, strict=True)) if any(map(str.strip, texts)) else {}
    return next(filter(None, (_pages_in(value.get(key), depth + 1) for key in ("data", "result"))), {})


def _has_no_text(item: Any) -> bool:
    return isinstance(item, dict) and not any(item.get(key) for key in _TEXT_KEYS)


def _numbers_of(items: list[Any]) -> list[int]:
    """Return the numbers that pages say they have, counted from 1; their order where they do not say it."""
    in_order = list(range(1, len(items) + 1))
    for key, first in _COUNTED_FROM.items():
        named = [item.get(key) for item in items if isinstance(item, dict)]
        numbers = [int(str(name)) - first + 1 for name in named if str(name).isdecimal() and len(str(name)) < 7]
        if len(numbers) == len(items) == len(set(numbers)):
            lowest = min(numbers)
            return [number + 1 for number in numbers] if lowest == 0 else numbers
    return in_order


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


def _from_zip(path: Path, folder: Path | None, mask: SecretMask) -> ServiceExtract:
    extract = ServiceExtract()
    texts: dict[str, str] = {}
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
                    texts[info.filename] = _text_file(data, suffix)
                    if sum(map(len, texts.values())) > MAX_TEXT:
                        raise DocumentError("the service answered more text than is read")
                elif folder is not None:
                    _write(extract, folder, mask.hide(info.filename), data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.errno != errno.EINVAL:
            raise  # this machine failed, such as for lack of space
        raise TransientOcrError("the service answered an archive that is damaged") from error
    extract.pages = _page_files(texts)
    extract.text = _bounded("\n\n".join(filter(None, extract.pages.values() or texts.values())))
    return extract


def _page_files(texts: Mapping[str, str]) -> dict[int, str]:
    """Return the texts of files that are numbered like pages; nothing where there are none.

    A file of the whole beside files called `page_1.md`, … is left out. Of several files with the same number Markdown
    counts, then plain text; of those the shortest name.
    """
    pages: dict[int, tuple[tuple[int, int], str]] = {}
    called = any(_CALLED_PAGE.search(name) for name in texts)
    for name, text in texts.items():
        stem, suffix = posixpath.splitext(posixpath.basename(name))
        match = _PAGE_NUMBER.match(stem)
        if match is None or (called and not _CALLED_PAGE.search(name)):
            if called:
                continue
            return {}
        number, rank = int(match[1]), (_TEXTS.index(suffix.lower()), len(stem))
        if number not in pages or rank < pages[number][0]:
            pages[number] = rank, text
    if len(pages) < 2 and not called:
        return {}
    shift = 1 if 0 in pages else 0
    return {number + shift: text for number, (_, text) in sorted(pages.items())}


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


def _write(extract: ServiceExtract, folder: Path, name: str, data: bytes) -> None:
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


_NO_WEB_PAGE: Final = "the service answered a web page: its URL is probably not that of the service"


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise DocumentError("the service answered more text than is read")
    if _WEB_PAGE.match(text[:4096]):
        raise TransientOcrError(_NO_WEB_PAGE)
    return text
