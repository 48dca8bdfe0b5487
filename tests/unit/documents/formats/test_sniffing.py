"""What bytes say they are."""

import io
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.sniffing import END_BYTES, kind_of, sniff


def archive(*names: str, first: bytes = b"") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        if first:
            made.writestr("mimetype", first)
        for name in names:
            made.writestr(name, b"x" * 100)
    return data.getvalue()


def old_office(*streams: str) -> bytes:
    return (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100 + b"\0\0".join(name.encode("utf-16-le") for name in streams)
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n", "pdf"),
        (b"\n%PDF-1.4", "pdf"),
        (b"The mark %PDF-1.4 begins a PDF", "txt"),
        (b"\x89PNG\r\n\x1a\n....", "png"),
        (b"\xff\xd8\xff\xe0", "jpg"),
        (b"GIF89a", "gif"),
        (b"II*\0", "tiff"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (archive("[Content_Types].xml", "word/document.xml"), "docx"),
        (archive("xl/workbook.xml"), "xlsx"),
        (archive("xl/workbook.bin"), "xlsb"),
        (archive("ppt/presentation.xml"), "pptx"),
        (archive(first=b"application/epub+zip"), "epub"),
        (archive(first=b"application/vnd.oasis.opendocument.spreadsheet"), "ods"),
        (archive("holiday.jpg"), None),
        (old_office("Workbook"), "xls"),
        (old_office("EncryptionInfo", "EncryptedPackage"), None),
        (b"  <!DOCTYPE html><p>", "html"),
        ("\ufeff<html>".encode(), "html"),
        (b"a\tb\n1\t2\n", "tsv"),
        (b"a,b,c\n1,2,3\n", "csv"),
        (b"Dear all, hello", "txt"),
        ("你好，世界".encode("gb18030"), "txt"),
        (b"", None),
        (b" \n", None),
        (b"\0\1\2\3" * 9, None),
    ],
    ids=range(26),
)
def test_a_kind_is_known_by_its_marks(data: bytes, kind: str | None) -> None:
    assert kind_of(data) == kind


def test_a_pdf_may_begin_with_other_bytes() -> None:
    assert kind_of(b"X-Mailer: none\n\n%PDF-1.4", named="pdf") == "pdf"


def test_the_directory_at_the_end_of_a_large_archive_tells(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("media/film.bin", b"x" * 3 * END_BYTES)
        made.writestr("ppt/presentation.xml", b"<p/>")
    path = tmp_path / "file"
    path.write_bytes(data.getvalue())
    assert sniff(path) == "pptx"


def test_text_cut_inside_a_character_is_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("é" * END_BYTES + "!", encoding="utf-8")
    assert sniff(path) == "txt"


def test_what_is_embedded_in_an_archive_does_not_say_what_the_archive_is() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("ppt/embeddings/book.xlsx", archive("xl/workbook.xml", "word/document.xml"))
        made.writestr("ppt/presentation.xml", b"x")
    assert kind_of(data.getvalue()) == "pptx"


def test_an_archive_that_is_two_things_is_what_it_is_called() -> None:
    both = archive("xl/workbook.xml", "ppt/presentation.xml")
    assert (kind_of(both, named="pptx"), kind_of(both, named="xlsx"), kind_of(both)) == ("pptx", "xlsx", "xlsx")
