"""Files that nobody here wrote: what holds for every one, and what a person expects of each."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import OpenDocument
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.model import Document, Element, Page
from a2c_smcp.documents.render.json import render_element, render_page
from a2c_smcp.documents.render.markdown import render_page as render_markdown
from a2c_smcp.documents.render.text import element_text

DATA = Path(__file__).parents[2] / "data" / "documents"
FILES = [
    "code_pdfplumber_table.py",
    "eml_attach.eml",
    "eml_mail_test_3.eml",
    "epub_purvis.epub",
    "html_rich_table.html",
    "img_scan_laboratory.png",
    "ipynb_nb2.ipynb",
    "json_chat.json",
]


def opened(name: str) -> OpenDocument:
    known = format_of(name)
    assert known is not None
    return known[0].open(DATA / name)


def pages_of(document: OpenDocument) -> list[Page]:
    return [document.page(index) for index in range(document.describe().page_count)]


def elements_of(document: OpenDocument) -> list[Element]:
    return [element for page in pages_of(document) for element in page.elements]


@pytest.mark.parametrize("name", FILES)
def test_ids_are_unique_stable_and_found_and_contents_valid(name: str) -> None:
    document = opened(name)
    pages = pages_of(document)
    ids = [element.id for page in pages for element in page.elements]
    assert len(ids) == len(set(ids)) > 0
    assert pages == pages_of(opened(name))
    for page in pages:
        for element in page.elements:
            validate_content(element.category, dict(element.content))
            assert document.find(element.id) == (page.index, element)
            assert re.fullmatch(r"[A-Za-z0-9-]+", element.id)
            assert "\n" not in element.summary


@pytest.mark.parametrize("name", FILES)
def test_the_index_tells_the_pages(name: str) -> None:
    document = opened(name)
    count = document.describe().page_count
    assert list(document.entries(0, count)) == [page.entry for page in pages_of(document)]
    assert list(document.entries(count, 10)) == []


@pytest.mark.parametrize("name", FILES)
def test_pages_are_valid_json_and_their_markdown_parses_back(name: str) -> None:
    document = opened(name)
    entry = Document("host", "ref", "file:///x", "x", "t", document.describe().page_count)
    parser = MarkdownIt("commonmark").enable("table")
    for page in pages_of(document):
        assert json.loads(render_page(entry, page))["element_count"] == len(page.elements)
        for element in page.elements:
            assert json.loads(render_element(entry, page.index, element))["element_id"] == element.id
        tokens = Counter(token.type for token in parser.parse(render_markdown(entry, page)))
        wanted = Counter(element.category for element in page.elements)
        assert tokens["heading_open"] == wanted["heading"]
        assert tokens["table_open"] == wanted["table"]
        assert tokens["fence"] == wanted["code"]


def words_of_html(data: bytes) -> list[str]:
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(data).body
    assert body is not None
    return re.findall(r"\w{2,}", body.text(deep=True, separator=" "))


def words_of_text(data: bytes) -> list[str]:
    return re.findall(r"\w{2,}", data.decode())


def words_of_json(data: bytes) -> list[str]:
    def words(value: object) -> list[str]:
        if isinstance(value, dict):
            return [word for key, item in value.items() for word in (*re.findall(r"\w{2,}", key), *words(item))]
        if isinstance(value, list):
            return [word for item in value for word in words(item)]
        return re.findall(r"\w{2,}", str(value))

    return words(json.loads(data))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("html_rich_table.html", words_of_html),
        ("code_pdfplumber_table.py", words_of_text),
        ("json_chat.json", words_of_json),
    ],
)
def test_no_word_of_the_file_is_lost(name: str, words: Callable[[bytes], list[str]]) -> None:
    wanted = Counter(words((DATA / name).read_bytes()))
    shown = Counter(re.findall(r"\w{2,}", "\n".join(element_text(element) for element in elements_of(opened(name)))))
    assert {word: count for word, count in wanted.items() if shown[word] < count} == {}


def test_no_word_of_the_book_is_lost() -> None:
    import zipfile

    with zipfile.ZipFile(DATA / "epub_purvis.epub") as book:
        names = [name for name in book.namelist() if "/text/" in name and name.endswith(".xhtml")]
        wanted = Counter(word for name in names for word in words_of_html(book.read(name)))
    shown = Counter(
        re.findall(r"\w{2,}", "\n".join(element_text(element) for element in elements_of(opened("epub_purvis.epub"))))
    )
    assert {word: count for word, count in wanted.items() if shown[word] < count} == {}


def test_tables_of_the_page_have_their_captions_and_cells() -> None:
    tables = [element.content for element in elements_of(opened("html_rich_table.html")) if element.category == "table"]
    assert [table["caption"] for table in tables] == [
        "Basic duck facts",
        "Duck family tree (simplified)",
        "Duck‑related actions",
        "Famous Ducks with Images",
    ]
    assert tables[0]["headers"] == ["Name", "Habitat", "Comment"]
    assert tables[0]["rows"][3] == ["Teal", "Pond\nMarsh\nRiverbank", "Fly south in winter\nBuild nest on ground"]


def test_the_book_has_its_title_author_and_chapters() -> None:
    document = opened("epub_purvis.epub")
    description = document.describe()
    assert (description.title, description.page_count) == ("Poetry", 5)
    assert description.summary.startswith("By Sarah Louisa Forten Purvis.")
    assert document.page(2).elements[0].content == {"level": 2, "text": "The Grave of the Slave"}
    assert document.page(2).elements[1].content["text"].split("\n")[0] == (
        "The cold storms of winter shall chill him no more,"
    )


def test_the_mail_has_its_sender_date_and_attachment() -> None:
    document = opened("eml_mail_test_3.eml")
    heading, head, body, attachment = document.page(0).elements
    assert heading.content["text"] == "Hi there"
    assert head.metadata == {"date": "2016-08-22T16:56:09+03:00"}
    assert body.content["text"].startswith("I am sending you the bills")
    assert attachment.content["name"] == "message.txt"


def test_the_notebook_has_code_outputs_and_a_picture() -> None:
    document = opened("ipynb_nb2.ipynb")
    found = elements_of(document)
    counts = Counter(element.category for element in found)
    assert document.describe().title == "NumPy and Matplotlib examples"
    assert (counts["code"], counts["image"], counts["heading"]) == (15, 1, 2)
    picture = next(element for element in found if element.category == "image")
    assert document.element_image(picture.id)[1].startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_the_program_is_divided_by_its_definitions() -> None:
    document = opened("code_pdfplumber_table.py")
    symbols = [element.metadata.get("symbol") for element in elements_of(document)]
    assert {"snap_edges", "words_to_edges_v", "cells_to_tables", "Table", "TableFinder"} <= set(symbols)
