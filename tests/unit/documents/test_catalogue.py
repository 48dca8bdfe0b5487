"""The catalogue: what it says, what it notices, and that it says it as the renderers do."""

import os
from pathlib import Path

import pytest

from a2c_smcp.documents.catalogue import NOT_YET, CatalogueChanges, CataloguedFile, DocumentCatalogue, scan
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.render import renderer_for

HOST = "com.example.docs"
RECORD = Record(Description("A “title”\x00", 3, ("one", "two"), "What it says."), "txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.md", "sub/c.csv", "sub/d.unknown"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path


def look(root: Path, before: dict[str, CataloguedFile] | None = None) -> dict[str, CataloguedFile]:
    return scan([root], Excludes.of(), (before or {}).values())


def test_a_scan_sees_the_documents_with_what_changes_when_they_do(root: Path) -> None:
    sources = look(root)
    status = (root / "b.md").stat()
    assert list(sources) == ["a.txt", "b.md", "sub-c.csv"]
    assert sources["b.md"].signature == (status.st_mtime_ns, status.st_size, status.st_ino)
    assert (sources["sub-c.csv"].path, sources["sub-c.csv"].file.relative) == (str(root / "sub/c.csv"), "sub/c.csv")


def test_what_has_not_changed_is_taken_over(root: Path) -> None:
    first = look(root)
    (root / "b.md").write_text("changed", encoding="utf-8")
    second = look(root, first)
    assert {ref: second[ref] is first[ref] for ref in first} == {"a.txt": True, "b.md": False, "sub-c.csv": True}
    assert second == look(root)


def test_a_new_file_that_comes_first_takes_the_reference_of_its_namesake(root: Path) -> None:
    first = look(root)
    (root / "sub-c.csv").write_text("x", encoding="utf-8")
    assert look(root, first) == look(root)


def test_changes_are_told_by_reference(root: Path) -> None:
    catalogue = DocumentCatalogue(HOST)
    first = look(root)
    assert catalogue.update(first) == CatalogueChanges(added=("a.txt", "b.md", "sub-c.csv"))
    assert not catalogue.update(look(root, first))
    (root / "a.txt").unlink()
    os.utime(root / "b.md", (1, 1))
    (root / "e.txt").write_text("e", encoding="utf-8")
    assert catalogue.update(look(root, first)) == CatalogueChanges(("e.txt",), ("a.txt",), ("b.md",))


def test_the_catalogue_is_written_as_the_renderer_writes_it(root: Path) -> None:
    catalogue = DocumentCatalogue(HOST)
    catalogue.update(look(root))
    for source in catalogue.sources:
        catalogue.learn(source, RECORD)
    documents = [catalogue.entry(source) for source in catalogue.window()]
    assert catalogue.json() == renderer_for("json").render_catalogue(documents)
    assert catalogue.json() is catalogue.json()


def test_a_document_that_was_not_read_says_so_and_is_corrected_once(root: Path) -> None:
    catalogue = DocumentCatalogue(HOST)
    catalogue.update(look(root))
    first, second, _ = catalogue.window()
    assert (catalogue.entry(first).summary, catalogue.entry(first).title) == (NOT_YET, "a")
    assert NOT_YET in catalogue.json()
    assert [catalogue.learn(first, RECORD), catalogue.learn(first, RECORD)] == [True, False]
    document = catalogue.document("a.txt")
    assert document is not None
    assert (document.page_count, catalogue.record("a.txt"), catalogue.record(second.doc_ref)) == (3, RECORD, None)


def test_what_was_read_of_an_older_file_is_not_learned(root: Path) -> None:
    catalogue = DocumentCatalogue(HOST)
    catalogue.update(look(root))
    old = catalogue.window()[0]
    (root / "a.txt").write_text("changed", encoding="utf-8")
    catalogue.update(look(root))
    version = catalogue.version
    catalogue.learn(old, RECORD)
    assert (catalogue.document("a.txt"), catalogue.version) == (None, version)


def test_a_window_is_part_of_it(root: Path) -> None:
    catalogue = DocumentCatalogue(HOST)
    catalogue.update(look(root))
    assert [source.doc_ref for source in catalogue.window(1, 1)] == ["b.md"]
    assert (len(catalogue), catalogue.refs, catalogue.source("x")) == (3, ("a.txt", "b.md", "sub-c.csv"), None)
