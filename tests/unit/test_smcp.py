"""The wire: names, messages, and the table."""

from typing import Any, get_type_hints

import pytest

from a2c_smcp import smcp
from a2c_smcp.errors import BadRequest, NotFound
from a2c_smcp.smcp import EVENTS, error_ack, parse_reply, parse_request

CALL = {"agent": "a", "req_id": "r"}
TO = CALL | {"computer": "c"}
TOOL_CALL = TO | {"tool_name": "t", "params": {}, "timeout": 30}

# Event -> (request, reply), as the contract's table prints it.
TABLE: dict[str, tuple[str, str | None]] = {
    "server:join_office": ("EnterOfficeReq", "OfficeAck"),
    "server:leave_office": ("LeaveOfficeReq", "OfficeAck"),
    "server:list_room": ("ListRoomReq", "ListRoomRet"),
    "server:update_config": ("UpdateComputerConfigReq", None),
    "server:update_tool_list": ("UpdateComputerConfigReq", None),
    "server:update_desktop": ("UpdateComputerConfigReq", None),
    "server:update_finder": ("UpdateComputerConfigReq", None),
    "server:update_progress": ("UpdateProgressReq", None),
    "server:update_resources": ("UpdateResourcesReq", None),
    "server:tool_call_cancel": ("AgentCallData", None),
    "client:tool_call": ("ToolCallReq", "CallToolResult"),
    "client:get_tools": ("GetToolsReq", "GetToolsRet"),
    "client:get_config": ("GetComputerConfigReq", "GetComputerConfigRet"),
    "client:get_desktop": ("GetDeskTopReq", "GetDeskTopRet"),
    "client:get_finder": ("GetFinderReq", "GetFinderRet"),
    "client:read_resource": ("ReadResourceReq", "ReadResourceRet"),
    "client:get_resources": ("GetResourcesReq", "GetResourcesRet"),
    "client:get_resource_templates": ("GetResourceTemplatesReq", "GetResourceTemplatesRet"),
    "client:complete": ("CompleteReq", "CompleteRet"),
    "client:get_chunk": ("GetChunkReq", "GetChunkRet"),
    "client:subscribe_resource": ("SubscribeResourceReq", "SubscribeResourceRet"),
    "client:unsubscribe_resource": ("SubscribeResourceReq", "SubscribeResourceRet"),
    "notify:enter_office": ("EnterOfficeNotification", None),
    "notify:leave_office": ("LeaveOfficeNotification", None),
    "notify:update_config": ("UpdateMCPConfigNotification", None),
    "notify:update_tool_list": ("UpdateToolListNotification", None),
    "notify:update_desktop": ("UpdateDesktopNotification", None),
    "notify:update_finder": ("UpdateFinderNotification", None),
    "notify:update_progress": ("UpdateProgressNotification", None),
    "notify:update_resources": ("UpdateResourcesNotification", None),
    "notify:disconnect": ("DisconnectNotification", None),
    "notify:tool_call_cancel": ("AgentCallData", None),
}

