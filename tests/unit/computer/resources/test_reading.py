"""Reading for an Agent: which server a URI goes to, and what comes back."""

import asyncio
import json
from typing import Any

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import (
    DocumentNotFound,
    ElementNotFound,
    InvalidDPEUri,
    NotFound,
    PageOutOfRange,
    RequestTimeout,
    SMCPError,
    ToolFailed,
)
from tests.unit.computer.resource_servers import HANG, FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now

HOST = "dpe://com.example.docs"


def text(uri: str, value: str, mime_type: str = "text/plain") -> dict[str, Any]:
    return {"uri": uri, "mimeType": mime_type, "text": value}


def docs(name: str, *doc_refs: str, **options: Any) -> FakeServer:
    """A server of documents on the one host, whose catalogue is not in its list."""
    resources: dict[str, Any] = {f"{HOST}/{doc_ref}": f"{doc_ref} of {name}" for doc_ref in doc_refs}
    listed = list(resources)
    resources[HOST] = {"documents": [{"doc_ref": doc_ref} for doc_ref in doc_refs], "total_count": len(doc_refs)}
    return FakeServer(name, resources, listed=listed, **options)


def reads(*servers: FakeServer) -> dict[str, list[str]]:
    return {server.name: found for server in servers if (found := server.asked("read"))}


# Documents


@pytest.mark.rule("7.6")
@pytest.mark.parametrize(
    "uri",
    [
        HOST,
        f"{HOST}/rpt-2026",
        f"{HOST}/rpt-2026?depth=pages&offset=0&limit=10",
        f"{HOST}/rpt-2026/pages/0?categories=table,pivot_table&format=markdown",
        f"{HOST}/rpt-2026/elements/tbl-001?format=json",
    ],
)
@in_virtual_time
async def test_every_level_and_query_goes_to_the_server_of_the_host_as_it_is(uri: str) -> None:
    server = FakeServer("docs", {uri: "the content"}, listed=[f"{HOST}/rpt-2026"])
    async with Office(FakeServer("other", {"dpe://elsewhere/rpt-2026": "…"}), server) as office:
        assert await office.reader.read(uri) == {"contents": [text(uri, "the content")]}


@pytest.mark.rule("7.6", "3.3.4204")
@pytest.mark.parametrize("uri", ["dpe://", f"{HOST}/a/chapters/1", f"{HOST}/a?format=xml", "DPE:///a"])
@in_virtual_time
async def test_an_invalid_document_uri_is_refused_before_any_mcp_call(uri: str) -> None:
    async with Office(docs("docs", "a")) as office:
        await office.settle()
        office.forget_calls()
        with pytest.raises(InvalidDPEUri):
            await office.reader.read(uri)
        assert office.calls() == {}


@pytest.mark.rule("7.6")
@in_virtual_time
async def test_no_server_for_the_host_is_document_not_found() -> None:
    async with Office(docs("docs", "a"), FakeServer("down", state=ServerState.FAILED)) as office:
        with pytest.raises(DocumentNotFound) as caught:
            await office.reader.read("dpe://nowhere/a")
        assert (caught.value.code, caught.value.details) == (4201, {"host": "nowhere", "unavailable": ["down"]})


@in_virtual_time
async def test_a_server_whose_list_cannot_be_read_is_named_when_nobody_has_the_host() -> None:
    broken = docs("broken", "a")
    broken.broken["list"] = ToolFailed("no list")
    async with Office(broken) as office:
        with pytest.raises(DocumentNotFound) as caught:
            await office.reader.read(f"{HOST}/a")
        assert caught.value.details == {"host": "com.example.docs", "unavailable": ["broken"]}


@pytest.mark.rule("3.3")
@pytest.mark.parametrize(
    "error",
    [
        DocumentNotFound("No such document", details={"doc_ref": "nonexistent"}),
        PageOutOfRange("Only 12 pages", details={"page_index": 99, "page_count": 12}),
        ElementNotFound("No such element", details={"element_id": "tbl-9"}),
        SMCPError("Something of its own", code=-32050, details={"why": "because"}),
    ],
)
@in_virtual_time
async def test_an_error_of_the_mcp_server_arrives_as_it_was(error: SMCPError) -> None:
    server = docs("docs", "a")
    server.resources[f"{HOST}/a/pages/99"] = error
    async with Office(server) as office:
        with pytest.raises(SMCPError) as caught:
            await office.reader.read(f"{HOST}/a/pages/99")
        assert caught.value is error


