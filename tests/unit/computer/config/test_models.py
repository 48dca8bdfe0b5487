"""The models: kinds, defaults, merging, and what they keep to themselves."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from a2c_smcp import config_messages
from a2c_smcp.computer.config.models import (
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerConfig,
    MCPServerInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    ToolMeta,
    undefined_inputs,
)

STDIO = MCPServerStdioConfig(name="files", server_parameters=MCPServerStdioParameters(command="npx"))
STREAMABLE = MCPServerStreamableHttpConfig(
    name="github", server_parameters=MCPServerStreamableHttpParameters(url="https://example.com/mcp")
)
SSE = MCPSSEConfig(name="events", server_parameters=MCPSSEParameters(url="https://example.com/sse"))

BASE = {
    "disabled": False,
    "forbidden_tools": [],
    "tool_meta": {},
    "default_tool_meta": None,
    "vrl": None,
    "subscribe": "declared",
    "start_timeout": None,
    "max_message": None,
}
DUMPED: list[tuple[MCPServerConfig, dict[str, Any]]] = [
    (
        STDIO,
        BASE
        | {
            "name": "files",
            "type": "stdio",
            "server_parameters": {
                "command": "npx",
                "args": [],
                "env": None,
                "cwd": None,
                "encoding": "utf-8",
                "encoding_error_handler": "strict",
            },
        },
    ),
    (
        STREAMABLE,
        BASE
        | {
            "name": "github",
            "type": "streamable",
            "server_parameters": {
                "url": "https://example.com/mcp",
                "headers": None,
                "timeout": "PT30S",
                "sse_read_timeout": "PT5M",
                "terminate_on_close": True,
            },
        },
    ),
    (
        SSE,
        BASE
        | {
            "name": "events",
            "type": "sse",
            "server_parameters": {
                "url": "https://example.com/sse",
                "headers": None,
                "timeout": 5.0,
                "sse_read_timeout": 300.0,
            },
        },
    ),
]


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(("server", "dumped"), DUMPED, ids=["stdio", "streamable", "sse"])
def test_each_kind_of_server_has_its_fields_and_defaults(server: MCPServerConfig, dumped: dict[str, Any]) -> None:
    assert server.model_dump(mode="json") == dumped


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(("server", "dumped"), DUMPED, ids=["stdio", "streamable", "sse"])
def test_a_server_is_read_as_the_kind_that_its_type_names(server: MCPServerConfig, dumped: dict[str, Any]) -> None:
    assert TypeAdapter[Any](MCPServerConfig).validate_python(dumped) == server


@pytest.mark.rule("5.1.kinds")
@pytest.mark.parametrize(("server", "dumped"), DUMPED, ids=["stdio", "streamable", "sse"])
def test_a_dumped_server_is_a_server_on_the_wire(server: MCPServerConfig, dumped: dict[str, Any]) -> None:
    wire: dict[str, type] = {
        "stdio": config_messages.MCPServerStdioConfig,
        "streamable": config_messages.MCPServerStreamableHttpConfig,
        "sse": config_messages.MCPSSEConfig,
    }
    kind = wire[server.type]
    own = ("subscribe", "start_timeout", "max_message")
    assert TypeAdapter[Any](kind).validate_python(dumped) == {k: v for k, v in dumped.items() if k not in own}


@pytest.mark.rule("5.1.kinds")
def test_streamable_time_outs_are_durations_inside() -> None:
    assert (STREAMABLE.server_parameters.timeout, STREAMABLE.server_parameters.sse_read_timeout) == (
        timedelta(seconds=30),
        timedelta(minutes=5),
    )


@pytest.mark.rule("5.1.inputs")
@pytest.mark.parametrize(
    ("entry", "dumped"),
    [
        (
            MCPServerPromptStringInput(id="a", description="A", password=True),
            {"type": "promptString", "id": "a", "description": "A", "default": None, "password": True},
        ),
        (
            MCPServerPickStringInput(id="b", description="B", options=["x", "y"], default="y"),
            {"type": "pickString", "id": "b", "description": "B", "options": ["x", "y"], "default": "y"},
        ),
        (
            MCPServerCommandInput(id="c", description="C", command="pass", args={"show": "x"}),
            {"type": "command", "id": "c", "description": "C", "command": "pass", "args": {"show": "x"}},
        ),
    ],
)
def test_each_kind_of_input_has_its_fields(entry: MCPServerInput, dumped: dict[str, Any]) -> None:
    assert entry.model_dump(mode="json") == dumped
    assert TypeAdapter[Any](MCPServerInput).validate_python(dumped) == entry


@pytest.mark.rule("5.1.inputs")
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"type": "pickString", "id": "a", "description": "", "options": ["x"], "default": "y"},
            "is not among the options; pick one of them, or add it to options",
        ),
        ({"type": "pickString", "id": "a", "description": "", "options": []}, "must not be empty; list at least one"),
        (
            {"type": "promptString", "id": "a}", "description": ""},
            "has a brace in it, so that no placeholder can name it; use letters, digits and hyphens",
        ),
    ],
)
def test_an_input_that_cannot_work_is_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(MCPServerInput).validate_python(entry)
    assert [fault["msg"] for fault in refused.value.errors()] == [message]


@pytest.mark.rule("4.2.types")
def test_tool_meta_is_the_json_string_of_the_data_structures_document() -> None:
    meta = ToolMeta(tags=["browser"], auto_apply=True)
    assert meta.to_json() == '{"auto_apply": true, "alias": null, "tags": ["browser"], "ret_object_mapper": null}'


@pytest.mark.rule("4.2.types")
def test_the_json_of_tool_meta_reads_back() -> None:
    meta = ToolMeta(alias="搜索", ret_object_mapper={"a": {"b": [1, None]}})
    assert ToolMeta(**json.loads(meta.to_json())) == meta


FIELDS = {
    "auto_apply": st.none() | st.booleans(),
    "alias": st.none() | st.sampled_from(["a", "b"]),
    "tags": st.none() | st.lists(st.sampled_from(["x", "y"])),
    "ret_object_mapper": st.none() | st.dictionaries(st.sampled_from(["k"]), st.integers()),
}
METAS = st.builds(ToolMeta, **FIELDS)


@pytest.mark.rule("4.1.types")
@given(METAS, METAS)
def test_each_field_of_a_tool_is_its_own_or_the_default(own: ToolMeta, default: ToolMeta) -> None:
    merged = {
        field: value if value is not None else getattr(default, field) for field, value in own.model_dump().items()
    }
    assert own.merged(default).model_dump() == merged


@pytest.mark.rule("4.1.types")
@pytest.mark.parametrize(
    ("tool", "meta"),
    [
        ("search", ToolMeta(auto_apply=False, alias="find", tags=["web"])),
        ("other", ToolMeta(auto_apply=True, tags=["web"])),
    ],
)
def test_a_tool_has_its_own_meta_over_the_default(tool: str, meta: ToolMeta) -> None:
    server = STDIO.model_copy(
        update={
            "tool_meta": {"search": ToolMeta(auto_apply=False, alias="find")},
            "default_tool_meta": ToolMeta(auto_apply=True, tags=["web"]),
        }
    )
    assert server.meta_of(tool) == meta


@pytest.mark.rule("4.1.types")
def test_a_tool_with_nothing_configured_has_no_meta() -> None:
    assert STDIO.meta_of("search") is None


@pytest.mark.rule("4.1.types")
def test_a_tool_keeps_its_own_meta_when_there_is_no_default() -> None:
    server = STDIO.model_copy(update={"tool_meta": {"search": ToolMeta(alias="find")}})
    assert server.meta_of("search") == ToolMeta(alias="find")


def test_a_configuration_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        STDIO.disabled = True  # type: ignore[misc]


def test_neither_repr_nor_errors_show_values_that_may_be_secret() -> None:
    parameters = MCPServerStdioParameters(command="npx", args=["--token=hunter2"], env={"TOKEN": "hunter2"})
    with pytest.raises(ValidationError) as refused:
        MCPServerStdioParameters.model_validate({"command": "npx", "env": {"TOKEN": ["hunter2"]}})
    assert "hunter2" not in repr(parameters) + str(refused.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"servers": {"a": STDIO}}, "has a server whose name is not its key; make them agree"),
        (
            {"inputs": [MCPServerPromptStringInput(id="a", description="")] * 2},
            "has two inputs of one id; give each its own",
        ),
    ],
)
def test_names_and_ids_agree_in_a_whole_configuration(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ComputerConfig(**data)
    assert [fault["msg"] for fault in refused.value.errors()] == [message]


def test_undefined_inputs_are_named_with_the_places_that_use_them() -> None:
    server = STDIO.model_copy(
        update={
            "server_parameters": MCPServerStdioParameters(
                command="npx", args=["${input:known}", "${input:x}${input:x}"], env={"A": "${input:x}", "B": "${env:x}"}
            )
        }
    )
    known = MCPServerPromptStringInput(id="known", description="")
    config = ComputerConfig(servers={"files": server}, inputs=[known])
    parameters = ("servers", "files", "server_parameters")
    assert undefined_inputs(config) == {"x": [(*parameters, "args", 1), (*parameters, "env", "A")]}
