"""What is read at the URIs of a library, and what is not there."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.library import Library
from a2c_smcp.documents.resource_reading import ResourceReading
from a2c_smcp.errors import DocumentError, DocumentNotFound, ElementNotFound, InvalidDPEUri, PageOutOfRange
from tests.documents.hostile.misbehaving import PASSWORD
from tests.unit.documents.library.making import HOST, library, write


def read(folder: Path, path: str) -> Any:
    reading = library(folder).read(f"dpe://{HOST}{path}")
    assert reading.mime_type == "application/json"
    return json.loads(reading.text)


@pytest.mark.rule("7.2.level0")
def test_level_0_is_the_catalogue(folder: Path) -> None:
    catalogue = read(folder, "")
    assert [document["uri"] for document in catalogue["documents"]] == [
        f"dpe://{HOST}/data-sales.csv",
        f"dpe://{HOST}/notes.md",
    ]
    assert catalogue["total_count"] == 2


@pytest.mark.rule("7.2.level1")
def test_level_1_is_the_document_with_its_pages_where_asked(folder: Path) -> None:
    document = read(folder, "/notes.md?depth=pages&offset=1&limit=5")
    assert read(folder, "/notes.md") == {
        key: value
        for key, value in document.items()
        if (key != "pages" and not key.startswith("page_")) or key == "page_count"
    }
    assert (document["page_offset"], document["page_limit"], document["page_total"]) == (1, 5, 2)
    assert document["pages"] == [
        {
            "page_index": 1,
            "title": "More",
            "element_count": 2,
            "uri": f"dpe://{HOST}/notes.md/pages/1",
            "doc_ref": "notes.md",
        }
    ]


@pytest.mark.rule("7.2.level2")
def test_level_2_is_the_page_with_the_categories_asked_for(folder: Path) -> None:
    page = read(folder, "/notes.md/pages/1?categories=table,chart")
    assert (page["title"], page["element_count"]) == ("More", 1)
    assert page["elements"] == [
        {
            "element_id": "tbl-001",
            "category": "table",
            "summary": "1 row × 2 columns: a, b",
            "content": {"headers": ["a", "b"], "rows": [["1", "2"]]},
        }
    ]


@pytest.mark.rule("7.2.level3")
def test_level_3_is_the_element_in_full(folder: Path) -> None:
    assert read(folder, "/data-sales.csv/elements/tbl-001") == {
        "element_id": "tbl-001",
        "category": "table",
        "doc_ref": "data-sales.csv",
        "page_index": 0,
        "uri": f"dpe://{HOST}/data-sales.csv/elements/tbl-001",
        "summary": "1 row × 2 columns: year, sum",
        "content": {"headers": ["year", "sum"], "rows": [["2025", "10"]], "total_rows": 1, "total_columns": 2},
        "metadata": {"source_range": "A1:B2", "encoding": "utf-8", "delimiter": ","},
    }


def test_the_format_comes_from_the_uri_or_the_caller(folder: Path) -> None:
    documents, uri = library(folder), f"dpe://{HOST}/notes.md/pages/0"
    assert documents.read(f"{uri}?format=text", default_format="markdown") == ResourceReading(
        f"{uri}?format=text", "text/plain", "Notes\n\nFirst.", "Notes"
    )
    assert documents.read(uri, default_format="markdown") == ResourceReading(
        uri, "text/markdown", "# Notes\n\nFirst.", "Notes"
    )


@pytest.mark.rule("7.1.levels")
@pytest.mark.parametrize(
    ("path", "title"),
    [("", HOST), ("/notes.md", "Notes"), ("/notes.md?depth=pages", "Notes"), ("/notes.md/elements/txt-001", "First.")],
)
def test_what_is_read_has_a_title_at_every_level(folder: Path, path: str, title: str) -> None:
    assert library(folder).read(f"dpe://{HOST}{path}").title == title


def test_the_host_is_the_same_in_capitals(folder: Path) -> None:
    assert library(folder).read("dpe://COM.Example.docs/notes.md").title == "Notes"


@pytest.mark.parametrize(
    ("uri", "error", "details"),
    [
        (f"dpe://{HOST}/note.md", DocumentNotFound, {"doc_ref": "note.md", "nearest": ["notes.md"]}),
        (f"dpe://{HOST}/zzzzzz", DocumentNotFound, {"doc_ref": "zzzzzz"}),
        ("dpe://other/notes.md", DocumentNotFound, {"host": "other", "known_host": HOST}),
        (
            f"dpe://{HOST}/notes.md/pages/2",
            PageOutOfRange,
            {"doc_ref": "notes.md", "page_index": 2, "page_count": 2},
        ),
        (
            f"dpe://{HOST}/notes.md/elements/x",
            ElementNotFound,
            {"doc_ref": "notes.md", "element_id": "x", "page_count": 2},
        ),
    ],
)
def test_what_is_not_there_is_told_with_facts(
    folder: Path, uri: str, error: type[DocumentError], details: dict[str, Any]
) -> None:
    with pytest.raises(error) as caught:
        library(folder).read(uri)
    assert caught.value.details == details


@pytest.mark.rule("3.3.4204")
@pytest.mark.parametrize("uri", ["", "file:///etc/passwd", f"dpe://{HOST}/notes.md/pages/-1", f"dpe://{HOST}/a/../b"])
def test_a_uri_that_breaks_a_rule_is_4204(folder: Path, uri: str) -> None:
    with pytest.raises(InvalidDPEUri):
        library(folder).read(uri)


def test_a_negative_page_is_out_of_range(folder: Path) -> None:
    with pytest.raises(PageOutOfRange):
        library(folder).page("notes.md", -1)


@pytest.mark.parametrize(
    ("password", "title", "pages"), [(PASSWORD, "Treasure", 3), ("wrong", "secret", 0), (None, "secret", 0)]
)
def test_a_library_asks_once_for_the_password_of_a_locked_document(
    tmp_path: Path, password: str | None, title: str, pages: int
) -> None:
    write(tmp_path / "secret.misbehaving", "open locked\ntitle Treasure")
    asked: list[str] = []

    def passwords(doc_ref: str) -> str | None:
        asked.append(doc_ref)
        return password

    with Library([tmp_path], host=HOST, passwords=passwords) as documents:
        [document] = documents.documents()
        assert (document.title, document.page_count) == (title, pages)
        assert len(documents.entries("secret.misbehaving", 0, 5)) == pages
    assert set(asked) == {"secret.misbehaving"}
    assert password is None or len(asked) == 1
