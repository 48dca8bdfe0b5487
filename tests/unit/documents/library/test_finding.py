"""Which files are found, what they are called, and what the catalogue says of them."""

from pathlib import Path

import pytest

from a2c_smcp.documents.files import date_of
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Document
from a2c_smcp.errors import BadRequest, DocumentNotFound, InvalidDPEUri
from tests.unit.documents.library.making import HOST, MODIFIED, library, write


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


def test_what_is_to_be_left_out_is(folder: Path) -> None:
    assert Library([folder], host=HOST, excludes=["data/"]).refs == ("notes.md",)


@pytest.mark.parametrize(
    ("seconds", "date"), [(MODIFIED, "2026-01-15T08:30:00Z"), (0, "1970-01-01T00:00:00Z"), (1 << 50, None)]
)
def test_a_date_is_told_in_utc_and_left_out_where_there_is_none(seconds: int, date: str | None) -> None:
    assert date_of((seconds * 1_000_000_000, 0, 0)) == date