# Type -> required fields, optional fields, as the data structures document prints them (with the settled additions).
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "AgentCallData": ({"agent", "req_id"}, set()),
    "ToolCallReq": ({"agent", "req_id", "computer", "tool_name", "params", "timeout"}, {"meta"}),
    "SMCPTool": (
        {"name", "description", "params_schema", "return_schema"},
        {"meta", "bundle_id", "title", "icons", "execution"},
    ),
    "ToolMeta": (set(), {"auto_apply", "ret_object_mapper", "alias", "tags"}),
    "GetToolsReq": ({"agent", "req_id", "computer"}, set()),
    "GetToolsRet": ({"tools", "req_id"}, set()),
    "EnterOfficeReq": ({"role", "name", "office_id"}, {"take_over"}),
    "LeaveOfficeReq": ({"office_id"}, set()),
    "EnterOfficeNotification": (set(), {"office_id", "computer", "agent"}),
    "LeaveOfficeNotification": (set(), {"office_id", "computer", "agent"}),
    "ListRoomReq": ({"agent", "req_id", "office_id"}, set()),
    "SessionInfo": (set(), {"sid", "name", "role", "office_id", "a2c_version"}),
    "ListRoomRet": ({"sessions", "req_id"}, set()),
    "UpdateComputerConfigReq": ({"computer"}, set()),
    "UpdateMCPConfigNotification": (set(), {"computer"}),
    "UpdateToolListNotification": (set(), {"computer"}),
    "GetComputerConfigReq": ({"agent", "req_id", "computer"}, set()),
    "GetComputerConfigRet": ({"servers"}, {"inputs"}),
    "GetDeskTopReq": ({"agent", "req_id", "computer"}, {"desktop_size", "window"}),
    "GetDeskTopRet": (set(), {"desktops", "req_id"}),
    "GetFinderReq": ({"agent", "req_id", "computer"}, {"keywords", "file_type", "offset", "limit"}),
    "GetFinderRet": (set(), {"documents", "total_count", "req_id", "unavailable"}),
    "DPEDocumentSummary": (
        {"doc_ref", "uri", "file_uri", "file_type", "title", "page_count", "server"},
        {"keywords", "summary", "last_modified"},
    ),
    "DPEPageSummary": ({"page_index", "title", "uri"}, {"element_count", "doc_ref"}),
    "DPEElementDetail": (
        {"element_id", "category", "content"},
        {"summary", "doc_ref", "page_index", "uri", "metadata"},
    ),
    "ReadResourceReq": ({"agent", "req_id", "computer", "uri"}, {"mcp_server", "meta"}),
    "ReadResourceRet": ({"contents", "req_id"}, {"meta"}),
    "ProgressData": ({"progress"}, {"total", "message", "number"}),
    "UpdateProgressReq": ({"agent", "req_id", "computer", "progress"}, {"total", "message", "number"}),
    "SubscribeResourceReq": ({"agent", "req_id", "computer", "uri"}, {"mcp_server"}),
    "SubscribeResourceRet": ({"req_id"}, {"mcp_server"}),
    "UpdateResourcesReq": ({"computer"}, {"mcp_server", "uris", "list_changed"}),
    "Chunked": ({"transfer", "size", "count", "sha256"}, set()),
    "ChunkedRet": ({"chunked", "req_id"}, set()),
    "GetChunkReq": ({"agent", "req_id", "computer", "transfer", "index"}, set()),
    "GetChunkRet": ({"data", "index", "req_id"}, set()),
    "BaseMCPServerConfig": (
        {"name", "disabled", "forbidden_tools", "tool_meta"},
        {"default_tool_meta", "vrl", "instructions"},
    ),
    "MCPServerStdioParameters": ({"command", "args", "env", "cwd", "encoding", "encoding_error_handler"}, set()),
    "MCPServerStreamableHttpParameters": (
        {"url", "headers", "timeout", "sse_read_timeout", "terminate_on_close"},
        set(),
    ),
    "MCPSSEParameters": ({"url", "headers", "timeout", "sse_read_timeout"}, set()),
    "MCPServerPromptStringInput": ({"id", "description", "type"}, {"default", "password"}),
    "MCPServerPickStringInput": ({"id", "description", "type", "options"}, {"default"}),
    "MCPServerCommandInput": ({"id", "description", "type", "command"}, {"args"}),
}


@pytest.mark.rule("2.3.table")
def test_the_table_has_every_event_with_its_request_and_reply() -> None:
    assert EVENTS.keys() == TABLE.keys()
    for name, (request, reply) in TABLE.items():
        assert EVENTS[name].request is getattr(smcp, request), name
        assert EVENTS[name].reply is (getattr(smcp, reply) if reply else None), name


@pytest.mark.rule("2.3.table")
def test_every_event_constant_is_in_the_table() -> None:
    constants = {value for name, value in vars(smcp).items() if name.endswith(("_EVENT", "_NOTIFICATION"))}
    assert constants == set(EVENTS)


@pytest.mark.rule("2.3.table")
def test_what_an_accepted_event_broadcasts_is_named_in_the_table() -> None:
    broadcasts = {name: event.notification for name, event in EVENTS.items() if event.notification}
    assert broadcasts == {
        "server:join_office": "notify:enter_office",
        "server:leave_office": "notify:leave_office",
        "server:tool_call_cancel": "notify:tool_call_cancel",
        "server:update_config": "notify:update_config",
        "server:update_tool_list": "notify:update_tool_list",
        "server:update_desktop": "notify:update_desktop",
        "server:update_finder": "notify:update_finder",
        "server:update_progress": "notify:update_progress",
        "server:update_resources": "notify:update_resources",
    }


@pytest.mark.rule("2.3.types")
@pytest.mark.parametrize("name", FIELDS)
def test_fields_and_optionality_are_the_contracts(name: str) -> None:
    kind = getattr(smcp, name)
    assert (set(kind.__required_keys__), set(kind.__optional_keys__)) == FIELDS[name]


@pytest.mark.rule("2.3.types")
def test_constraints_do_not_hide_the_plain_types() -> None:
    assert get_type_hints(smcp.ToolCallReq) == {
        "agent": str,
        "req_id": str,
        "computer": str,
        "tool_name": str,
        "params": dict[str, Any],
        "timeout": int,
        "meta": dict[str, Any] | None,
    }


