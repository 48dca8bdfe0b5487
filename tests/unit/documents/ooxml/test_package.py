"""Archives that are not trusted: what is wrong with one is said in a word, quickly and in little memory."""

import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.ooxml.package import MAX_PARTS, Relationship, open_package
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import relationships, write

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def problem(path: Path, part: str = "") -> str:
    with pytest.raises(DocumentError) as caught, open_package(path) as package:
        package.read(part) if part else package.main_part()
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "empty: it holds no bytes"),
        (b"<html>", "not an Office document: it is no ZIP archive; give the file the ending of its real type"),
        (b"PK\x03\x04 and nothing more", "damaged: its archive cannot be read (File is not a zip file)"),
        (
            OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"),
            "password-protected: encrypted Office files cannot be opened; save a copy without the password",
        ),
        (
            OLE
            + b"\0" * 22
            + b"\x09\0"
            + b"\0" * 16
            + struct.pack("<L", 400)
            + b"\0" * 205_400
            + "EncryptedPackage".encode("utf-16-le"),
            "password-protected: encrypted Office files cannot be opened; save a copy without the password",
        ),
        (
            OLE + b"\0" * 600,
            (
                "an Office file of before 2007; give a workbook the ending .xls, save others as .docx or .pptx in a"
                " newer program"
            ),
        ),
        *(
            (OLE + b"\0" * 600 + stream.encode("utf-16-le"), told)
            for stream, told in (
                ("WordDocument", "a Word 97-2003 document; open it in Word or LibreOffice and save it as .docx"),
                (
                    "PowerPoint Document",
                    "a PowerPoint 97-2003 presentation; open it in PowerPoint or LibreOffice and save it as .pptx",
                ),
                ("__properties_version1.0", "an Outlook message; open it in a mail program and save it as .eml"),
            )
        ),
    ],
)
def test_what_is_no_office_file_is_refused_with_the_reason(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "file.docx"
    path.write_bytes(data)
    assert problem(path) == told


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"readme.txt": "hello"})
    assert problem(path) == "not an Office document: it is a ZIP archive of something else"


def test_an_archive_cut_short_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"a.xml": "<a/>" * 1_000})
    path.write_bytes(path.read_bytes()[:-40])
    assert problem(path).startswith("damaged: its archive cannot be read")


def test_too_many_parts_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {f"{number}": "" for number in range(MAX_PARTS + 1)})
    assert problem(path) == f"unsafe: it has {MAX_PARTS + 1} parts, more than {MAX_PARTS}"


def test_a_part_that_says_it_is_too_large_is_not_unpacked(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"big.bin": b"\0" * (65 << 20)})
    tracemalloc.start()
    assert problem(path, "big.bin") == "too large: its part 'big.bin' has 65 MiB, more than the 64 MiB that are read"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_a_part_packed_like_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"bomb.bin": b"\0" * (40 << 20)})
    assert problem(path, "bomb.bin") == "unsafe: its part 'bomb.bin' is packed like a ZIP bomb"


def test_a_part_that_is_larger_than_it_says_stops_there(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"liar.bin": b"\0" * (20 << 20)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 20 << 20), struct.pack("<L", 100)))
    tracemalloc.start()
    assert problem(path, "liar.bin") == "unsafe: its part 'liar.bin' is larger than it says"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_damage_inside_a_part_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"a.bin": bytes(range(256)) * 400})
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30
    path.write_bytes(data)
    assert problem(path, "a.bin").startswith("damaged: its archive cannot be read")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_parts_come_out_as_they_were_packed(tmp_path: Path, method: int) -> None:
    content = b"some bytes " * 50_000
    with zipfile.ZipFile(tmp_path / "file.docx", "w", method) as archive:
        archive.writestr("a.bin", content)
    with open_package(tmp_path / "file.docx") as package:
        assert package.read("a.bin") == content


def test_an_archive_with_a_password_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"a.bin": "x"})
    data = path.read_bytes()
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + flags
        data = data[:at] + b"\x01\x00" + data[at + 2 :]
    path.write_bytes(data)
    assert problem(path, "a.bin").startswith("password-protected")


def test_relationships_are_resolved_from_the_part_that_has_them(tmp_path: Path) -> None:
    targets = {
        "a:image": "../media/x%20y.png",
        "b:image": "/xl/media/z.png",
        "c:hyperlink": "https://example.org/a?b=c",
        "d:image": "..\\media\\Z.PNG",
        "e:image": "gone.png",
    }
    parts = {"xl/drawings/_rels/d.xml.rels": relationships(targets), "xl/media/x y.png": "", "xl/media/z.png": ""}
    path = write(tmp_path / "file.xlsx", {"xl/drawings/d.xml": "<d/>", **parts})
    with open_package(path) as package:
        found = package.relationships("xl/drawings/d.xml")
        assert list(package.related("xl/drawings/d.xml", "image")) == [
            "xl/media/x y.png",
            "xl/media/z.png",
            "xl/media/Z.PNG",
        ]
        assert package.target("xl/drawings/d.xml", "e") is None
        assert package.target("xl/drawings/d.xml", "c") is None
    assert found["c"] == Relationship("c", "hyperlink", "https://example.org/a?b=c", True)


def test_a_missing_or_broken_optional_part_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "file.docx", {"broken.xml": "<a><b></a>"})
    with open_package(path) as package:
        assert package.optional("gone.xml") is None
        assert package.optional("broken.xml") is None
        with pytest.raises(DocumentError, match=r"its part 'broken\.xml' is not valid XML"):
            package.tree("broken.xml")
        with pytest.raises(DocumentError, match=r"its part 'gone\.xml' is missing"):
            package.tree("gone.xml")


def test_content_types_are_found_by_part_then_by_ending(tmp_path: Path) -> None:
    types = (
        '<Types><Default Extension="XML" ContentType="any"/><Override PartName="/a/B.xml" ContentType="own"/></Types>'
    )
    path = write(tmp_path / "file.docx", {"[Content_Types].xml": types, "a/b.xml": ""})
    with open_package(path) as package:
        assert [package.content_type(part) for part in ("a/b.xml", "c.xml", "d.png")] == ["own", "any", ""]
