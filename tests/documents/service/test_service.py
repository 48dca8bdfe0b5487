"""The service as its callers see it: the same as the library, with more behind it."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from a2c_smcp.documents import catalogue_keeper
from a2c_smcp.documents.formats.base import OutlineEntry
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.errors import BadRequest, DocumentError, DocumentNotFound, ElementNotFound, InvalidDPEUri, PageOutOfRange
from tests.documents.service.conftest import HOST, Make, Serve, Write


@pytest.fixture
def folder(write: Write, root: Path) -> Path:
    write("notes.md", "# Notes\n\nFirst.\n\n# More\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
    write("data/sales.csv", "year,sum\n2025,10\n")
    write("empty.txt", "")
    write("broken.md", b"\0\1\2" * 50)
    write("three.misbehaving", "")
    return root


READ = [
    *["", "?format=markdown", "?format=text"],
    *["/notes.md", "/notes.md?depth=pages", "/notes.md?depth=pages&offset=1&limit=1&format=text"],
    *["/notes.md/pages/0", "/notes.md/pages/1?categories=table", "/notes.md/pages/1?format=markdown"],
    *["/notes.md/elements/tbl-001", "/data-sales.csv/elements/tbl-001?format=text"],
    *["/empty.txt", "/broken.md", "/broken.md?depth=pages", "/three.misbehaving?depth=pages"],
]
REFUSED = [
    *["/note.md", "/zzzzzz", "/notes.md/pages/2", "/notes.md/elements/x", "/broken.md/pages/0"],
    *["/broken.md/elements/x", "/notes.md/pages/-1", "/notes.md?depth=deep"],
]


async def test_a_service_reads_what_a_library_reads(folder: Path, serve: Serve) -> None:
    service, library = await serve(), Library([folder], host=HOST)
    for uri in (f"dpe://{HOST}{path}" for path in READ):
        got, expected = await service.read(uri), library.read(uri)
        got, expected = (replace(one, text=re.sub(r"by \d+", "by a worker", one.text)) for one in (got, expected))
        assert got == expected


async def test_a_service_refuses_what_a_library_refuses(folder: Path, serve: Serve) -> None:
    service, library = await serve(), Library([folder], host=HOST)
    for uri in (f"dpe://{HOST}{path}" for path in REFUSED):
        with pytest.raises(DocumentError) as expected:
            library.read(uri)
        with pytest.raises(DocumentError) as got:
            await service.read(uri)
        assert repr(got.value) == repr(expected.value)


async def test_another_host_is_not_found(folder: Path, serve: Serve) -> None:
    with pytest.raises(DocumentNotFound):
        await (await serve()).read("dpe://other/notes.md")


async def test_parts_of_documents_are_there_as_objects(folder: Path, serve: Serve) -> None:
    service = await serve()
    words = Element("p1", "text", {"text": "Nothing to see"}, "Words")
    assert await service.page("three.misbehaving", 1) == Page(1, "Page 1", (words,))
    assert await service.element("three.misbehaving", "p1") == (1, words)
    assert await service.entries("three.misbehaving", 1, 1) == [PageEntry(1, "Page 1", 1)]
    assert await service.outline("three.misbehaving") == []
    assert (await service.document("notes.md")).title == "Notes"
    assert [document.doc_ref for document in await service.documents(1, 2)] == ["data-sales.csv", "empty.txt"]
    assert (service.uri, OutlineEntry("x", None).level) == (f"dpe://{HOST}", 1)


async def test_pages_can_be_drawn_and_pictures_taken_out(folder: Path, serve: Serve) -> None:
    service = await serve()
    assert await service.render_page("three.misbehaving", 2, 90) == b"\x89PNG\x02Z"
    assert await service.element_image("three.misbehaving", "p0") == ("image/png", b"picture")


async def test_what_cannot_be_done_is_told(folder: Path, serve: Serve) -> None:
    service = await serve()
    refused = [
        (service.render_page("notes.md", 0), DocumentError, "have no look of their own"),
        (service.render_page("notes.md", 9), PageOutOfRange, "no page 9"),
        (service.render_page("notes.md", 0, 9_999), BadRequest, "dpi must be"),
        (service.element_image("notes.md", "h-001"), ElementNotFound, "none with a picture"),
        (service.element_image("gone.md", "h-001"), DocumentNotFound, "no document"),
        (service.search("word", limit=0), BadRequest, "limit must be"),
        (service.search("word", doc_ref="gone.md"), DocumentNotFound, "no document"),
        (service.search("  "), BadRequest, "no word"),
        (service.complete_pages("gone.md"), DocumentNotFound, "no document"),
    ]
    for call, error, message in refused:
        with pytest.raises(error, match=message):
            await call


async def test_references_pages_and_elements_are_completed(folder: Path, serve: Serve) -> None:
    service = await serve()
    assert await service.complete_refs("N") == ["notes.md"]
    assert await service.complete_refs() == [
        "broken.md",
        "data-sales.csv",
        "empty.txt",
        "notes.md",
        "three.misbehaving",
    ]
    assert await service.complete_pages("notes.md") == ["0", "1"]
    assert await service.complete_pages("notes.md", "1") == ["1"]
    assert await service.complete_elements("notes.md", 1, "t") == ["tbl-001"]
    with pytest.raises(PageOutOfRange):
        await service.complete_elements("notes.md", 7)


async def test_a_root_or_host_or_pattern_that_is_none_is_refused(root: Path) -> None:
    with pytest.raises(BadRequest):
        DocumentService([root / "nowhere"], host=HOST)
    with pytest.raises(InvalidDPEUri):
        DocumentService([root], host="no host")
    with pytest.raises(BadRequest):
        DocumentService([root], host=HOST, excludes=["!"])


async def test_a_service_that_cannot_start_leaves_nothing_behind(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(catalogue_keeper, "scan", fail)
    with pytest.raises(MemoryError):
        await make().__aenter__()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("a2c-documents")]


async def test_what_is_to_be_left_out_is(folder: Path, serve: Serve) -> None:
    service = await serve(excludes=["*.misbehaving", "data/"])
    assert await service.complete_refs() == ["broken.md", "empty.txt", "notes.md"]
