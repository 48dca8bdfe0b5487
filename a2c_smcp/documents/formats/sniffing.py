"""What kind of file some bytes are, whatever its name says. Looks at the two ends of a file and nothing else."""

import os
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.decoding import detect_encoding
from a2c_smcp.errors import DocumentError

END_BYTES: Final = 64 << 10
"""How much of each end is looked at: names of Office parts stand in the directory at the end of the archive."""

_PDF_MARK_WITHIN: Final = 1024
_ZIP: Final = b"PK\x03\x04"
_ZIP_END: Final = b"PK\x05\x06"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
)
_IN_ZIP: Final = (
    (b"mimetypeapplication/epub+zip", "epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"word/document.xml", "docx"),
    (b"xl/workbook.xml", "xlsx"),
    (b"xl/workbook.bin", "xlsb"),
    (b"ppt/presentation.xml", "pptx"),
)
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_WORKBOOK: Final = "Workbook".encode("utf-16-le")


def sniff(path: Path, named: str = "") -> str | None:
    """Return the file type the bytes of a file named as `named` show: one by its marks, else a kind of text.

    None where they show nothing: an empty file, an archive of other things, bytes that are no text.
    """
    with path.open("rb") as file:
        head = file.read(END_BYTES)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(len(head), size - END_BYTES))
        tail = file.read(END_BYTES)
    return kind_of(head, tail, named)


def kind_of(head: bytes, tail: bytes = b"", named: str = "") -> str | None:
    """Return the file type of a file with these two ends."""
    if head.startswith(_ZIP):
        return _kind_of_archive(head, tail, named)
    if head.startswith(_OLE):
        ends = head + tail
        return "xls" if _WORKBOOK in ends and _ENCRYPTED not in ends else None
    # The mark may come late, but a text that speaks of it is no PDF.
    if head.lstrip()[:5] == b"%PDF-" or (named == "pdf" and b"%PDF-" in head[:_PDF_MARK_WITHIN]):
        return "pdf"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    marked = next((kind for mark, kind in _SIGNATURES if head.startswith(mark)), None)
    return marked or _kind_of_text(head, complete=not tail)


def _kind_of_archive(head: bytes, tail: bytes, named: str) -> str | None:
    """By what stands in the archive's own directory: a presentation may have whole workbooks among its parts."""
    directory = _directory_in(head + tail)
    places = directory if directory is not None else head + tail
    found = [kind for mark, kind in _IN_ZIP if mark in places or (mark.startswith(b"mimetype") and mark in head)]
    return named if named in found else found[0] if found else None


def _directory_in(ends: bytes) -> bytes | None:
    """Return the directory at the end of an archive, None where it is not to be seen whole."""
    end = ends.rfind(_ZIP_END)
    if end < 0 or len(ends) < end + 16:
        return None
    size = int.from_bytes(ends[end + 12 : end + 16], "little")
    return ends[end - size : end] if 0 < size <= end else None


def _kind_of_text(head: bytes, *, complete: bool) -> str | None:
    try:
        encoding = detect_encoding(head, complete=complete)
    except DocumentError:
        return None
    text = head.decode(encoding, errors="replace").lstrip("\ufeff \t\r\n")
    if not text:
        return None
    if text[:256].lower().startswith(("<!doctype html", "<html", "<head", "<table")):
        return "html"
    first = text.partition("\n")[0]
    return "tsv" if "\t" in first else "csv" if first.count(",") > 1 else "txt"
