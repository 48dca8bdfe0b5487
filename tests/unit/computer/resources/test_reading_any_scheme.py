"""Reading for an Agent: which server a URI that is no document goes to."""

from typing import Any

import pytest

from a2c_smcp.errors import (
    BadRequest,
    NotFound,
    RequestTimeout,
    SMCPError,
    ToolFailed,
)
from tests.unit.computer.resource_servers import HANG, FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time


def text(uri: str, value: str, mime_type: str = "text/plain") -> dict[str, Any]:
    return {"uri": uri, "mimeType": mime_type, "text": value}


def reads(*servers: FakeServer) -> dict[str, list[str]]:
    return {server.name: found for server in servers if (found := server.asked("read"))}


@pytest.mark.rule("2.2.read")
@pytest.mark.parametrize("uri", ["window://com.example.editor", "file:///notes.txt", "memo:today", "no scheme"])
@in_virtual_time
async def test_a_listed_uri_of_any_scheme_goes_to_the_server_that_lists_it(uri: str) -> None:
    async with Office(FakeServer("other", {"file:///other.txt": "…"}), FakeServer("one", {uri: "text"})) as office:
        assert await office.reader.read(uri) == {"contents": [text(uri, "text")]}


@in_virtual_time
async def test_binary_contents_pass_unchanged() -> None:
    contents = [{"uri": "file:///a.png", "mimeType": "image/png", "blob": "iVBORw0KGgo="}]
    async with Office(FakeServer("files", {"file:///a.png": contents})) as office:
        assert await office.reader.read("file:///a.png") == {"contents": contents}


@pytest.mark.rule("10.6.servers")
@pytest.mark.parametrize("uri", ["file:///a.txt", "window://a/b"])
@in_virtual_time
async def test_a_uri_that_two_servers_list_is_refused_with_both_names_unless_one_is_named(uri: str) -> None:
    first = FakeServer("first", {uri: ToolFailed("died under the request")})
    async with Office(first, FakeServer("second", {uri: "from the second"})) as office:
        with pytest.raises(BadRequest, match=r"name one of them in mcp_server \(first, second\)") as refused:
            await office.reader.read(uri)
        assert refused.value.details == {"uri": uri, "mcp_servers": ["first", "second"]}
        assert await office.reader.read(uri, "second") == {"contents": [text(uri, "from the second")]}
        with pytest.raises(ToolFailed):
            await office.reader.read(uri, "first")
        with pytest.raises(NotFound, match="no MCP server 'third'"):
            await office.reader.read(uri, "third")


@pytest.mark.rule("10.6.servers")
@in_virtual_time
async def test_a_uri_that_two_servers_give_by_like_templates_is_refused_with_both_names() -> None:
    servers = [FakeServer(name, {"memo://x": name}, listed=[], templates=["memo://{n}"]) for name in ("one", "two")]
    async with Office(*servers) as office:
        with pytest.raises(BadRequest, match=r"\(one, two\)"):
            await office.reader.read("memo://x")
        del servers[0].resources["memo://x"]
        assert await office.reader.read("memo://x") == {"contents": [text("memo://x", "two")]}


@pytest.mark.rule("10.6.servers")
@in_virtual_time
async def test_hosts_that_two_servers_claim_are_in_the_status_with_what_both_list() -> None:
    one = FakeServer("one", {"dpe://docs/a": "…", "dpe://docs/b": "…", "window://board/x": "…"})
    two = FakeServer("two", {"dpe://docs/b": "…", "window://board/y": "…", "dpe://own/c": "…"})
    async with Office(one, two) as office:
        await office.settle()
        assert office.index.claimed_twice() == [
            {"host": "dpe://docs", "servers": ["one", "two"], "same": ["dpe://docs/b"]},
            {"host": "window://board", "servers": ["one", "two"], "same": []},
        ]


@pytest.mark.rule("10.6.meta")
@in_virtual_time
async def test_the_meta_of_a_request_and_of_the_answer_are_passed_on() -> None:
    server = FakeServer("files", {"file:///a": "A"})
    server.answer_meta = {"meta": {"etag": "1"}}
    async with Office(server) as office:
        found = await office.reader.read("file:///a", meta={"traceparent": "00-1"})
    assert (found["meta"], server.metas) == ({"etag": "1"}, [{"traceparent": "00-1"}])


@in_virtual_time
async def test_a_uri_that_was_listed_just_now_is_found() -> None:
    server = FakeServer("files", {"file:///a.txt": "A"})
    async with Office(server, FakeServer("more", {"file:///c.txt": "C"})) as office:
        await office.settle()
        server.resources["file:///b.txt"] = "B"
        office.index.resources_changed("files")
        assert await office.reader.read("file:///b.txt") == {"contents": [text("file:///b.txt", "B")]}


