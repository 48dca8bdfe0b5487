"""The service as its callers see it: the same as the library, with more behind it."""

import asyncio
import itertools
import json
import os
import re
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents import upkeep
from a2c_smcp.documents.catalogue import Source, scan
from a2c_smcp.documents.formats.base import OutlineEntry
from a2c_smcp.documents.indexing import Progress
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.errors import (
    BadRequest,
    DocumentError,
    DocumentNotFound,
    ElementNotFound,
    InvalidDPEUri,
    PageOutOfRange,
)

HOST = "com.example.docs"
Write = Callable[[str, str | bytes], Path]
Serve = Callable[..., Awaitable[DocumentService]]
Make = Callable[..., DocumentService]


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
        told = re.sub(r"by \d+", f"by {os.getpid()}", got.text)  # the process that read it
        assert replace(got, text=told) == expected


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

    monkeypatch.setattr(upkeep, "scan", fail)
    with pytest.raises(MemoryError):
        await make().__aenter__()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("a2c-documents")]


async def test_what_is_to_be_left_out_is(folder: Path, serve: Serve) -> None:
    service = await serve(excludes=["*.misbehaving", "data/"])
    assert await service.complete_refs() == ["broken.md", "empty.txt", "notes.md"]


# Remembering


async def test_what_was_read_is_not_read_again(make: Make, serve: Serve, write: Write) -> None:
    write("a.misbehaving", "")
    async with make() as first:
        document, page = await first.document("a.misbehaving"), await first.page("a.misbehaving", 0)
        assert len(first._pool.pids) == 1
    second = await serve()
    assert (await second.document("a.misbehaving"), await second.page("a.misbehaving", 0)) == (document, page)
    await second.render_page("a.misbehaving", 0)
    assert len(second._pool.pids) == 1  # drawing was new


async def test_a_moved_file_needs_no_second_reading(serve: Serve, write: Write, root: Path) -> None:
    path = write("a.misbehaving", "")
    service = await serve()
    before = await service.document("a.misbehaving")
    (root / "sub").mkdir()
    path.rename(root / "sub" / "a.misbehaving")
    after = await service.document("sub-a.misbehaving")
    assert before.summary == after.summary  # which names the process that read it


async def test_who_recognizes_text_reaches_the_worker_and_keeps_results_apart(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "title ocr")
    policy = OcrPolicy((OcrSpec("local"),))
    titles = [(await (await serve(ocr=ocr)).document("a.misbehaving")).title for ocr in (None, policy, None)]
    assert titles == ["nobody reads pictures", policy.fingerprint, "nobody reads pictures"]


async def test_a_cleared_cache_is_filled_anew(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "words penguins")
    service = await serve()
    await service.page("a.misbehaving", 0)
    await service.search("penguins")
    await service.clear_cache()
    assert (await service.page("a.misbehaving", 1)).title == "Page 1"
    assert len(await service.search("penguins")) == 3


async def test_many_who_ask_at_once_cost_one_reading(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "")
    service = await serve()
    pages = await asyncio.gather(*(service.page("a.misbehaving", 0) for _ in range(20)))
    assert len({id(page) for page in pages}) == 20
    assert set(map(str, pages)) == {str(pages[0])}


# Change


async def test_a_changed_file_is_read_anew(serve: Serve, write: Write) -> None:
    write("a.txt", "before")
    service = await serve()
    before = await service.page("a.txt", 0)
    write("a.txt", "after!")
    after = await service.page("a.txt", 0)
    assert [page.elements[0].content["text"] for page in (before, after)] == ["before", "after!"]


async def test_new_and_removed_files_show_when_they_are_asked_for(serve: Serve, write: Write) -> None:
    write("a.txt", "a")
    service = await serve()
    write("b.txt", "b")
    assert (await service.document("b.txt")).summary == "b"
    (write("c.txt", "c")).unlink()
    assert json.loads((await service.read(service.uri)).text)["total_count"] == 2


async def test_a_file_that_is_gone_is_not_found(serve: Serve, write: Write) -> None:
    path = write("a.txt", "a")
    service = await serve()
    await service.document("a.txt")
    path.unlink()
    with pytest.raises(DocumentNotFound):
        await service.page("a.txt", 0)


async def test_a_link_that_takes_the_place_of_a_file_leads_nowhere(serve: Serve, write: Write, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret", encoding="utf-8")
    path = write("a.txt", "a")
    service = await serve()
    await service.document("a.txt")
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(DocumentNotFound):
        await service.page("a.txt", 0)


def _become_a_link(folder: Path, elsewhere: Path) -> None:
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere, target_is_directory=True)


async def test_a_root_that_becomes_a_link_is_empty(serve: Serve, write: Write, root: Path, tmp_path: Path) -> None:
    write("a.txt", "a")
    service = await serve()
    _become_a_link(root, tmp_path / "elsewhere")
    assert await service.documents() == []


async def test_a_page_that_was_not_read_before_the_file_changed_is_the_new_one(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "words before")
    service = await serve()
    await service.page("a.misbehaving", 0)
    write("a.misbehaving", "words after!")
    assert (await service.page("a.misbehaving", 1)).elements[0].content == {"text": "after!"}


@pytest.mark.parametrize("link", [False, True])
async def test_no_further_page_is_read_of_a_file_that_is_gone(
    serve: Serve, write: Write, tmp_path: Path, link: bool
) -> None:
    path = write("a.misbehaving", "")
    service = await serve()
    await service.page("a.misbehaving", 0)
    path.rename(tmp_path / "elsewhere.misbehaving")
    if link:
        path.symlink_to(tmp_path / "elsewhere.misbehaving")
    with pytest.raises(DocumentNotFound):
        await service.page("a.misbehaving", 1)


