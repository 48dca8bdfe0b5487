"""Parsers that loop, eat, crash and hold on: each costs its own document and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from a2c_smcp.documents import catalogue_keeper, extraction
from a2c_smcp.documents.model import PageEntry
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.errors import DocumentError, PageOutOfRange

Serve = Callable[..., Awaitable[DocumentService]]
Make = Callable[..., DocumentService]
Write = Callable[[str, str | bytes], Path]

DEADLINE = 3.0
ENDED = [
    ("loop", "it took longer than 3 seconds"),
    ("hold", "it took longer than 3 seconds"),
    ("crash", "the parser crashed (SIGSEGV)"),
    ("exit", "the parser crashed"),
]
GIVEN_UP = [
    ("eat", "it needs more memory than a document is given"),
    ("nest", "it is nested too deep"),
    ("fail", "the parser failed (KeyError)"),
]


async def test_a_file_that_ends_its_parser_is_listed_with_the_reason_and_the_others_go_on(
    serve: Serve, write: Write
) -> None:
    for deed, _ in (*ENDED, *GIVEN_UP):
        write(f"{deed}.misbehaving", f"describe {deed}")
    write("good.txt", "Good words.")
    service = await serve(deadline=DEADLINE, memory=1 << 30, workers=2)
    told = {document.doc_ref: (document.page_count, document.summary) for document in await service.documents()}
    assert told == {f"{deed}.misbehaving": (0, f"Cannot be read: {why}") for deed, why in (*ENDED, *GIVEN_UP)} | {
        "good.txt": (1, "Good words.")
    }
    with pytest.raises(PageOutOfRange, match="Cannot be read: it took longer"):
        await service.page("loop.misbehaving", 0)
    assert (await service.page("good.txt", 0)).elements[0].content == {"text": "Good words."}


@pytest.mark.parametrize(("deed", "why"), [ENDED[0], ENDED[2], GIVEN_UP[0], GIVEN_UP[2]])
async def test_a_page_that_ends_its_parser_leaves_the_other_pages(
    serve: Serve, write: Write, deed: str, why: str
) -> None:
    write("a.misbehaving", f"page1 {deed}")
    service = await serve(deadline=DEADLINE, memory=1 << 30)
    with pytest.raises(DocumentError) as caught:
        await service.page("a.misbehaving", 1)
    assert caught.value.message == f"Page 1 of 'a.misbehaving' cannot be read: {why}"
    assert (await service.page("a.misbehaving", 2)).title == "Page 2"


async def test_the_page_index_shows_the_pages_that_can_be_read(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "page1 crash")
    service = await serve(deadline=30)
    assert await service.entries("a.misbehaving", 0, 9) == [
        PageEntry(0, "Page 0", 1),
        PageEntry(1, "Cannot be read: the parser crashed (SIGSEGV)", 0),
        PageEntry(2, "Page 2", 1),
    ]


async def test_a_page_that_has_ended_two_parsers_is_left_alone_until_the_file_changes(
    make: Make, serve: Serve, write: Write
) -> None:
    write("a.misbehaving", "page1 exit")
    async with make(deadline=30) as service:
        for _ in range(2):
            with pytest.raises(DocumentError, match="the parser crashed"):
                await service.page("a.misbehaving", 1)
    service = await serve(deadline=30)  # another day, another service
    with pytest.raises(DocumentError, match="it has ended its parser 2 times and is left alone"):
        await service.page("a.misbehaving", 1)
    assert (await service.page("a.misbehaving", 0)).title == "Page 0"
    write("a.misbehaving", "page2 exit")
    assert (await service.page("a.misbehaving", 1)).title == "Page 1"


async def test_of_a_file_with_many_bad_pages_others_are_read_only_where_they_are_asked_for(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "FILE_STRIKES", 2)
    write("a.misbehaving", "page0 exit\npage1 exit")
    service = await serve(deadline=30, index=False)
    for index in (0, 1, 0):
        with pytest.raises(DocumentError, match="the parser crashed"):
            await service.page("a.misbehaving", index)
    assert await service.entries("a.misbehaving", 0, 9) == [PageEntry(index, f"Page {index + 1}") for index in range(3)]
    assert (await service.page("a.misbehaving", 2)).title == "Page 2"


async def test_one_page_never_uses_up_what_a_file_is_given(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "FILE_STRIKES", 2)
    write("a.misbehaving", "page1 exit\nfind exit")
    service = await serve(deadline=30)
    for _ in range(3):
        with pytest.raises(DocumentError, match="cannot be read"):
            await service.page("a.misbehaving", 1)
        assert len(await service.entries("a.misbehaving", 0, 9)) == 3
    assert [entry.element_count for entry in await service.entries("a.misbehaving", 0, 9)] == [1, 0, 1]


@pytest.mark.parametrize("deed", ["loop", "crash", "eat", "exit", "kill"])
async def test_a_document_whose_first_page_ends_its_parser_is_described_by_its_metadata(
    serve: Serve, write: Write, deed: str
) -> None:
    write("a.misbehaving", f"describe {deed}\npage0 {deed}\nmetadata told")
    service = await serve(deadline=DEADLINE)
    document = await service.document("a.misbehaving")
    assert (document.title, document.page_count) == ("told", 3)
    assert [one.title for one in await service.documents()] == ["told"]
    assert (await service.page("a.misbehaving", 1)).title == "Page 1"


async def test_a_file_that_cannot_be_described_is_tried_a_second_time_and_then_no_more(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_keeper, "RETRY", -1)
    write("a.misbehaving", "describe exit")
    service = await serve(deadline=30)
    told = [(await service.document("a.misbehaving")).summary for _ in range(3)]
    assert told[0] == "Cannot be read: the parser crashed"
    assert told[-1] == "Cannot be read: it has ended its parser 2 times and is left alone until the file changes"


async def test_a_document_that_was_not_read_in_time_is_told_as_such_and_corrected_later(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2c_smcp.documents.service.CATALOGUE_PATIENCE", 0.01)
    write("a.misbehaving", "describe loop")
    service = await serve(deadline=DEADLINE)
    [document] = await service.documents()
    assert document.summary == "Not read yet: ask again in a moment"
    monkeypatch.setattr("a2c_smcp.documents.service.CATALOGUE_PATIENCE", 30)
    [document] = await service.documents()
    assert document.summary == "Cannot be read: it took longer than 3 seconds"


async def test_a_list_of_many_parts_waits_once_for_documents_that_are_late(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2c_smcp.documents.service.CATALOGUE_PATIENCE", 1)
    for number in range(30):
        write(f"{number:02}.misbehaving", "describe loop")
    service = await serve(deadline=60)
    async with asyncio.timeout(15):  # half of what a second for each would take
        listed = [document for number in range(30) for document in await service.documents(number, 1)]
    assert {document.summary for document in listed} == {"Not read yet: ask again in a moment"}
