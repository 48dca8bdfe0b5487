"""OCR that fails for a reason that may pass: nothing of it is remembered, and the page is read again."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents import indexing
from a2c_smcp.documents.model import PENDING, Page
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.documents.service import DocumentService
from tests.documents.service.conftest import Make, Serve, Write
from tests.unit.documents.ocr.conftest import FakeService, Reply, service

__all__ = ["service"]

DATA = Path(__file__).parents[2] / "data" / "documents"
SCAN = (DATA / "pdf_scan_medrpt.pdf").read_bytes()
PICTURE = (DATA / "img_scan_laboratory.png").read_bytes()
TEXT = Reply(b"the penguins of the patient", "text/plain")
WAIT = 30.0


def policy(url: str, timeout: float = 20.0) -> OcrPolicy:
    return OcrPolicy((OcrSpec("remote", url=url, timeout=timeout, retries=0, allow_http="loopback"),))


def words(page: Page) -> str:
    return " ".join(str(element.content.get("text", "")) for element in page.elements)


def is_pending(page: Page) -> bool:
    return any(PENDING in element.metadata for element in page.elements)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let documents be tried again at once."""
    monkeypatch.setattr(indexing, "RETRY_FIRST", 0.05)


@pytest.fixture
def silent() -> Iterator[str]:
    """A service that takes requests and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/extract"


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}/extract"


@pytest.mark.parametrize("name", ["a.pdf", "a.png"])
@pytest.mark.parametrize("status", [401, 404, 408, 429, 500, 502, 503])
async def test_an_answer_that_may_be_another_is_not_remembered(
    make: Make, write: Write, service: FakeService, name: str, status: int
) -> None:
    write(name, SCAN if name == "a.pdf" else PICTURE)
    service.answer(Reply(status=status))
    async with make(ocr=policy(service.url), index=False) as first:
        page = await first.page(name, 0)
        assert is_pending(page)
        assert f"the service answered {status}" in page.elements[0].summary
    service.answer(TEXT)
    async with make(ocr=policy(service.url), index=False) as second:  # what it knows is on the disk
        page = await second.page(name, 0)
        assert not is_pending(page)
        assert "penguins" in words(page)
        asked = len(service.requests)
    async with make(ocr=policy(service.url), index=False) as third:
        assert "penguins" in words(await third.page(name, 0))
        assert len(service.requests) == asked


@pytest.mark.parametrize("where", ["silent", "nobody"])
async def test_a_service_that_is_silent_or_gone_is_asked_again(
    serve: Serve, write: Write, request: pytest.FixtureRequest, where: str
) -> None:
    write("a.pdf", SCAN)
    served = await serve(ocr=policy(request.getfixturevalue(where), timeout=0.3), index=False)
    assert is_pending(await served.page("a.pdf", 0))
    [element] = [element for element in (await served.page("a.pdf", 0)).elements if PENDING in element.metadata]
    _, found = await served.element("a.pdf", element.id)
    assert found.metadata[PENDING] is True


async def test_a_page_without_text_is_remembered_as_such(make: Make, write: Write, service: FakeService) -> None:
    write("a.pdf", SCAN)
    service.answer(Reply(b"", "text/plain"))
    for _ in range(2):
        async with make(ocr=policy(service.url), index=False) as served:
            assert not is_pending(await served.page("a.pdf", 0))
    assert len(service.requests) == 1


async def test_a_picture_that_the_service_refuses_is_not_sent_again(
    make: Make, write: Write, service: FakeService
) -> None:
    write("a.pdf", SCAN)
    service.answer(Reply(status=413))
    for _ in range(2):
        async with make(ocr=policy(service.url), index=False) as served:
            assert not is_pending(await served.page("a.pdf", 0))
    assert len(service.requests) == 1


@pytest.mark.usefixtures("quick")
async def test_the_search_index_is_incomplete_until_the_page_was_read(
    serve: Serve, write: Write, service: FakeService
) -> None:
    write("a.pdf", SCAN)
    write("b.md", "# Only words\n\nhere is a walrus\n")
    service.answer(Reply(status=503))
    served: DocumentService = await serve(ocr=policy(service.url))
    assert [hit.doc_ref for hit in await served.search("walrus")] == ["b.md"]
    assert await served.search("penguins") == []
    assert not served.progress.complete
    service.answer(TEXT)
    await until(lambda: served.progress.complete)
    hits = await served.search("penguins")
    assert [(hit.doc_ref, hit.page_index) for hit in hits] == [("a.pdf", page) for page in range(len(hits))]


async def test_a_later_service_completes_what_an_earlier_one_left(
    make: Make, write: Write, service: FakeService
) -> None:
    write("a.pdf", SCAN)
    service.answer(Reply(status=503))
    async with make(ocr=policy(service.url)) as first:
        await until(lambda: bool(service.requests))
        await first.search("anything")
        assert not first.progress.complete
    service.answer(TEXT)
    async with make(ocr=policy(service.url)) as second:
        await until(lambda: second.progress.complete)
        assert {hit.doc_ref for hit in await second.search("penguins")} == {"a.pdf"}


@pytest.mark.usefixtures("quick")
async def test_a_page_whose_worker_was_ended_leaves_the_index_incomplete(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "page1 kill\nwords walrus")
    served = await serve(deadline=30)
    found: set[int | None] = set()
    async with asyncio.timeout(WAIT):
        while found != {0, 2}:
            found = {hit.page_index for hit in await served.search("walrus")}
    assert not served.progress.complete


async def test_listing_documents_pages_and_completions_never_runs_ocr(
    serve: Serve, write: Write, service: FakeService
) -> None:
    write("a.pdf", SCAN)
    write("b.png", PICTURE)
    service.answer(TEXT)
    served = await serve(ocr=policy(service.url), index=False)
    assert len(await served.documents()) == 2
    for ref in ("a.pdf", "b.png"):
        assert await served.complete_pages(ref, "")
        read = await served.read(f"{served.uri}/{ref}?depth=pages&format=json")
        assert "element_count" not in read.text
        for reply in ("text", "markdown"):
            assert "None" not in (await served.read(f"{served.uri}/{ref}?depth=pages&format={reply}")).text
        assert [entry.element_count for entry in await served.entries(ref, 0, 1)] == [None]
    assert service.requests == []
    for ref in ("a.pdf", "b.png"):
        count = len((await served.page(ref, 0)).elements)
        assert [entry.element_count for entry in await served.entries(ref, 0, 1)] == [count]