@pytest.mark.rule("7.6")
@pytest.mark.parametrize("part", ["", "/pages/0", "/elements/x", "?depth=pages"])
@in_virtual_time
async def test_of_two_servers_with_one_host_the_owner_of_the_document_answers(part: str) -> None:
    first, second = docs("first", "a"), docs("second", "b")
    second.resources[f"{HOST}/b{part}"] = "B"
    async with Office(first, second) as office:
        assert await office.reader.read(f"{HOST}/b{part}") == {"contents": [text(f"{HOST}/b{part}", "B")]}
        assert reads(first) == {}


@in_virtual_time
async def test_a_document_that_nobody_lists_is_asked_for_at_each_server_of_the_host() -> None:
    first, second = docs("first", "a"), docs("second", "b")
    first.resources[f"{HOST}/c"] = DocumentNotFound("not here", details={"doc_ref": "c"})
    second.resources[f"{HOST}/c"] = "C"
    async with Office(first, second) as office:
        assert await office.reader.read(f"{HOST}/c") == {"contents": [text(f"{HOST}/c", "C")]}


@in_virtual_time
async def test_a_document_that_no_server_of_the_host_has_is_the_first_answer() -> None:
    first, second = docs("first", "a"), docs("second", "b")
    first.resources[f"{HOST}/c"] = error = DocumentNotFound("not here", details={"doc_ref": "c"})
    second.resources[f"{HOST}/c"] = DocumentNotFound("nor here")
    async with Office(first, second) as office:
        with pytest.raises(DocumentNotFound) as caught:
            await office.reader.read(f"{HOST}/c")
        assert caught.value is error


@in_virtual_time
async def test_another_error_of_the_owner_is_not_covered_up_by_another_server() -> None:
    first, second = docs("first", "a"), docs("second", "a")
    first.resources[f"{HOST}/a/pages/9"] = PageOutOfRange(details={"page_index": 9})
    second.resources[f"{HOST}/a/pages/9"] = "another document of that name"
    async with Office(first, second) as office:
        with pytest.raises(PageOutOfRange):
            await office.reader.read(f"{HOST}/a/pages/9")


@in_virtual_time
async def test_a_known_owner_is_asked_without_waiting_for_the_lists_of_others() -> None:
    hanging = docs("hanging", "x")
    hanging.broken["list"] = HANG
    async with Office(hanging, docs("docs", "a")) as office:
        await office.settle()
        began = now()
        await office.reader.read(f"{HOST}/a")
        assert now() == began


@in_virtual_time
async def test_a_server_that_hangs_delays_the_search_for_a_host_only_once() -> None:
    hanging = docs("hanging", "x")
    hanging.broken["list"] = HANG
    async with Office(hanging, docs("docs", "a")) as office:
        with pytest.raises(DocumentNotFound):
            await office.reader.read("dpe://nowhere/a")
        began = now()
        with pytest.raises(DocumentNotFound):
            await office.reader.read("dpe://nowhere/a")
        assert now() == began


@in_virtual_time
async def test_a_server_that_lists_no_documents_is_found_by_its_templates() -> None:
    server = FakeServer("docs", {f"{HOST}/a/pages/0": "page"}, listed=[], templates=[f"{HOST}/{{doc_ref}}/pages/{{n}}"])
    async with Office(FakeServer("tools", capabilities={}, subscribes=False), server) as office:
        assert await office.reader.read(f"{HOST}/a/pages/0") == {"contents": [text(f"{HOST}/a/pages/0", "page")]}


@in_virtual_time
async def test_a_server_that_takes_no_part_in_the_finder_can_still_be_read() -> None:
    async with Office(docs("docs", "a", subscribes=False)) as office:
        assert await office.reader.read(f"{HOST}/a") == {"contents": [text(f"{HOST}/a", "a of docs")]}


@in_virtual_time
async def test_a_host_that_came_without_a_word_is_found_where_the_server_does_not_promise_to_tell() -> None:
    server = docs("docs", "a", capabilities={"resources": {"subscribe": True}})
    async with Office(server) as office:
        await office.settle()
        server.resources["dpe://new/x"] = "X"
        server.listed = [f"{HOST}/a", "dpe://new/x"]
        await asyncio.sleep(10)
        assert await office.reader.read("dpe://new/x") == {"contents": [text("dpe://new/x", "X")]}


# Level 0 of a shared host


