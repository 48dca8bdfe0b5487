"""Folders as documents: which files are found, what they are called, and what is read at their URIs."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from a2c_smcp.documents.files import date_of
from a2c_smcp.documents.library import MAX_OPEN, Library
from a2c_smcp.documents.model import Document, PageEntry
from a2c_smcp.documents.reading import Reading
from a2c_smcp.errors import (
    BadRequest,
    DocumentError,
    DocumentNotFound,
    ElementNotFound,
    InvalidDPEUri,
    PageOutOfRange,
)

HOST = "com.example.docs"
MODIFIED = 1_768_465_800  # 2026-01-15T08:30:00Z


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write(root / "notes.md", "# Notes\n\nFirst.\n\n# More\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
    write(root / "data" / "sales.csv", "year,sum\n2025,10\n")
    return root


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (MODIFIED, MODIFIED))
    return path


def library(*roots: Path) -> Library:
    return Library(roots, host=HOST)


def read(folder: Path, path: str) -> Any:
    reading = library(folder).read(f"dpe://{HOST}{path}")
    assert reading.mime_type == "application/json"
    return json.loads(reading.text)


# What is found


def test_a_document_is_described_with_all_that_is_known(folder: Path) -> None:
    assert library(folder).document("notes.md") == Document(
        host=HOST,
        doc_ref="notes.md",
        file_uri=(folder / "notes.md").as_uri(),
        file_type="md",
        title="Notes",
        page_count=2,
        keywords=("More",),
        summary="First.",
        last_modified="2026-01-15T08:30:00Z",
    )


def test_the_catalogue_says_everything_on_one_line_in_whole_characters(tmp_path: Path) -> None:
    write(tmp_path / "two\nlines.json", '{"k\\ud800": 1, "b\\nc": 2}')
    found = library(tmp_path).document("two-lines.json")
    assert (found.title, found.keywords, found.summary) == (
        "two lines",
        ("k\ufffd", "b c"),
        "Object of 2 keys: k\ufffd, b c",
    )


def test_documents_are_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "c/a.md", "A.txt"):
        write(tmp_path / name, "x")
    assert library(tmp_path).refs == ("a.txt", "a-z.md", "b.md", "c-a.md")


def test_hidden_files_and_folders_and_other_files_are_left_out(folder: Path) -> None:
    for name in (".secret.md", ".git/readme.md", "program.exe", "noext"):
        write(folder / name, "x")
    assert library(folder).refs == ("data-sales.csv", "notes.md")


def test_symbolic_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "secret.md", "# Secret")
    (folder / "link.md").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent, target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    assert library(folder).refs == ("data-sales.csv", "notes.md")


@pytest.mark.parametrize("parent", [False, True], ids=["file", "folder"])
def test_a_link_that_takes_the_place_of_a_file_leads_nowhere(folder: Path, tmp_path: Path, *, parent: bool) -> None:
    outside = write(tmp_path / "outside" / "sales.csv", "secret,words\n1,2\n")
    documents = library(folder)
    place = folder / "data" / "sales.csv"
    place.unlink()
    if parent:
        place.parent.rmdir()
        place.parent.symlink_to(outside.parent, target_is_directory=True)
    else:
        place.symlink_to(outside)
    with pytest.raises(DocumentNotFound):
        documents.page("data-sales.csv", 0)


def test_a_root_may_be_reached_by_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(folder, target_is_directory=True)
    assert library(tmp_path / "way").refs == ("data-sales.csv", "notes.md")


def test_a_root_may_be_a_single_file(folder: Path) -> None:
    assert library(folder / "data" / "sales.csv").refs == ("sales.csv",)


def test_a_file_under_two_roots_is_found_once(folder: Path) -> None:
    assert library(folder, folder / "data", folder).refs == ("data-sales.csv", "notes.md")


def test_a_root_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="There is no folder"):
        library(tmp_path / "nowhere")


def test_a_host_that_cannot_stand_in_a_uri_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDPEUri):
        Library([tmp_path], host="no host")


def test_a_deep_folder_is_walked(tmp_path: Path) -> None:
    path = tmp_path.joinpath(*["d"] * 300)
    write(path / "deep.txt", "deep")
    assert len(library(tmp_path).refs) == 1


# Reading


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
    assert documents.read(f"{uri}?format=text", default_format="markdown") == Reading(
        f"{uri}?format=text", "text/plain", "Notes\n\nFirst.", "Notes"
    )
    assert documents.read(uri, default_format="markdown") == Reading(uri, "text/markdown", "# Notes\n\nFirst.", "Notes")


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


# Change


def test_a_changed_file_is_read_anew(folder: Path) -> None:
    documents = library(folder)
    before = documents.document("notes.md").title
    write(folder / "notes.md", "# Changed\n")
    assert [before, documents.document("notes.md").title] == ["Notes", "Changed"]


def test_a_new_file_is_found_when_it_is_asked_for(folder: Path) -> None:
    documents = library(folder)
    write(folder / "new.txt", "new")
    assert documents.document("new.txt").summary == "new"


def test_the_catalogue_is_fresh_each_time_it_is_read(folder: Path) -> None:
    documents = library(folder)
    (folder / "notes.md").unlink()
    assert json.loads(documents.read(documents.uri).text)["total_count"] == 1


def test_a_file_that_is_gone_is_not_found_and_not_listed(folder: Path) -> None:
    documents = library(folder)
    documents.document("notes.md")
    (folder / "notes.md").unlink()
    assert [document.doc_ref for document in documents.documents()] == ["data-sales.csv"]
    with pytest.raises(DocumentNotFound):
        documents.page("notes.md", 0)


def test_part_of_the_catalogue_is_read_without_the_rest(folder: Path) -> None:
    documents = library(folder)
    assert [document.doc_ref for document in documents.documents(1, 1)] == ["notes.md"]


def test_only_so_many_documents_stay_open(tmp_path: Path) -> None:
    for number in range(MAX_OPEN + 5):
        write(tmp_path / f"{number}.txt", f"text {number}")
    documents = library(tmp_path)
    assert [document.summary for document in documents.documents()] == [
        documents.page(ref, 0).elements[0].summary for ref in documents.refs
    ]
    assert len(documents._opened) == MAX_OPEN


# Bad files


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: write(path, b"\x00\x01\x02" * 99), "not text: it holds binary data"),
        (
            lambda path: write(path, b"\x81\x8d\x8f\xff\xff"),
            "not text in UTF-8, UTF-16 or an older encoding that is known here",
        ),
        (lambda path: write(path, b"x" * (5 << 20)), "larger than the 4 MiB that are read of this file type"),
    ],
    ids=["binary", "encoding", "huge"],
)
def test_a_bad_file_stays_in_the_catalogue_and_says_why(
    folder: Path, make: Callable[[Path], Path], reason: str
) -> None:
    make(folder / "bad.md")
    documents = library(folder)
    assert [(d.title, d.page_count, d.summary) for d in documents.documents()] == [
        ("bad", 0, f"Cannot be read: {reason}"),
        ("sales", 1, "1 row × 2 columns: year, sum"),
        ("Notes", 2, "First."),
    ]


def test_reading_a_bad_file_gives_the_reason_with_the_code(folder: Path) -> None:
    write(folder / "bad.md", b"\x00" * 99)
    documents = library(folder)
    with pytest.raises(PageOutOfRange, match="Cannot be read: not text") as page:
        documents.page("bad.md", 0)
    with pytest.raises(ElementNotFound, match="Cannot be read: not text"):
        documents.element("bad.md", "h-001")
    assert page.value.details == {"doc_ref": "bad.md", "page_index": 0, "page_count": 0}


def test_a_parser_that_fails_takes_nothing_else_down(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> Any:
        raise IndexError("a bug in a parser")

    monkeypatch.setattr("a2c_smcp.documents.formats.text.TextFormat.open", lambda _, path: fail(path))
    write(folder / "bad.txt", "x")
    assert [document.summary for document in library(folder).documents()] == [
        "Cannot be read: the parser failed (IndexError)",
        "1 row × 2 columns: year, sum",
        "First.",
    ]


def test_a_missing_library_is_told_instead_of_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str, __: str) -> Any:
        raise ModuleNotFoundError("pip install", name="markdown_it")

    monkeypatch.setattr("a2c_smcp.documents.formats.markdown.require", missing)
    with pytest.raises(ModuleNotFoundError):
        library(folder).documents()


def test_a_file_that_may_not_be_read_says_so_without_its_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(_: Any, path: Path) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("a2c_smcp.documents.formats.text.TextFormat.open", deny)
    write(folder / "locked.txt", "x")
    assert library(folder).document("locked.txt").summary == "Cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("seconds", "date"), [(MODIFIED, "2026-01-15T08:30:00Z"), (0, "1970-01-01T00:00:00Z"), (1 << 50, None)]
)
def test_a_date_is_told_in_utc_and_left_out_where_there_is_none(seconds: int, date: str | None) -> None:
    assert date_of((seconds * 1_000_000_000, 0, 0)) == date


def test_a_file_that_goes_while_it_is_read_is_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = library(folder)
    monkeypatch.setattr("a2c_smcp.documents.library.signature_of", lambda _: (1, 2, 3))
    documents.document("data-sales.csv")
    (folder / "data" / "sales.csv").unlink()
    with pytest.raises(DocumentNotFound, match="is gone"):
        documents.page("data-sales.csv", 0)


@pytest.mark.rule("3.4")
def test_no_error_names_a_folder_of_the_host(folder: Path) -> None:
    write(folder / "bad.md", b"\x00")
    documents = library(folder)
    for uri in ("bad.md/pages/0", "bad.md/elements/x", "gone.md"):
        with pytest.raises(DocumentError) as caught:
            documents.read(f"dpe://{HOST}/{uri}")
        assert str(folder) not in f"{caught.value.message} {caught.value.details}"


@pytest.mark.parametrize(
    ("method", "path", "what"),
    [
        ("page", "bad.txt/pages/0", "Page 0"),
        ("find", "bad.txt/elements/x", "Element 'x'"),
    ],
)
@pytest.mark.parametrize(
    ("failure", "why"),
    [(IndexError("a bug"), "the parser failed (IndexError)"), (OSError(5, "Input/output error"), "Input/output error")],
)
def test_a_part_that_its_parser_fails_on_is_told_as_such(
    folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, path: str, what: str, failure: Exception, why: str
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(f"a2c_smcp.documents.formats.base.PagedDocument.{method}", fail)
    write(folder / "bad.txt", "x")
    with pytest.raises(DocumentError) as caught:
        library(folder).read(f"dpe://{HOST}/{path}")
    assert caught.value.message == f"{what} of 'bad.txt' cannot be read: {why}"
    assert caught.value.details == {"doc_ref": "bad.txt"}


def test_a_page_that_its_parser_fails_on_is_in_the_page_index(folder: Path) -> None:
    image = Image.new("RGB", (20, 20))
    for name, damage in (("good.png", 0), ("bad.png", 20)):
        image.save(folder / name)
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) - damage])
    why = "Page 0 of 'bad.png' cannot be read: the picture is damaged or of an unknown kind"
    documents = library(folder)
    assert list(documents.entries("bad.png", 0, 10)) == [PageEntry(0, why, 0)]
    assert list(documents.entries("bad.png", 1, 10)) == []
    assert [entry.element_count for entry in documents.entries("good.png", 0, 10)] == [1]


def test_what_is_to_be_left_out_is(folder: Path) -> None:
    assert Library([folder], host=HOST, excludes=["data/"]).refs == ("notes.md",)
