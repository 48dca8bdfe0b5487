"""The schema says what the loader takes."""

from collections.abc import Iterator
from typing import Any

import pytest

from a2c_smcp.computer.config.models import ComputerConfig, config_schema

SCHEMA = config_schema()


def parts(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for item in node.values():
            yield from parts(item)
    elif isinstance(node, list):
        for item in node:
            yield from parts(item)


def test_the_top_allows_what_a_native_file_has() -> None:
    top = {key: SCHEMA[key] for key in ("type", "required", "additionalProperties")}
    assert top == {"type": "object", "required": ["servers"], "additionalProperties": False}
    assert list(SCHEMA["properties"]) == ["$schema", "servers", "inputs"]


@pytest.mark.rule("5.1.kinds", "5.1.inputs")
def test_every_kind_of_server_and_input_is_defined() -> None:
    fields = [definition.get("properties", {}) for definition in SCHEMA["$defs"].values()]
    kinds = {field["type"]["const"] for field in fields if "type" in field}
    assert kinds == {"stdio", "streamable", "sse", "promptString", "pickString", "command"}


def test_a_server_under_its_key_need_not_repeat_its_name() -> None:
    assert SCHEMA["$defs"]["MCPServerStdioConfig"]["required"] == ["type", "server_parameters"]
    assert SCHEMA["properties"]["servers"]["anyOf"][1]["items"]["allOf"][1] == {"required": ["name"]}


def test_every_reference_leads_somewhere() -> None:
    names = {part["$ref"].removeprefix("#/$defs/") for part in parts(SCHEMA) if isinstance(part.get("$ref"), str)}
    assert names == set(SCHEMA["$defs"])


def test_numbers_are_allowed_where_they_are_spelled_out() -> None:
    spelled = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
    env = SCHEMA["$defs"]["MCPServerStdioParameters"]["properties"]["env"]
    assert env["anyOf"][0]["additionalProperties"] == spelled


def test_every_field_is_described() -> None:
    silent = [
        f"{name}.{field}"
        for name, definition in SCHEMA["$defs"].items()
        for field, schema in definition.get("properties", {}).items()
        if field != "type" and "description" not in schema
    ]
    assert silent == []


def test_the_schema_is_not_shared_with_the_model() -> None:
    config_schema()["$defs"].clear()
    assert ComputerConfig.model_json_schema()["$defs"] != {}