@pytest.mark.rule("7.6")
@in_virtual_time
async def test_level_0_of_a_shared_host_is_merged() -> None:
    async with Office(docs("first", "a"), docs("second", "b", "c")) as office:
        [content] = (await office.reader.read(HOST))["contents"]
        assert (content["uri"], content["mimeType"]) == (HOST, "application/json")
        assert json.loads(content["text"]) == {
            "documents": [{"doc_ref": "a"}, {"doc_ref": "b"}, {"doc_ref": "c"}],
            "total_count": 3,
        }


@pytest.mark.parametrize("broken", [HANG, ToolFailed("died"), SMCPError("no", code=-32002)])
@in_virtual_time
async def test_a_server_that_fails_does_not_hide_the_catalogues_of_the_others(broken: Any) -> None:
    first, second = docs("first", "a"), docs("second", "b")
    first.resources[HOST] = broken
    async with Office(first, second) as office:
        [content] = (await office.reader.read(HOST))["contents"]
        assert json.loads(content["text"]) == {
            "documents": [{"doc_ref": "b"}],
            "total_count": 1,
            "unavailable": ["first"],
        }


@in_virtual_time
async def test_level_0_that_no_server_gives_is_an_error() -> None:
    first, second = docs("first", "a"), docs("second", "b")
    first.resources[HOST] = HANG
    second.resources[HOST] = error = SMCPError("no", code=-32002)
    async with Office(first, second) as office:
        with pytest.raises(SMCPError) as caught:
            await office.reader.read(HOST)
        assert caught.value is error


@in_virtual_time
async def test_level_0_that_no_server_answers_is_a_time_out() -> None:
    first, second = docs("first", "a"), docs("second", "b")
    first.resources[HOST] = second.resources[HOST] = HANG
    async with Office(first, second) as office:
        with pytest.raises(RequestTimeout):
            await office.reader.read(HOST)


# What an MCP client can do besides


@pytest.mark.rule("2.2.more")
@in_virtual_time
async def test_resources_are_listed_a_page_at_a_time() -> None:
    server = FakeServer("files", {"file:///a": "A", "file:///b": "B"}, page_size=1)
    async with Office(server) as office:
        first = await office.reader.get_resources("files")
        assert first == {"resources": [{"uri": "file:///a", "name": "a"}], "next_cursor": "1"}
        assert await office.reader.get_resources("files", first["next_cursor"]) == {
            "resources": [{"uri": "file:///b", "name": "b"}]
        }


@pytest.mark.rule("2.2.more")
@in_virtual_time
async def test_templates_are_listed() -> None:
    async with Office(FakeServer("files", templates=["file:///{path}"])) as office:
        assert await office.reader.get_resource_templates("files") == {
            "resource_templates": [{"uriTemplate": "file:///{path}", "name": "file:///{path}"}]
        }


@pytest.mark.rule("2.2.more")
@in_virtual_time
async def test_completion_is_passed_through_with_its_context() -> None:
    server = FakeServer("docs")
    ref = {"type": "ref/resource", "uri": f"{HOST}/{{doc_ref}}/pages/{{page_index}}"}
    argument, context = {"name": "page_index", "value": ""}, {"arguments": {"doc_ref": "rpt-2026"}}
    async with Office(server) as office:
        assert await office.reader.complete("docs", ref, argument, context) == {
            "completion": {"values": ["rpt-2026"], "total": 1, "hasMore": False}
        }
        assert server.asked("complete") == [f"complete {ref} {argument} {context}"]


@in_virtual_time
async def test_an_unknown_server_name_is_not_found_and_names_those_that_are_there() -> None:
    async with Office(FakeServer("files"), FakeServer("docs")) as office:
        for asking in (
            office.reader.get_resources("fils"),
            office.reader.get_resource_templates("fils"),
            office.reader.complete("fils", {}, {}),
        ):
            with pytest.raises(NotFound) as caught:
                await asking
            assert caught.value.details == {"mcp_server": "fils", "mcp_servers": ["files", "docs"]}


@in_virtual_time
async def test_a_server_that_is_not_running_says_so() -> None:
    async with Office(FakeServer("files", state=ServerState.FAILED)) as office:
        with pytest.raises(ToolFailed):
            await office.reader.get_resources("files")


@in_virtual_time
async def test_a_list_that_takes_too_long_is_a_time_out() -> None:
    server = FakeServer("files")
    server.broken["list"] = HANG
    async with Office(server) as office:
        with pytest.raises(RequestTimeout):
            await office.reader.get_resources("files")