async def test_a_file_that_never_rests_is_told(serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.misbehaving", "")
    service = await serve()
    await service.page("a.misbehaving", 0)
    times = itertools.count(1)

    def scan_and_write(*arguments: Any) -> dict[str, Source]:
        found = scan(*arguments)
        write("a.misbehaving", "words " + "x" * next(times))
        return found

    monkeypatch.setattr(upkeep, "scan", scan_and_write)
    await service.complete_refs()
    with pytest.raises(DocumentError, match="keeps changing"):
        await service.page("a.misbehaving", 1)


async def test_a_large_tree_is_looked_at_again_after_a_second(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHEAP_SCAN", -1)
    service = await serve()
    write("a.txt", "a")
    assert await service.documents() == []
    monkeypatch.setattr(upkeep, "STALE", -1)
    assert len(await service.documents()) == 1


# Searching


async def test_hits_give_the_uri_of_the_element_and_the_words_around(serve: Serve, write: Write) -> None:
    write("zoo.md", "# Zoo\n\nThe penguins are fed at noon.\n")
    write("收入.md", "# 报告\n\n营业收入增长了。\n")
    service = await serve()
    async with asyncio.timeout(60):
        while not service.progress.complete:
            await service.search("anything")
    [hit] = await service.search("PENGUINS")
    assert (hit.uri, hit.doc_ref, hit.page_index, hit.element_id, hit.category, hit.title, hit.snippet) == (
        f"dpe://{HOST}/zoo.md/elements/txt-001",
        "zoo.md",
        0,
        "txt-001",
        "text",
        "Zoo",
        "The penguins are fed at noon.",
    )
    assert (await service.read(hit.uri)).title == "The penguins are fed at noon."
    [other] = await service.search("收入", doc_ref=(await service.complete_refs("doc"))[0], limit=1)
    assert other.title == "报告"
    assert service.progress == Progress(2, 2)
    assert service.progress.complete


async def test_a_document_is_found_by_its_name(serve: Serve, write: Write) -> None:
    write("quarterly-figures.csv", "a,b\n1,2\n")
    [hit, *_] = await (await serve()).search("quarterly")
    assert (hit.uri, hit.page_index, hit.element_id, hit.category) == (
        f"dpe://{HOST}/quarterly-figures.csv",
        None,
        None,
        None,
    )


async def test_search_keeps_up_with_the_files(serve: Serve, write: Write) -> None:
    path = write("a.txt", "penguin")
    write("same.txt", "penguin")
    service = await serve()
    first = await service.search("penguin")
    write("a.txt", "walrus")
    second = await service.search("penguin"), await service.search("walrus")
    path.unlink()
    third = await service.search("walrus")
    told = [[hit.doc_ref for hit in hits if hit.element_id] for hits in (first, *second, third)]
    assert told == [["a.txt", "same.txt"], ["same.txt"], ["a.txt"], []]


async def test_the_rows_of_a_long_table_are_found(serve: Serve, write: Write) -> None:
    write("long.csv", "n,word\n" + "".join(f"{n},w{n}\n" for n in range(900)))
    service = await serve()
    [hit] = await service.search("w777")
    assert hit.element_id == "tbl-001-r601"


async def test_pages_that_cannot_be_read_do_not_stop_the_index(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "page1 break\nwords penguins")
    service = await serve()
    assert [hit.page_index for hit in await service.search("penguins")] == [0, 2]


# Passwords


async def test_a_password_opens_a_locked_document_and_leaves_no_trace(
    make: Make, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    write("vault.misbehaving", "open locked\ntitle Treasure\nwords penguins")
    asked: list[str] = []

    def passwords(doc_ref: str) -> str | None:
        asked.append(doc_ref)
        return "open sesame"

    async with make(passwords=passwords) as service:
        assert (await service.document("vault.misbehaving")).title == "Treasure"
        assert (await service.page("vault.misbehaving", 0)).elements[0].content == {"text": "penguins"}
        assert await service.search("penguins") == []
        assert service.progress.complete
    assert asked == ["vault.misbehaving"]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())
    assert b"sesame" not in kept
    assert b"penguins" not in kept
    assert "sesame" not in caplog.text


@pytest.mark.parametrize("answer", ["wrong", None, ""])
async def test_without_the_right_password_a_document_says_so(serve: Serve, write: Write, answer: str | None) -> None:
    write("vault.misbehaving", "open locked")
    service = await serve(passwords=lambda _: answer)
    document = await service.document("vault.misbehaving")
    assert (document.page_count, document.summary) == (0, "Cannot be read: it is encrypted: a password opens it")
    with pytest.raises(PageOutOfRange, match="a password opens it"):
        await service.page("vault.misbehaving", 0)


async def test_a_password_that_comes_later_is_asked_for_again(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "RETRY", -1)
    write("vault.misbehaving", "open locked")
    answers = iter([None, "open sesame"])
    service = await serve(passwords=lambda _: next(answers, None))
    await service.documents()
    assert (await service.page("vault.misbehaving", 0)).title == "Page 0"


async def test_a_failing_callback_is_no_password(serve: Serve, write: Write, caplog: pytest.LogCaptureFixture) -> None:
    def passwords(_: str) -> str | None:
        raise RuntimeError("the secret is sesame")

    write("vault.misbehaving", "open locked")
    service = await serve(passwords=passwords)
    assert (await service.document("vault.misbehaving")).page_count == 0
    assert "sesame" not in caplog.text