@pytest.mark.rule("2.3.extra")
def test_unknown_fields_are_ignored() -> None:
    assert parse_request("client:tool_call", TOOL_CALL | {"later": 1}) == TOOL_CALL


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("client:get_finder", TO | {"keywords": ["财务"], "file_type": "pdf", "offset": 0, "limit": 100}),
        ("client:get_desktop", TO | {"desktop_size": -1, "window": "window://h"}),
        ("client:complete", TO | {"mcp_server": "docs", "ref": {}, "argument": {}, "context": {"arguments": {}}}),
        ("server:join_office", {"role": "agent", "name": "me", "office_id": "o"}),
        ("notify:enter_office", {"office_id": "o", "computer": "c", "agent": None}),
        ("server:update_progress", TO | {"progress": 1, "total": None, "message": "indexing"}),
        ("client:from_the_future", TO),
    ],
)
def test_a_good_request_passes_unchanged(event: str, data: dict[str, Any]) -> None:
    assert parse_request(event, data) == data


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert parse_request("client:tool_call", TOOL_CALL | {"timeout": 30.0})["timeout"] == 30


@pytest.mark.parametrize(
    ("event", "data", "field"),
    [
        ("client:tool_call", None, "payload"),
        ("client:tool_call", [], "payload"),
        ("client:tool_call", "text", "payload"),
        ("client:tool_call", {}, "agent"),
        ("client:tool_call", TOOL_CALL | {"timeout": "30"}, "timeout"),
        ("client:tool_call", TOOL_CALL | {"timeout": True}, "timeout"),
        ("client:tool_call", TOOL_CALL | {"timeout": 0}, "timeout"),
        ("client:tool_call", TOOL_CALL | {"timeout": 1.5}, "timeout"),
        ("client:tool_call", TOOL_CALL | {"timeout": float("nan")}, "timeout"),
        ("client:tool_call", TOOL_CALL | {"params": []}, "params"),
        ("client:tool_call", TOOL_CALL | {"tool_name": ""}, "tool_name"),
        ("client:tool_call", TOOL_CALL | {"computer": 5}, "computer"),
        ("client:tool_call", TOOL_CALL | {"req_id": ""}, "req_id"),
        ("client:tool_call", TOOL_CALL | {"agent": "a\nb"}, "agent"),
        ("client:tool_call", TOOL_CALL | {"agent": "\ud800"}, "agent"),
        ("client:tool_call", TOOL_CALL | {"agent": "x" * 257}, "agent"),
        ("client:from_the_future", CALL, "computer"),
        ("server:join_office", {"role": "boss", "name": "me", "office_id": "o"}, "role"),
        ("server:join_office", {"role": "agent", "name": "me", "office_id": ""}, "office_id"),
        ("client:get_finder", TO | {"keywords": "财务"}, "keywords"),
        ("client:get_chunk", TO | {"transfer": "t", "index": -1}, "index"),
    ],
)
def test_a_bad_request_names_the_field(event: str, data: object, field: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse_request(event, data)
    assert field in (refusal.value.details or {})["fields"]
    assert refusal.value.message.startswith(f"{event}: ")


@pytest.mark.rule("7.4.event")
@pytest.mark.parametrize("bad", [{"offset": -1}, {"limit": -1}, {"limit": 101}, {"limit": "20"}, {"offset": None}])
def test_offset_and_limit_of_the_finder_are_bounded(bad: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse_request("client:get_finder", TO | bad)
    assert refusal.value.code == 400


@pytest.mark.rule("3.4")
def test_a_refusal_never_repeats_the_value() -> None:
    with pytest.raises(BadRequest) as refusal:
        parse_request("client:tool_call", TOOL_CALL | {"params": "s3cret-value", "timeout": "s3cret-value"})
    assert "s3cret" not in repr(refusal.value)


@pytest.mark.parametrize("event", ["", "nonsense", "server:unknown", "notify:unknown"])
def test_an_event_that_is_not_in_the_table_is_a_bad_request(event: str) -> None:
    with pytest.raises(BadRequest, match="Unknown event"):
        parse_request(event, {})


@pytest.mark.parametrize("ack", [(True, None), [False, "why"]])
def test_joining_answers_with_two_arguments(ack: list[object] | tuple[object, ...]) -> None:
    assert parse_reply("server:join_office", ack) == tuple(ack)


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("server:join_office", (True,)),
        ("client:get_tools", {"req_id": "r"}),
        ("server:update_config", {}),
        ("nonsense", {}),
    ],
)
def test_a_bad_reply_is_told(event: str, data: object) -> None:
    with pytest.raises(BadRequest):
        parse_reply(event, data)


@pytest.mark.rule("3.1.tool")
def test_a_failed_tool_call_answers_in_the_form_every_client_reads() -> None:
    assert error_ack("client:tool_call", NotFound("No computer 'c'"), "r") == {
        "error": {"code": 404, "message": "No computer 'c'"},
        "content": [{"type": "text", "text": "No computer 'c'"}],
        "isError": True,
        "req_id": "r",
    }


@pytest.mark.rule("3.1.ack")
@pytest.mark.parametrize(
    ("event", "flat"), [("client:get_tools", True), ("server:list_room", True), ("server:update_config", False)]
)
def test_other_requests_answer_flat_to_agents_without_their_id_and_plain_elsewhere(event: str, flat: bool) -> None:
    ack = error_ack(event, NotFound("No"), "r")
    assert ("code" in ack, "req_id" in ack) == (flat, not flat)
