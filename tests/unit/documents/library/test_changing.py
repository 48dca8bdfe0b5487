"""Files that change, come and go under a library."""

import json
import os
from pathlib import Path

import pytest

from a2c_smcp.documents.files import signature_of
from a2c_smcp.documents.worker_main import MAX_OPEN
from a2c_smcp.errors import DocumentNotFound
from tests.unit.documents.library.making import library, write


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


def test_more_documents_than_a_worker_keeps_open_are_read(tmp_path: Path) -> None:
    for number in range(3 * MAX_OPEN):
        write(tmp_path / f"{number}.txt", f"text {number}")
    documents = library(tmp_path)
    assert [document.summary for document in documents.documents()] == [
        documents.page(ref, 0).elements[0].summary for ref in documents.refs
    ]


def test_a_file_that_goes_while_it_is_read_is_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = library(folder)
    known = documents.document("data-sales.csv")
    signature = signature_of(folder / "data" / "sales.csv")
    (folder / "data" / "sales.csv").unlink()
    monkeypatch.setattr("a2c_smcp.documents.library.signature_of", lambda _: signature)
    assert documents.document("data-sales.csv") == known
    with pytest.raises(DocumentNotFound, match="is gone"):
        documents.page("data-sales.csv", 0)


def test_closing_ends_the_workers(folder: Path) -> None:
    with library(folder) as documents:
        documents.documents()
        pids = documents._workers.pool.pids
        assert pids
    assert not documents._workers.pool.pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    documents.close()
