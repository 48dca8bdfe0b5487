import json
from typing import Any

import pytest

from a2c_smcp.bridge.tools import OfficeTools
from a2c_smcp.errors import ToolNotFound
from tests.unit.bridge.fakes import tool


def listed(tools: OfficeTools) -> dict[str, Any]:
    return {one["name"]: one for one in tools.in_mcp}


def test_a_tool_keeps_its_title_annotations_and_schemas() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "$defs": {"x": {}}}
    annotations = {"title": "Echo", "readOnlyHint": True, "openWorldHint": False, "odd": [1], "idempotentHint": "yes"}
    one = tool(
        "echo",
        params_schema=schema,
        return_schema={"type": "object"},
        meta={"a2c_tool_meta": '{"auto_apply": true}', "MCP_TOOL_ANNOTATION": json.dumps(annotations), "own": 1},
        bundle_id="office",
    )
    assert listed(OfficeTools({"desk": [one]})) == {
        "desk__echo": {
            "name": "desk__echo",
            "title": "Echo",
            "description": "echo it",
            "inputSchema": schema,
            "outputSchema": {"type": "object"},
            "annotations": {"title": "Echo", "readOnlyHint": True, "openWorldHint": False},
            "_meta": {
                "a2c_tool_meta": '{"auto_apply": true}',
                "own": 1,
                "a2c/computer": "desk",
                "a2c/tool": "echo",
                "a2c/mcp_server": "office",
            },
        }
    }


@pytest.mark.parametrize(
    ("schema", "mended"),
    [
        ({}, {"type": "object"}),
        ({"properties": {}}, {"properties": {}, "type": "object"}),
        ({"type": "array"}, {"type": "object"}),
        (None, {"type": "object"}),
    ],
)
def test_a_schema_that_mcp_forbids_is_mended(schema: Any, mended: Any) -> None:
    found = listed(OfficeTools({"desk": [tool("x", params_schema=schema, return_schema={"type": "array"})]}))["desk__x"]
    assert (found["inputSchema"], found.get("outputSchema")) == (mended, None)


@pytest.mark.parametrize("text", ["{", "[]", "null", 3, None])
def test_annotations_that_cannot_be_read_are_left_out(text: Any) -> None:
    assert (
        "annotations" not in listed(OfficeTools({"desk": [tool("x", meta={"MCP_TOOL_ANNOTATION": text})]}))["desk__x"]
    )


@pytest.mark.parametrize(
    ("computer", "described"), [("desk", "echo it"), ("my desk", "[my desk] echo it"), ("书桌", "[书桌] echo it")]
)
def test_where_the_name_cannot_say_it_the_description_does(computer: str, described: str) -> None:
    assert [one["description"] for one in OfficeTools({computer: [tool("echo")]}).in_mcp] == [described]


def test_the_same_tool_on_two_computers_is_two_tools() -> None:
    tools = OfficeTools({"desk": [tool("echo")], "laptop": [tool("echo")]})
    assert [tools.find(name).computer for name in ("desk__echo", "laptop__echo")] == ["desk", "laptop"]


def test_plain_names_are_for_tools_that_only_one_computer_has() -> None:
    tools = OfficeTools({"desk": [tool("echo"), tool("print")], "laptop": [tool("echo"), tool("a b")]}, plain=True)
    assert {name: (one.computer, one.tool["name"]) for name, one in tools.listed.items()} == {
        "desk__echo": ("desk", "echo"),
        "laptop__echo": ("laptop", "echo"),
        "laptop__a-b_" + tools.find(next(n for n in tools.listed if n.startswith("laptop__a"))).name[-10:]: (
            "laptop",
            "a b",
        ),
        "print": ("desk", "print"),
    }


def test_a_full_name_works_where_plain_names_are_listed() -> None:
    assert OfficeTools({"desk": [tool("print")]}, plain=True).find("desk__print").computer == "desk"


def test_a_plain_name_cannot_take_the_full_name_of_another_tool() -> None:
    tools = OfficeTools({"desk": [tool("echo")], "laptop": [tool("desk__echo"), tool("echo")]}, plain=True)
    assert tools.find("desk__echo").computer == "desk"


def test_an_unknown_name_is_answered_with_names_that_are_near() -> None:
    with pytest.raises(ToolNotFound) as caught:
        OfficeTools({"desk": [tool("echo")], "laptop": [tool("echo")]}).find("echo")
    assert caught.value.details == {"near": ["desk__echo", "laptop__echo"]}
