"""From bytes of unknown encoding to text. Bytes that are no text are refused with a word on what they look like."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.legacy import legacy_encoding
from a2c_smcp.errors import DocumentError

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)
# Seven bits a byte, and a sign where the letters change.
_SHIFTED: Final = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"))
_SHIFT: Final = b"\x1b$"
_SAMPLE_BYTES: Final = 64 << 10
_ASCII: Final = bytes(range(128))
_CONTROL = re.compile("[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE: Final = 0.005
_MAX_DAMAGED_SHARE: Final = 0.1
_MIN_UNMARKED: Final = 8
_MIN_ZERO_SHARE: Final = 0.7


def read_text(path: Path, limit: int) -> str:
    """Return the text of a file, line ends as `\\n`, and U+FFFD for the few characters that may be damaged.

    Raises:
        DocumentError: It is larger than `limit` bytes, or is no text.
    """
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise DocumentError(f"larger than the {limit >> 20} MiB that are read of this file type")
    text = data.decode(detect_encoding(data), errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def encoding_of(path: Path) -> str:
    """Return the encoding of a file of any size, judged by its head, or by its first part that is not ASCII.

    Raises:
        DocumentError: It is no text.
    """
    with path.open("rb") as file:
        head = sample = file.read(_SAMPLE_BYTES)
        while sample.isascii() and _SHIFT not in sample and (more := file.read(_SAMPLE_BYTES)):
            sample = more
        complete = not file.read(1)
    if sample is head or any(head.startswith(mark) for mark, _ in _BOMS):
        return detect_encoding(head, complete=complete and sample is head)
    detect_encoding(head, complete=False)
    return detect_encoding(sample.lstrip(_ASCII) or sample, complete=complete)


def detect_encoding(data: bytes, *, complete: bool = True) -> str:
    """Return the encoding that `data` is written in: by a Unicode mark, by signs that shift between
    letters, as UTF-8, as one of the encodings before Unicode whose language it shows, else as Windows-1252.

    `complete` is false for the head of a file, which may end inside a character.

    Raises:
        DocumentError: The bytes are no text.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            raise DocumentError(f"not text: it looks like {kind}")
    marked = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), None) or _unmarked(data)
    for encoding in (marked,) if marked else _candidates(data, complete=complete):
        text = _decode(data, encoding, complete=complete)
        if text is None:
            continue
        if "\0" in text or len(_CONTROL.findall(text)) > len(text) * _MAX_CONTROL_SHARE:
            raise DocumentError("not text: it holds binary data")
        return encoding
    raise DocumentError("not text in UTF-8, UTF-16 or an older encoding that is known here")


def _unmarked(data: bytes) -> str | None:
    """Return which UTF-16 it is that begins without a mark: of Western letters every second byte is zero."""
    even, odd = data[:_SAMPLE_BYTES:2], data[1:_SAMPLE_BYTES:2]
    if len(odd) < _MIN_UNMARKED or 0 not in data:
        return None
    if not even.count(0) and odd.count(0) >= len(odd) * _MIN_ZERO_SHARE:
        return "utf-16-le"
    return "utf-16-be" if not odd.count(0) and even.count(0) >= len(even) * _MIN_ZERO_SHARE else None


def _decode(data: bytes, encoding: str, *, complete: bool) -> str | None:
    """Return the text, which may be damaged here and there; None when this is not its encoding."""
    decoder = codecs.getincrementaldecoder(encoding)
    try:
        return decoder().decode(data, complete)
    except UnicodeDecodeError:
        if not encoding.startswith("utf"):  # these take nearly everything, so what they refuse is something else
            return None
    text = decoder("replace").decode(data, complete)
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text if text.count("\ufffd") <= foreign * _MAX_DAMAGED_SHARE else None


def _candidates(data: bytes, *, complete: bool) -> Iterator[str]:
    yield from (encoding for mark, encoding in _SHIFTED if mark in data and data.isascii())
    yield "utf-8"
    foreign = data.lstrip(_ASCII)
    legacy = legacy_encoding(foreign[:_SAMPLE_BYTES], complete=complete and len(foreign) <= _SAMPLE_BYTES)
    if legacy:
        yield legacy
    yield "cp1252"