@in_virtual_time
async def test_an_unlisted_uri_goes_to_the_most_special_template() -> None:
    everything = FakeServer("everything", {"repo://x/y": "…"}, listed=[], templates=["repo://{+path}"])
    owner = FakeServer("owner", {"repo://x/y": "from the owner"}, listed=[], templates=["repo://x/{path}"])
    async with Office(everything, owner) as office:
        assert await office.reader.read("repo://x/y") == {"contents": [text("repo://x/y", "from the owner")]}


@in_virtual_time
async def test_of_servers_with_equal_templates_the_first_that_has_it_answers() -> None:
    first = FakeServer("first", templates=["file:///{path}"])
    second = FakeServer("second", {"file:///b": "B"}, listed=[], templates=["file:///{path}"])
    async with Office(first, second) as office:
        assert await office.reader.read("file:///b") == {"contents": [text("file:///b", "B")]}


@in_virtual_time
async def test_a_uri_in_no_list_goes_to_the_only_server_of_its_place() -> None:
    one = FakeServer("one", {"https://one.example/": "…", "https://one.example/new": "new"})
    one.listed = ["https://one.example/"]
    async with Office(one, FakeServer("two", {"https://two.example/": "…"})) as office:
        uri = "https://one.example/new"
        assert await office.reader.read(uri) == {"contents": [text(uri, "new")]}


@in_virtual_time
async def test_a_uri_in_no_list_goes_to_the_only_server_of_its_scheme() -> None:
    server = FakeServer("memos", {"memo:yesterday": "…", "memo:today": "now"}, listed=["memo:yesterday"])
    async with Office(server, FakeServer("files", {"file:///a": "…"})) as office:
        assert await office.reader.read("memo:today") == {"contents": [text("memo:today", "now")]}


@in_virtual_time
async def test_a_uri_that_several_servers_could_serve_is_not_found_and_names_them() -> None:
    files = [FakeServer(name, {f"file:///{name}.txt": "…"}) for name in ("first", "second")]
    async with Office(*files, FakeServer("other", {"memo:x": "…"})) as office:
        with pytest.raises(NotFound) as caught:
            await office.reader.read("file:///third.txt")
        expected = {"uri": "file:///third.txt", "scheme": "file", "mcp_servers": ["first", "second"]}
        assert caught.value.details == expected
        assert reads(*files) == {}


@pytest.mark.parametrize(("uri", "scheme"), [("ftp://host/a", "ftp"), ("nothing", "")])
@in_virtual_time
async def test_a_uri_that_nobody_serves_is_not_found(uri: str, scheme: str) -> None:
    async with Office(FakeServer("files", {"file:///a": "…"})) as office:
        with pytest.raises(NotFound) as caught:
            await office.reader.read(uri)
        assert caught.value.details == {"uri": uri, "scheme": scheme, "mcp_servers": []}


@in_virtual_time
async def test_templates_that_cannot_be_read_hide_nothing() -> None:
    broken = FakeServer("broken", templates=["file:///{path}"])
    broken.broken["templates"] = SMCPError("Method not found", code=-32601)
    good = FakeServer("good", {"file:///a": "A"}, listed=[], templates=["file:///{path}", "file:///{other}"])
    async with Office(broken, good) as office:
        assert await office.reader.read("file:///a") == {"contents": [text("file:///a", "A")]}


@in_virtual_time
async def test_a_server_that_does_not_answer_is_a_time_out_that_names_it() -> None:
    async with Office(FakeServer("files", {"file:///a": HANG})) as office:
        with pytest.raises(RequestTimeout) as caught:
            await office.reader.read("file:///a")
        assert caught.value.details == {"mcp_server": "files"}


@in_virtual_time
async def test_a_resource_is_read_anew_each_time() -> None:
    server = FakeServer("editor", {"window://com.example.editor": "text"})
    async with Office(server) as office:
        await office.collector.desktop()
        await office.reader.read("window://com.example.editor")
        assert len(server.asked("read")) == 2


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        ("window://board/主/窗?priority=3", "window://board/%E4%B8%BB/%E7%AA%97?priority=3"),
        ("file:///a b.txt", "file:///a%20b.txt"),
        ("file:///ü/100%25", "file:///%C3%BC/100%25"),
    ],
)
@in_virtual_time
async def test_a_client_may_percent_encode_what_a_server_lists_as_it_is(listed: str, asked: str) -> None:
    async with Office(FakeServer("other", {"file:///b": "B"}), FakeServer("one", {listed: "text"})) as office:
        assert await office.reader.read(asked) == {"contents": [text(listed, "text")]}
