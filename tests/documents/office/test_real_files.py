"""Office files that nobody here wrote: what holds for all of them, and how a chosen few read."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from markdown_it import MarkdownIt

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Illustrated, OpenDocument
from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.render import renderer_for
from a2c_smcp.errors import DocumentError
from tests.documents.office.golden import DATA, GOLDEN, opened, told

OFFICE = ("docx", "ods", "pptx", "xls", "xlsm", "xlsx")
LOCKED = "xlsx_password.xlsx"
FILES = sorted(path.name for path in DATA.iterdir() if path.suffix[1:] in OFFICE and path.name != LOCKED)
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
USUAL = re.compile(
    rb"http://schemas\.openxmlformats\.org/(officeDocument|drawingml|spreadsheetml|presentationml|wordprocessingml)/2006/"
)
RAW = {
    r"word/(document|(header|footer)\d*|footnotes|endnotes|comments)\.xml": (f"{W}t", f"{W}delText"),
    r"ppt/(slides/slide\d+|diagrams/data\d+)\.xml": (f"{A}t",),
    r"xl/sharedStrings\.xml": (f"{S}t",),
}


@pytest.fixture(params=FILES)
def path(request: pytest.FixtureRequest) -> Path:
    return DATA / str(request.param)


def pages(document: OpenDocument) -> list[Page]:
    return [document.page(index) for index in range(document.describe().page_count)]


def elements(document: OpenDocument) -> list[Element]:
    return [element for page in pages(document) for element in page.elements]


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from strings(one)
        case list():
            for one in value:
                yield from strings(one)


def squeezed(text: str) -> str:
    return "".join(text.replace("\u00ad", "").split())


def raw_texts(path: Path) -> Iterator[str]:
    if path.suffix in (".ods", ".xls"):
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            tags = next((tags for pattern, tags in RAW.items() if re.fullmatch(pattern, name)), ())
            root = etree.fromstring(archive.read(name)) if tags else None
            for fallback in root.iter("{*}Fallback") if root is not None else ():
                fallback.clear()
            for node in root.iter(*tags) if root is not None else ():
                yield node.text or ""


def test_contents_are_valid_and_summaries_one_line(path: Path) -> None:
    for element in elements(opened(path)):
        validate_content(element.category, element.content)
        assert element.summary.strip()
        assert "\n" not in element.summary
        json.dumps([dict(element.content), dict(element.metadata)])


def test_ids_are_unique_and_lead_back_to_their_elements(path: Path) -> None:
    document = opened(path)
    found = elements(document)
    assert len({element.id for element in found}) == len(found)
    assert [document.find(element.id) for element in found] == [
        (page.index, element) for page in pages(document) for element in page.elements
    ]


def test_reading_again_gives_the_same(path: Path) -> None:
    first, second = opened(path), opened(path)
    assert (first.describe(), pages(first)) == (second.describe(), pages(second))


def test_the_page_index_agrees_with_the_pages(path: Path) -> None:
    document = opened(path)
    found = pages(document)
    assert list(document.entries(0, 1_000)) == [page.entry for page in found]
    assert list(document.entries(len(found), 5)) == []
    assert all(page.title for page in found)


def test_no_text_is_lost(path: Path) -> None:
    kept = squeezed("".join(text for element in elements(opened(path)) for text in strings(dict(element.content))))
    assert [text for text in raw_texts(path) if squeezed(text) not in kept] == []


def test_every_page_is_markdown_and_json(path: Path) -> None:
    document = Document("host", "ref", path.as_uri(), "x", "Title", 1)
    for page in pages(opened(path)):
        assert MarkdownIt().parse(renderer_for("markdown").render_page(document, page)) or not page.elements
        assert json.loads(renderer_for("json").render_page(document, page))["element_count"] == len(page.elements)


def strict_twin(path: Path, twin: Path) -> Path:
    """Write a file again with the namespaces of Strict OOXML."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(twin, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/", old.read(name)))
    return twin


def test_a_strict_twin_reads_the_same(path: Path, tmp_path: Path) -> None:
    if path.suffix not in (".ods", ".xls"):
        twin = opened(strict_twin(path, tmp_path / path.name))
        assert (twin.describe(), pages(twin)) == (opened(path).describe(), pages(opened(path)))


def test_pictures_come_out_as_they_are(path: Path) -> None:
    document = opened(path)
    images = [element for element in elements(document) if element.category == "image"]
    for image in images:
        assert isinstance(document, Illustrated)
        found = document.element_image(image.id)
        assert found is None or (found[0] == image.content["mime_type"] and found[1])


def test_an_encrypted_workbook_says_that_it_cannot_be_opened() -> None:
    with pytest.raises(DocumentError, match="password-protected: encrypted Office files cannot be opened"):
        opened(DATA / LOCKED)


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.txt")), ids=lambda golden: golden.stem)
def test_a_chosen_few_read_as_they_should(golden: Path) -> None:
    assert told(DATA / golden.stem) == golden.read_text(encoding="utf-8")
