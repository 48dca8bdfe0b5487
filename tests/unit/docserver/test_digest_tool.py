"""`digest_document`, over a shelf that makes digests of everything."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp.types as t
import pytest
from mcp import Client

from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.document_server import document_server
from a2c_smcp.docserver.memory_documents import MemoryDocuments
from a2c_smcp.docserver.ports import ProgressCallback
from a2c_smcp.errors import DocumentError

ERAS = ("legacy", "auto")


@dataclass(frozen=True, slots=True)
class Digest:
    uri: str = "dpe://h/a.digest.md"
    doc_ref: str = "a.digest.md"
    title: str = "A, in short"
    by: str = "model"
    source_pages: int = 2
    unread: Sequence[int] = (2,)
    sections: Sequence[dict[str, Any]] = field(
        default_factory=lambda: [
            {"title": "One", "pages": [1, 1], "by": "model", "calls": 1, "dropped_citations": 0},
            {"title": "Two", "pages": [2, 2], "by": "extract", "error": "the model failed"},
        ]
    )


class Digests(MemoryDocuments):
    """Tells two steps; what is called `slow` waits for ever."""

    def __init__(self) -> None:
        super().__init__("h")
        self.asked: list[Any] = []
        self.working = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def digest(
        self, doc_ref: str, *, section_ranges: Sequence[Sequence[int]] | None, dpi: int, tell: ProgressCallback
    ) -> Digest:
        self.asked.append((doc_ref, section_ranges, dpi))
        if doc_ref == "bad":
            raise DocumentError("There can be no digest of 'bad'", details={"doc_ref": "bad"})
        await tell(1, 2, "pages: 1 of 2")
        self.working.set()
        if doc_ref == "slow":
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        await tell(2, 2, "pages: 2 of 2")
        return Digest()


@pytest.mark.parametrize("era", ERAS)
async def test_a_digest_is_made_and_its_place_told(era: str) -> None:
    shelf, told = Digests(), []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with Client(document_server(shelf, DocumentChangeNotifier()), mode=era) as client:
        result = await client.call_tool(
            "digest_document", {"doc_ref": "a", "section_ranges": [[1, 1], [2, 2]]}, progress_callback=heard
        )
    assert shelf.asked == [("a", [[1, 1], [2, 2]], 180)]
    assert told == [(1, 2, "pages: 1 of 2"), (2, 2, "pages: 2 of 2")]
    assert result.structured_content == {
        "uri": "dpe://h/a.digest.md",
        "doc_ref": "a.digest.md",
        "title": "A, in short",
        "by": "model",
        "source_pages": 2,
        "sections": [
            {"title": "One", "pages": [1, 1], "by": "model"},
            {"title": "Two", "pages": [2, 2], "by": "extract", "error": "the model failed"},
        ],
        "unread": [2],
    }


async def test_what_goes_wrong_is_a_result_that_says_so() -> None:
    async with Client(document_server(Digests(), DocumentChangeNotifier()), mode="legacy") as client:
        result = await client.call_tool("digest_document", {"doc_ref": "bad"})
    assert result.is_error
    assert result.content == [t.TextContent(text="There can be no digest of 'bad'")]


async def test_a_client_that_cancels_ends_the_run() -> None:
    shelf = Digests()
    async with (
        Client(document_server(shelf, DocumentChangeNotifier()), mode="legacy") as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.call_tool, "digest_document", {"doc_ref": "slow"})
        async with asyncio.timeout(60):
            await shelf.working.wait()
            group.cancel_scope.cancel()
    async with asyncio.timeout(60):
        await shelf.cancelled.wait()


async def test_it_is_told_that_it_writes_and_may_ask_a_model() -> None:
    async with Client(document_server(Digests(), DocumentChangeNotifier()), mode="legacy") as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.annotations == t.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
    )


async def test_documents_of_which_no_digests_can_be_made_do_not_offer_it() -> None:
    async with Client(document_server(MemoryDocuments("h"), DocumentChangeNotifier()), mode="legacy") as client:
        assert (await client.list_tools()).tools == []
