"""A file that cannot be read costs itself alone, and says why."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from a2c_smcp.documents import library as library_module
from a2c_smcp.documents.library import Library
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


def test_a_parser_that_fails_takes_nothing_else_down(folder: Path) -> None:
    write(folder / "bad.misbehaving", "open index")
    assert [document.summary for document in library(folder).documents()] == [
        "Cannot be read: the parser failed (IndexError)",
        "1 row × 2 columns: year, sum",
        "First.",
    ]


@pytest.mark.parametrize("deed", ["loop", "crash", "eat", "exit"])
def test_a_parser_that_hangs_crashes_or_grows_takes_nothing_else_down(folder: Path, deed: str) -> None:
    write(folder / "bad.misbehaving", f"describe {deed}\npage0 {deed}")
    with Library([folder], host=HOST, deadline=2, memory=1 << 30) as documents:
        bad, *others = documents.documents()
        assert (bad.page_count, bad.summary.startswith("Cannot be read: ")) == (0, True)
        assert [document.title for document in others] == ["sales", "Notes"]


def test_pages_that_keep_ending_their_parser_are_left_alone_and_hide_no_other(folder: Path) -> None:
    write(folder / "bad.misbehaving", "page0 exit\npage1 exit")
    documents = library(folder)
    entries = documents.entries("bad.misbehaving", 0, 10)
    assert [entry.title.partition(": ")[2] or entry.title for entry in entries] == [
        "the parser crashed",
        "the parser crashed",
        "Page 2",
    ]
    for why in ("the parser crashed", "the parser crashed", "it has ended its parser 2 times and is left alone"):
        with pytest.raises(DocumentError, match=why):
            documents.page("bad.misbehaving", 0)
    assert documents.page("bad.misbehaving", 2).title == "Page 2"


def test_of_a_file_with_many_bad_pages_no_others_are_tried_for_a_list(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module, "FILE_STRIKES", 1)
    write(folder / "bad.misbehaving", "page0 exit\npage1 exit")
    documents = library(folder)
    assert [entry.title for entry in documents.entries("bad.misbehaving", 0, 10)][1:] == ["Page 2", "Page 3"]
    assert documents.page("bad.misbehaving", 2).title == "Page 2"


@pytest.mark.parametrize("deed", ["loop", "crash", "eat", "exit"])
def test_a_document_whose_first_page_ends_its_parser_is_described_by_its_metadata(folder: Path, deed: str) -> None:
    write(folder / "bad.misbehaving", f"describe {deed}\nmetadata told")
    with Library([folder], host=HOST, deadline=2, memory=1 << 30) as documents:
        bad = documents.document("bad.misbehaving")
        assert (bad.title, bad.page_count) == ("told", 3)
        assert documents.page("bad.misbehaving", 1).title == "Page 1"


def test_a_missing_library_is_named_with_its_install_command(folder: Path) -> None:
    write(folder / "bad.misbehaving", "open miss")
    summary = library(folder).document("bad.misbehaving").summary
    assert summary == "Cannot be read: the module 'x' is not installed: pip install x"


def test_a_file_that_may_not_be_read_says_so_without_its_path(folder: Path) -> None:
    write(folder / "locked.misbehaving", "open deny")
    assert library(folder).document("locked.misbehaving").summary == "Cannot be read: Permission denied"


@pytest.mark.rule("3.4")
def test_no_error_names_a_folder_of_the_host(folder: Path) -> None:
    write(folder / "bad.md", b"\x00")
    documents = library(folder)
    for uri in ("bad.md/pages/0", "bad.md/elements/x", "gone.md"):
        with pytest.raises(DocumentError) as caught:
            documents.read(f"dpe://{HOST}/{uri}")
        assert str(folder) not in f"{caught.value.message} {caught.value.details}"


@pytest.mark.parametrize(
    ("operation", "path", "what"),
    [
        ("page0", "bad.misbehaving/pages/0", "Page 0"),
        ("find", "bad.misbehaving/elements/x", "Element 'x'"),
    ],
)
@pytest.mark.parametrize(("deed", "why"), [("index", "the parser failed (IndexError)"), ("lose", "Input/output error")])
def test_a_part_that_its_parser_fails_on_is_told_as_such(
    folder: Path, operation: str, path: str, what: str, deed: str, why: str
) -> None:
    write(folder / "bad.misbehaving", f"{operation} {deed}")
    with pytest.raises(DocumentError) as caught:
        library(folder).read(f"dpe://{HOST}/{path}")
    assert caught.value.message == f"{what} of 'bad.misbehaving' cannot be read: {why}"
    assert caught.value.details == {"doc_ref": "bad.misbehaving"}


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
