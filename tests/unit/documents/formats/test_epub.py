"""E-books: chapters as pages, titles from the table of contents, and books that are refused."""

import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, HasOutline, Illustrated, OpenDocument, OutlineEntry
from a2c_smcp.documents.formats.epub import FORMAT
from a2c_smcp.errors import DocumentError

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
OPF = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The Book</dc:title><dc:creator>An Author</dc:creator><dc:subject>Things</dc:subject>
<dc:description>&lt;p&gt;About things.&lt;/p&gt;</dc:description></metadata>
<manifest><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="i" href="pics/i.png" media-type="image/png"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine toc="t"><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>"""
NAV = """<html xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body><nav epub:type="toc"><ol>
<li><a href="one.xhtml">Chapter One</a><ol><li><a href="two%20b.xhtml#x">Part Two</a></li></ol></li></ol></nav>
</body></html>"""
NCX = """<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
<ncx><navMap><navPoint><navLabel><text>From NCX</text></navLabel><content src="one.xhtml"/></navPoint></navMap></ncx>"""
ONE = (
    "<html><head><title/></head><body><a id='x'/><h1>One</h1><p>Text.</p><img src='pics/i.png' alt='A'/></body></html>"
)
FILES = {
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": OPF,
    "OEBPS/nav.xhtml": NAV,
    "OEBPS/toc.ncx": NCX,
    "OEBPS/one.xhtml": ONE,
    "OEBPS/two b.xhtml": "<html><body><h2>Two</h2><p>More.</p></body></html>",
    "OEBPS/pics/i.png": "PNG",
}


def book(folder: Path, **changes: str | None) -> Path:
    path = folder / "a.epub"
    files: dict[str, str | None] = {**FILES, **changes}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, data in files.items():
            if data is not None:
                archive.writestr(name, data)
    return path


@pytest.fixture
def document(tmp_path: Path) -> OpenDocument:
    return FORMAT.open(book(tmp_path))


def test_a_book_says_what_it_is(document: OpenDocument) -> None:
    assert document.describe() == Description("The Book", 2, ("Things", "An Author"), "By An Author. About things.")


def test_chapters_are_pages_with_the_titles_of_the_contents(document: OpenDocument) -> None:
    assert [(entry.index, entry.title, entry.element_count) for entry in document.entries(0, 10)] == [
        (0, "Chapter One", 3),
        (1, "Part Two", 2),
    ]
    assert [entry.title for entry in document.entries(1, 10)] == ["Part Two"]


def test_elements_have_ids_of_their_page(document: OpenDocument) -> None:
    ids = [element.id for element in document.page(0).elements]
    for element in document.page(0).elements:
        validate_content(element.category, dict(element.content))
    assert ids == ["p0-h1", "p0-txt1", "p0-img1"]
    assert document.find("p0-txt1") == (0, document.page(0).elements[1])
    assert [document.find(wrong) for wrong in ("p9-h1", "h-001", "p0-h7", "")] == [None] * 4


def test_the_outline_is_that_of_the_contents(document: OpenDocument) -> None:
    assert isinstance(document, HasOutline)
    assert document.outline() == [OutlineEntry("Chapter One", 0, 1), OutlineEntry("Part Two", 1, 2)]


def test_a_picture_can_be_had(document: OpenDocument) -> None:
    assert isinstance(document, Illustrated)
    assert document.element_image("p0-img1") == ("image/png", b"PNG")
    assert document.element_image("p0-h1") is None


def test_an_old_book_has_its_titles_in_the_ncx(tmp_path: Path) -> None:
    old = OPF.replace(' properties="nav"', "").replace("nav.xhtml", "none.xhtml")
    document = FORMAT.open(book(tmp_path, **{"OEBPS/book.opf": old, "OEBPS/nav.xhtml": None}))
    assert [entry.title for entry in document.entries(0, 9)] == ["From NCX", "Two"]


def test_obfuscated_fonts_are_no_protection(tmp_path: Path) -> None:
    fonts = '<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    assert FORMAT.open(book(tmp_path, **{"META-INF/encryption.xml": fonts})).describe().page_count == 2


LAUGHS = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"META-INF/rights.xml": "<rights/>"}, "DRM"),
        (
            {
                "META-INF/encryption.xml": '<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>'
            },
            "DRM",
        ),
        ({"META-INF/container.xml": None, "OEBPS/book.opf": None}, "not an EPUB"),
        ({"OEBPS/book.opf": "<package></package>"}, "no chapters"),
        ({"OEBPS/book.opf": LAUGHS + OPF.removeprefix('<?xml version="1.0"?>')}, "entities"),
        ({"OEBPS/book.opf": "no xml at all"}, "no XML"),
    ],
)
def test_books_that_are_refused(tmp_path: Path, changes: dict[str, str | None], why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        FORMAT.open(book(tmp_path, **changes))


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_files_that_are_no_archive_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(data)
    with pytest.raises(DocumentError):
        FORMAT.open(path)


def test_a_chapter_that_is_a_bomb_harms_its_page_alone(tmp_path: Path) -> None:
    document = FORMAT.open(book(tmp_path, **{"OEBPS/two b.xhtml": "<p>" + "x" * (40 << 20)}))
    assert document.page(0).title == "Chapter One"
    with pytest.raises(DocumentError, match=r"too large|unsafe"):
        document.page(1)
