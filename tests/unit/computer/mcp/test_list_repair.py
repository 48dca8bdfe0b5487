"""One entry that breaks a rule does not hide the others of its list."""

from copy import deepcopy
from typing import Any

import pytest

from a2c_smcp.computer.mcp.list_repair import RejectedEntry, repair_lists

PLAIN = {"type": "object", "properties": {"a": {}}}


def tool(**fields: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": PLAIN, **fields}


def resource(**fields: Any) -> dict[str, Any]:
    return {"uri": "a:b", "name": "n", **fields}


def mended(key: str, *entries: Any, **envelope: Any) -> list[Any]:
    result = {key: deepcopy(list(entries)), **envelope}
    repair_lists(result)
    found: list[Any] = result[key]
    return found


@pytest.mark.parametrize(
    "entry",
    [
        tool(),
        tool(title="T", description=None, annotations={"readOnlyHint": True, "title": "x"}, outputSchema=PLAIN),
        tool(inputSchema={"type": "object", "properties": None}, _meta={"a": 1}, icons=[], execution={}),
    ],
)
def test_a_tool_that_keeps_the_rules_stays_as_it_is(entry: dict[str, Any]) -> None:
    assert mended("tools", entry) == [entry]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "t"}, {"name": "t", "inputSchema": {"type": "object"}}),
        (tool(inputSchema="x"), tool(inputSchema={"type": "object"})),
        (tool(inputSchema={"properties": {"a": {}}}), tool()),
        (tool(inputSchema={"type": ["object"], "required": []}), tool(inputSchema={"type": "object", "required": []})),
        (tool(inputSchema={"type": "object", "properties": []}), tool(inputSchema={"type": "object"})),
        (tool(outputSchema={"type": "array"}), tool()),
        (tool(annotations={"title": 5, "readOnlyHint": True}), tool(annotations={"readOnlyHint": True})),
        (tool(annotations=[], description=3, icons="x", _meta=1, execution={"taskSupport": "x"}), tool()),
    ],
)
def test_a_tool_that_breaks_a_rule_is_mended(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    assert mended("tools", entry, tool(name="other")) == [expected, tool(name="other")]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"required": "x"}, "inputSchema.required: not a list of strings"),
        ({"required": [1]}, "inputSchema.required: not a list of strings"),
        ({"properties": {"a": []}}, "inputSchema.properties.a: not a schema"),
        ({"$schema": 5}, "inputSchema.$schema: not a string"),
        ({"type": ["object"], "required": {}}, "inputSchema.required: not a list of strings"),
    ],
)
@pytest.mark.parametrize("envelope", [{}, {"resultType": "complete"}], ids=["older era", "newer era"])
def test_only_the_tool_with_an_unusable_schema_is_left_out(
    schema: dict[str, Any], why: str, envelope: dict[str, Any]
) -> None:
    result = {"tools": [tool(), tool(name="odd", inputSchema={"type": "object", **schema}), tool(name="b")], **envelope}
    assert repair_lists(result) == [RejectedEntry("tool", "odd", why)]
    assert result["tools"] == [tool(), tool(name="b")]


def test_an_unusable_output_schema_is_dropped_and_its_tool_stays() -> None:
    assert mended("tools", tool(outputSchema={"type": "object", "required": "x"})) == [tool()]


def test_icons_and_hints_of_the_wrong_type_are_dropped_and_their_tool_stays() -> None:
    odd = tool(icons=[5, {"src": "data:,"}], annotations={"readOnlyHint": "perhaps", "openWorldHint": False})
    assert mended("tools", odd) == [tool(icons=[{"src": "data:,"}], annotations={"openWorldHint": False})]


def test_whatever_else_the_sdk_would_refuse_the_list_for_is_left_out() -> None:
    result = {"tools": [tool(), tool(name="c", icons=[{"src": "data:,", "sizes": 5}])]}
    (left_out,) = repair_lists(result, "2025-11-25")
    assert (left_out.kind, left_out.name, left_out.why) == ("tool", "c", "icons.0.sizes must be a list")
    assert result["tools"] == [tool()]


def test_a_resource_that_the_sdk_would_refuse_the_list_for_is_left_out() -> None:
    result = {"resources": [resource(), resource(uri="c:d", icons=[{"src": "data:,", "sizes": 5}])]}
    assert [one.name for one in repair_lists(result, "2025-11-25")] == ["c:d"]
    assert result["resources"] == [resource()]


def test_the_newer_era_has_results_of_any_kind() -> None:
    assert mended("tools", tool(outputSchema={"type": "array"}), resultType="complete") == [
        tool(outputSchema={"type": "array"})
    ]


def test_what_is_no_tool_is_left_out() -> None:
    assert mended("tools", None, "t", {}, {"name": 5}, tool()) == [tool()]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (resource(size=3, annotations={"priority": 0.5}), resource(size=3, annotations={"priority": 0.5})),
        ({"uri": "a:b"}, resource(name="a:b")),
        (resource(size="large", mimeType=1), resource()),
        (resource(annotations={"priority": 5, "lastModified": 1, "audience": "user"}), resource(annotations={})),
    ],
)
def test_a_resource_that_breaks_a_rule_is_mended(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    assert mended("resources", entry, {"name": "no uri"}, 7) == [expected]


def test_a_template_is_mended_too() -> None:
    assert mended("resourceTemplates", {"uriTemplate": "a:{b}"}) == [{"uriTemplate": "a:{b}", "name": "a:{b}"}]


def test_other_results_stay_as_they_are() -> None:
    result = {"content": [{"type": "text", "text": "x"}], "tools": "none", "resources": None}
    repair_lists(result)
    assert result == {"content": [{"type": "text", "text": "x"}], "tools": "none", "resources": None}
