"""Schemas in the form that model APIs accept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.adapters.schemas import object_schema

PATH = {"type": "string"}


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        (
            {"$schema": "x", "properties": {"p": PATH}, "required": ["p"], "additionalProperties": False},
            {"type": "object", "properties": {"p": PATH}, "required": ["p"], "additionalProperties": False},
        ),
        (
            {
                "anyOf": [
                    {"properties": {"p": PATH, "a": {}}, "required": ["p", "a"]},
                    {"properties": {"p": PATH, "b": {}}, "required": ["p"]},
                ]
            },
            {"type": "object", "properties": {"p": PATH, "a": {}, "b": {}}, "required": ["p"]},
        ),
        (
            {"allOf": [{"$ref": "#/$defs/A"}, {"required": ["p"]}], "$defs": {"A": {"properties": {"p": PATH}}}},
            {
                "type": "object",
                "properties": {"p": PATH},
                "required": ["p"],
                "$defs": {"A": {"properties": {"p": PATH}}},
            },
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"p": {"$ref": "#/$defs/A"}}, "required": ["p"]}}},
            {
                "type": "object",
                "properties": {"p": {"$ref": "#/$defs/A"}},
                "required": ["p"],
                "$defs": {"A": {"properties": {"p": {"$ref": "#/$defs/A"}}, "required": ["p"]}},
            },
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
            {"type": "object", "properties": {}, "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
        ),
        ({"properties": ["junk"], "required": "junk", "oneOf": "junk"}, {"type": "object", "properties": {}}),
        ({"anyOf": [True, {"$ref": "#"}]}, {"type": "object", "properties": {}}),
    ],
)
def test_arguments_are_an_object_with_properties(given_: dict[str, Any], expected: dict[str, Any]) -> None:
    assert object_schema(given_) == expected


def test_alternatives_inside_alternatives_come_to_an_end() -> None:
    schema: dict[str, Any] = {"properties": {"p": PATH}}
    for _ in range(5_000):
        schema = {"allOf": [schema]}
    assert object_schema(schema) == {"type": "object", "properties": {}}


def test_definitions_that_refer_to_each_other_many_times_are_read_once() -> None:
    names = [f"D{n}" for n in range(50)]
    many = [{"$ref": f"#/$defs/{name}"} for name in names]
    schema = {"anyOf": many, "$defs": {name: {"anyOf": many, "properties": {name: PATH}} for name in names}}
    assert set(object_schema(schema)["properties"]) == set(names)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "anyOf", "allOf", "oneOf", "$ref", "$defs", "x"]),
            inner,
            max_size=4,
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "anyOf", "allOf", "$defs"]), json))
def test_whatever_a_server_calls_a_schema_becomes_one(schema: dict[str, Any]) -> None:
    made = object_schema(schema)
    assert made["type"] == "object"
    assert isinstance(made["properties"], dict)
    assert set(made.get("required", ())) <= set(made["properties"])
