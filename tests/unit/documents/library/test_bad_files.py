"""A file that cannot be read costs itself alone, and says why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from a2c_smcp.documents.model import PageEntry
from a2c_smcp.errors import DocumentError, ElementNotFound, PageOutOfRange
from tests.unit.documents.library.making import HOST, library, write


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
