"""What holds for every page of every PDF that nobody here wrote."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from markdown_it import MarkdownIt

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.model import Document, Page
from a2c_smcp.documents.pdf.cleaning import HYPHEN
from a2c_smcp.documents.render import renderer_for
from a2c_smcp.types import CATEGORIES

DATA = Path(__file__).parents[2] / "data" / "documents"
FILES = sorted(DATA.glob("*.pdf"))

every_file = pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])


@cache
def pages(path: Path) -> tuple[Page, ...]:
    document = FORMAT.open(path)
    return tuple(document.page(index) for index in range(document.describe().page_count))


def document_of(path: Path) -> Document:
    return Document("com.example", "doc", "file:///doc.pdf", "pdf", path.stem, len(pages(path)))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def letters(text: str) -> Counter[str]:
    return Counter(letter for letter in text if unicodedata.category(letter)[0] == "L")


def raw_texts(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    texts = []
    for page in document:
        text_page = page.get_textpage()
        texts.append(text_page.get_text_range())
        text_page.close()
        page.close()
    document.close()
    return texts


def test_there_are_files_to_look_at() -> None:
    assert len(FILES) >= 6


@every_file
def test_no_letter_of_the_raw_text_is_lost(path: Path) -> None:
    for page, raw in zip(pages(path), raw_texts(path), strict=True):
        told = " ".join(text for element in page.elements for text in strings(element.content))
        assert not letters(raw.replace(HYPHEN, "")) - letters(told), f"page {page.index}"


@every_file
@pytest.mark.rule("7.2.categories")
def test_every_element_has_a_legal_category_and_its_content(path: Path) -> None:
    for page in pages(path):
        for element in page.elements:
            assert element.category in CATEGORIES
            validate_content(element.category, element.content)


@every_file
def test_every_element_says_where_it_is_and_what_it_holds(path: Path) -> None:
    for page in pages(path):
        for element in page.elements:
            x0, y0, x1, y1 = element.metadata["bbox"]
            assert x0 <= x1
            assert y0 <= y1
            assert element.metadata["page_width"] > 0
            assert element.metadata["page_height"] > 0
            assert "\n" not in element.summary


@every_file
def test_ids_are_unique_in_the_document_and_the_same_when_it_is_read_again(path: Path) -> None:
    ids = [element.id for page in pages(path) for element in page.elements]
    assert len(ids) == len(set(ids))
    again = FORMAT.open(path)
    assert [again.page(page.index) for page in reversed(pages(path))] == list(reversed(pages(path)))


@every_file
@pytest.mark.rule("7.2.level2", "7.2.level3")
def test_pages_and_elements_are_valid_json(path: Path) -> None:
    render = renderer_for("json")
    document = document_of(path)
    for page in pages(path):
        told = json.loads(render.render_page(document, page))
        assert [element["element_id"] for element in told["elements"]] == [element.id for element in page.elements]
        for element in page.elements[:20]:
            read = json.loads(render.render_element(document, page.index, element))
            assert read["element_id"] == element.id
            assert read["content"].items() >= element.content.items()


@every_file
@pytest.mark.rule("7.8.escape")
def test_markdown_of_a_page_keeps_headings_and_tables(path: Path) -> None:
    render = renderer_for("markdown")
    parser = MarkdownIt("commonmark").enable("table")
    for page in pages(path):
        tokens = parser.parse(render.render_page(document_of(path), page))
        found = Counter(token.type for token in tokens)
        categories = Counter(element.category for element in page.elements)
        assert found["table_open"] == categories["table"]
        assert found["heading_open"] >= categories["heading"]
