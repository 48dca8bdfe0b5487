"""The tools of a document server, over a shelf that can be searched and looked at."""

import base64
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import mcp.types as t
import pytest
import pytest_asyncio
from mcp import Client, MCPError

from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.document_server import document_server
from a2c_smcp.docserver.memory_documents import MemoryDocuments
from a2c_smcp.errors import DocumentNotFound, PageOutOfRange


@dataclass(frozen=True, slots=True)
class Hit:
    uri: str
    doc_ref: str
    page_index: int
    element_id: str
    category: str
    title: str
    snippet: str
    score: float


HIT = Hit("dpe://h/a/elements/txt-001", "a", 0, "txt-001", "text", "A", "some 词 here", 1.5)


class Library(MemoryDocuments):
    """Finds one place for everything but silence, and has one page with a look."""

    def __init__(self) -> None:
        super().__init__("h")
        self.asked: list[Any] = []

    async def search(self, query: str, *, limit: int = 20, doc_ref: str | None = None) -> Sequence[Hit]:
        self.asked.append((query, limit, doc_ref))
        return [] if query == "silence" else [HIT]

    async def render_page(self, doc_ref: str, page_index: int, dpi: int = 110) -> bytes:
        if page_index > 0:
            raise PageOutOfRange("no such page in /home/someone/a.pdf", details={"page_count": 1})
        return f"PNG {doc_ref} {dpi}".encode()

    async def element_image(self, doc_ref: str, element_id: str) -> tuple[str, bytes]:
        if doc_ref != "a":
            raise DocumentNotFound("gone")
        return "image/jpeg", element_id.encode()


@pytest.fixture
def library() -> Library:
    return Library()


@pytest_asyncio.fixture
async def session(library: Library) -> AsyncIterator[Any]:
    server = document_server(library, DocumentChangeNotifier())

    async def call(name: str, **arguments: Any) -> t.CallToolResult:
        async with Client(server, mode="legacy") as client:
            return await client.call_tool(name, arguments)

    yield call


async def test_three_tools_are_listed_with_their_schemas(library: Library) -> None:
    async with Client(document_server(library, DocumentChangeNotifier()), mode="legacy") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["search_documents", "render_page", "get_element_image"]
    assert tools["search_documents"].input_schema["required"] == ["query"]
    assert tools["search_documents"].output_schema is not None
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())


async def test_documents_that_cannot_be_searched_offer_no_tools() -> None:
    async with Client(document_server(MemoryDocuments("h"), DocumentChangeNotifier()), mode="legacy") as client:
        assert (await client.list_tools()).tools == []


async def test_a_search_answers_in_both_forms(session: Any, library: Library) -> None:
    result = await session("search_documents", query="词", limit=5, doc_ref="a")
    hit = {
        "uri": "dpe://h/a/elements/txt-001",
        "doc_ref": "a",
        "page_index": 0,
        "element_id": "txt-001",
        "category": "text",
        "title": "A",
        "snippet": "some 词 here",
        "score": 1.5,
    }
    assert result.structured_content == {"query": "词", "hits": [hit]}
    assert json.loads(result.content[0].text) == result.structured_content
    assert library.asked == [("词", 5, "a")]


async def test_nothing_found_is_no_error(session: Any) -> None:
    result = await session("search_documents", query="silence")
    assert (result.is_error, result.structured_content) == (False, {"query": "silence", "hits": []})


async def test_a_page_is_an_image(session: Any) -> None:
    result = await session("render_page", doc_ref="a", page_index=0, dpi=72)
    assert result.content == [
        t.ImageContent(data=base64.b64encode(b"PNG a 72").decode(), mime_type="image/png"),
    ]


async def test_a_picture_has_its_own_type(session: Any) -> None:
    result = await session("get_element_image", doc_ref="a", element_id="img-001")
    assert result.content == [
        t.ImageContent(data=base64.b64encode(b"img-001").decode(), mime_type="image/jpeg"),
    ]


@pytest.mark.rule("3.4")
async def test_what_fails_is_a_result_that_says_why_without_a_path(session: Any) -> None:
    result = await session("render_page", doc_ref="a", page_index=3)
    assert result.is_error
    assert "/home" not in result.content[0].text
    assert (result.meta["error"]["code"], result.meta["error"]["details"]) == (4202, {"page_count": 1})


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "query must not be empty"),
        ({"query": "x", "limit": 101}, "limit must be at most 100"),
        ({"query": "x", "pages": 1}, "pages is not known here"),
    ],
)
async def test_wrong_arguments_are_named(session: Any, arguments: dict[str, Any], fault: str) -> None:
    result = await session("search_documents", **arguments)
    assert (result.is_error, result.content[0].text) == (True, fault)


async def test_an_unknown_tool_is_an_error_of_the_protocol(library: Library) -> None:
    async with Client(document_server(library, DocumentChangeNotifier()), mode="legacy") as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("delete_everything")
    assert caught.value.code == t.INVALID_PARAMS
