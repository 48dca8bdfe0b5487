"""What an Agent asks, and what it makes of the answers: the same for both clients."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.errors import (
    BadRequest,
    ConfirmationRequired,
    InternalError,
    InvalidDPEUri,
    NotFound,
    NotInOffice,
    OfficeFull,
    PageOutOfRange,
    RequestTimeout,
    ToolNotFound,
    Unauthorized,
)
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import Gate, Scripted
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running

Either = Callable[..., Any]
TOOL: dict[str, Any] = {"name": "echo", "description": "", "params_schema": {}, "return_schema": None, "meta": {}}
DOCUMENT = "dpe://h/a%2Fb"


def text(uri: str, body: str, kind: str) -> dict[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": kind, "text": body}]}


async def test_an_agent_takes_its_seat_and_sees_who_is_there(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    await computer(Scripted(get_tools={"tools": []}), ready.url, office)
    client = either(ready.url, office)
    await client.connect()
    assert (client.office_id, client.status.state, list(client.office.computers)) == (office, "joined", ["c"])
    members = await client.list_room()
    assert [(member["role"], member["name"]) for member in members] == [("agent", "a"), ("computer", "c")]


@pytest.mark.rule("1.3.agent")
async def test_a_refused_join_raises(ready: Running, office: str, either: Either, agent: Agents) -> None:
    await agent(ready.url, office).connect()
    second = either(ready.url, name="second")
    await second.connect()
    with pytest.raises(OfficeFull):
        await second.join(office)
    assert second.office_id is None


async def test_a_refused_join_leaves_no_connection_where_it_was_part_of_connecting(
    ready: Running, office: str, either: Either, agent: Agents
) -> None:
    await agent(ready.url, office).connect()
    second = either(ready.url, office, name="second")
    with pytest.raises(OfficeFull):
        await second.connect()
    assert second.status.state == "offline"


async def test_refused_credentials_raise(either: Either) -> None:
    async with Relay() as relay:
        relay.refusal = lambda auth, headers: (
            "No",
            {"code": 401, "message": f"{auth} {headers['x_api_key']}"},
        )
        with pytest.raises(Unauthorized) as refusal:
            await either(relay.url, token="t", api_key="k").connect()
    assert str(refusal.value) == "{'token': 't'} k"


async def test_a_server_that_is_not_there_raises(either: Either) -> None:
    client = either("http://127.0.0.1:1", "o")
    with pytest.raises(ConnectionError):
        await client.connect()
    with pytest.raises(ConnectionError, match="not connected"):
        await client.get_tools("c")


async def test_an_agent_changes_its_office(ready: Running, office: str, either: Either, computer: Computers) -> None:
    await computer(Scripted(get_tools={"tools": []}), ready.url, office)
    client = either(ready.url, office)
    await client.connect()
    await client.leave()
    assert (client.office_id, dict(client.office.computers)) == (None, {})
    with pytest.raises(NotInOffice):
        await client.list_room()
    await client.join(f"{office}!")
    assert client.office_id == f"{office}!"


CONFIG = {
    "servers": {
        "s": {
            "type": "stdio",
            "name": "s",
            "disabled": False,
            "forbidden_tools": [],
            "tool_meta": {},
            "server_parameters": {
                "command": "x",
                "args": [],
                "env": None,
                "cwd": None,
                "encoding": "utf-8",
                "encoding_error_handler": "strict",
            },
        }
    }
}
FOUND = {"documents": [], "total_count": 0}
ROWS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], Any]] = [
    ("get_tools", {}, {}, {"tools": [TOOL]}, [TOOL]),
    ("get_config", {}, {}, CONFIG, CONFIG),
    ("get_desktop", {}, {}, {"desktops": ["w"]}, ["w"]),
    (
        "get_desktop",
        {"size": 2, "window": "window://w"},
        {"desktop_size": 2, "window": "window://w"},
        {"desktops": []},
        [],
    ),
    ("get_finder", {}, {}, FOUND, FOUND),
    (
        "get_finder",
        {"keywords": ("年报",), "file_type": "pdf", "offset": 5, "limit": 100},
        {"keywords": ["年报"], "file_type": "pdf", "offset": 5, "limit": 100},
        FOUND | {"unavailable": ["s"]},
        FOUND | {"unavailable": ["s"]},
    ),
    ("get_finder", {"limit": 0}, {"limit": 0}, FOUND, FOUND),
    (
        "get_resources",
        {"mcp_server": "s", "cursor": "2"},
        {"mcp_server": "s", "cursor": "2"},
        {"resources": [{"uri": "a:b", "name": "n"}], "next_cursor": "3"},
        {"resources": [{"uri": "a:b", "name": "n"}], "next_cursor": "3"},
    ),
    (
        "get_resource_templates",
        {"mcp_server": "s"},
        {"mcp_server": "s"},
        {"resource_templates": [{"uriTemplate": "dpe://h/{d}"}]},
        {"resource_templates": [{"uriTemplate": "dpe://h/{d}"}]},
    ),
    (
        "complete",
        {
            "mcp_server": "s",
            "ref": {"type": "ref/resource", "uri": "dpe://h/{d}"},
            "argument": {"name": "d", "value": "a"},
            "context": {"arguments": {"h": "x"}},
        },
        {
            "mcp_server": "s",
            "ref": {"type": "ref/resource", "uri": "dpe://h/{d}"},
            "argument": {"name": "d", "value": "a"},
            "context": {"arguments": {"h": "x"}},
        },
        {"completion": {"values": ["ab"], "total": 1, "hasMore": False}},
        {"completion": {"values": ["ab"], "total": 1, "hasMore": False}},
    ),
]


@pytest.mark.rule("7.7", "2.2.more")
@pytest.mark.parametrize(("method", "given", "sent", "reply", "returned"), ROWS)
async def test_each_method_sends_its_request_and_returns_its_reply(
    ready: Running,
    office: str,
    either: Either,
    computer: Computers,
    method: str,
    given: dict[str, Any],
    sent: dict[str, Any],
    reply: dict[str, Any],
    returned: Any,
) -> None:
    answerer = Scripted(**{method: reply})
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    got = await getattr(client, method)(computer="c", **given)
    [(event, request)] = answerer.asked
    req_id = request["req_id"]
    assert (event, request) == (f"client:{method}", {"agent": "a", "req_id": req_id, "computer": "c"} | sent)
    if isinstance(returned, dict) and method != "get_config":
        returned = returned | {"req_id": req_id}
    assert got == returned


@pytest.mark.rule("7.7")
@pytest.mark.parametrize(
    ("method", "given", "uri"),
    [
        ("read_document_metadata", (), "dpe://h/a%2Fb"),
        ("read_document_pages", (), "dpe://h/a%2Fb?depth=pages&limit=20&offset=0"),
        ("read_document_pages", (40, 10), "dpe://h/a%2Fb?depth=pages&limit=10&offset=40"),
        ("read_page", (3,), "dpe://h/a%2Fb/pages/3?format=json"),
        ("read_page", (0, "text"), "dpe://h/a%2Fb/pages/0?format=text"),
        ("read_element", ("图/1",), "dpe://h/a%2Fb/elements/%E5%9B%BE%2F1"),
    ],
)
async def test_the_navigation_methods_read_their_uris(
    ready: Running, office: str, either: Either, computer: Computers, method: str, given: tuple[Any, ...], uri: str
) -> None:
    answerer = Scripted(read_resource=text(uri, '{"page_count": 12}', "application/json"))
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert await getattr(client, method)("c", f"{DOCUMENT}?depth=metadata", *given) == {"page_count": 12}
    asked = str(answerer.asked[0][1]["uri"])
    assert (asked.partition("?")[0], sorted(asked.partition("?")[2].split("&"))) == (
        uri.partition("?")[0],
        sorted(uri.partition("?")[2].split("&")),
    )


async def test_a_uri_that_breaks_a_rule_is_refused_before_it_is_sent(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    answerer = Scripted()
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    for uri in ("dpe://h", "file:///x"):
        with pytest.raises(InvalidDPEUri):
            await client.read_page("c", uri, 0)
    assert answerer.asked == []


@pytest.mark.rule("7.7")
async def test_markdown_comes_with_its_title(ready: Running, office: str, either: Either, computer: Computers) -> None:
    uri = f"{DOCUMENT}/pages/0?format=markdown"
    await computer(Scripted(read_resource=text(uri, "# 概览\n\n正文", "text/markdown")), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert await client.read_resource(computer="c", uri=uri) == {
        "content_markdown": "# 概览\n\n正文",
        "title": "概览",
        "uri": uri,
    }


async def test_resources_of_all_servers_are_listed_together(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    async def listing(request: dict[str, Any]) -> dict[str, Any]:
        if request["mcp_server"] == "broken":
            raise InternalError("down")
        cursor = request.get("cursor")
        more = {} if cursor else {"next_cursor": "2"}
        return {"resources": [{"uri": f"{request['mcp_server']}:{cursor}", "name": "n"}]} | more

    entry = CONFIG["servers"]["s"]
    servers = {name: entry | {"name": name, "disabled": name == "off"} for name in ("s", "broken", "off", "t")}
    await computer(Scripted(get_config={"servers": servers}, get_resources=listing), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    found = await client.get_resources("c")
    assert [resource["uri"] for resource in found["resources"]] == ["s:None", "s:2", "t:None", "t:2"]
    with pytest.raises(BadRequest, match="one MCP server"):
        await client.get_resources("c", cursor="2")


async def test_tools_of_a_foreign_computer_are_taken_as_the_protocol_allows_them(
    ready: Running, office: str, either: Either, computer: Computers, caplog: pytest.LogCaptureFixture
) -> None:
    plain = {"name": "plain", "description": "", "params_schema": {}}
    tools = [
        plain,
        plain | {"name": "tagged", "return_schema": None, "meta": {"tags": ["a", "b"], "count": 1}},
        plain | {"name": "nested", "meta": {"own": {"deep": [1, "x"]}, "tags": ["a"]}},
        plain | {"name": "odd", "params_schema": "none"},
        "no tool",
    ]
    await computer(Scripted(get_tools={"tools": tools}), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    found = await client.get_tools("c")
    assert [(tool["name"], tool["return_schema"], tool.get("meta")) for tool in found] == [
        ("plain", None, None),
        ("tagged", None, {"tags": ["a", "b"], "count": 1}),
        ("nested", None, {"own": '{"deep":[1,"x"]}', "tags": ["a"]}),
    ]
    assert "malformed entry omitted" in caplog.text
    assert "entry='odd'" in caplog.text


@pytest.mark.rule("3.4.log")
async def test_an_agent_logs_what_it_raises_with_the_request(
    ready: Running, office: str, either: Either, computer: Computers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="a2c_smcp.agent")
    await computer(Scripted(get_tools=InternalError("broken")), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    with pytest.raises(InternalError) as raised:
        await client.get_tools("c")
    (record,) = [one for one in caplog.records if one.getMessage().startswith("request failed: ")]
    assert (vars(record)["req_id"], vars(record)["code"]) == (raised.value.req_id, 500)


async def test_one_malformed_document_hides_no_other(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    sound = {"doc_ref": "a", "uri": "dpe://h/a", "file_uri": "", "file_type": "pdf", "title": "A", "page_count": 1}
    reply = {"documents": [{"doc_ref": 5}, sound | {"server": "s"}], "total_count": 2}
    await computer(Scripted(get_finder=reply), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert [one["doc_ref"] for one in (await client.get_finder("c"))["documents"]] == ["a"]


async def test_a_server_that_lists_without_end_holds_nobody(
    ready: Running, office: str, either: Either, computer: Computers, caplog: pytest.LogCaptureFixture
) -> None:
    async def listing(request: dict[str, Any]) -> dict[str, Any]:
        return {"resources": [], "next_cursor": str(int(request.get("cursor") or 0) + 1)}

    await computer(Scripted(get_config=CONFIG, get_resources=listing), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert (await client.get_resources("c"))["resources"] == []
    assert "it has more than 1000 pages event=client:get_resources mcp_server=s" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        PageOutOfRange("Page 99", details={"page_index": 99, "page_count": 12}),
        ToolNotFound("no tool"),
        ConfirmationRequired("ask the owner"),
    ],
)
@pytest.mark.rule("3.3")
async def test_what_a_computer_raises_the_agent_catches(
    ready: Running, office: str, either: Either, computer: Computers, error: Any
) -> None:
    await computer(Scripted(tool_call=error, read_resource=error), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    for ask in (client.call_tool("c", "t"), client.read_resource("c", "dpe://h/d")):
        with pytest.raises(type(error)) as raised:
            await ask
        assert (raised.value.code, raised.value.message, raised.value.details) == (
            error.code,
            error.message,
            error.details,
        )


async def test_a_computer_that_is_not_there_is_not_found(ready: Running, office: str, either: Either) -> None:
    client = either(ready.url, office)
    await client.connect()
    for ask in (client.call_tool("c", "t"), client.get_tools("c")):
        with pytest.raises(NotFound):
            await ask


async def test_an_answer_of_another_form_is_no_result(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    await computer(Scripted(get_tools={"tools": 1}, tool_call={"text": "x"}), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    for ask in (client.call_tool("c", "t"), client.get_tools("c")):
        with pytest.raises(InternalError, match=r"tools|not a tool result"):
            await ask


async def test_a_request_over_what_the_server_takes_is_refused_and_the_connection_lives(either: Either) -> None:
    async with Relay() as relay:
        relay.answers["client:tool_call"] = {"content": []}
        client = either(relay.url, "o", live=False)
        await client.connect()
        with pytest.raises(BadRequest, match="server accepts at most"):
            await client.call_tool("c", "t", {"text": "x" * 1_000_000})
        assert (await client.call_tool("c", "t"))["content"] == []


async def test_an_event_that_nobody_knows_is_an_error(either: Either) -> None:
    async with Relay() as relay:
        client = either(relay.url, "o", live=False)
        await client.connect()
        with pytest.raises(BadRequest, match="client:get_finder is not supported"):
            await client.get_finder("c")


async def test_an_answer_that_does_not_come_in_time_raises(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    await computer(Scripted(get_tools=Gate({})), ready.url, office)
    client = either(ready.url, office, live=False, timeout=3)
    await client.connect()
    with pytest.raises(RequestTimeout, match="client:get_tools"):
        await client.get_tools("c")
