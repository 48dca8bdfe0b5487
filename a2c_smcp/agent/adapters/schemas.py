"""Converts the JSON Schemas of tools to the form that model APIs accept. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_DEPTH: Final = 8
"""Maximum depth of nested alternatives."""

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
_NOT_AT_THE_TOP: Final = frozenset({*_COMBINED, "$schema", "$id", "$ref", "enum", "not", "if", "then", "else"})


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with `properties`, the only kind that model APIs accept for arguments.

    References and alternatives at the top level are merged into one object with all properties, which requires what
    every alternative requires. A model may then send arguments that the tool refuses with an error.
    """
    properties, required = _Merger(schema).merge(schema)
    result = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
    result |= {"type": "object", "properties": properties}
    result.pop("required", None)
    if known := [name for name in required if name in properties]:
        result["required"] = known
    return result


class _Merger:
    """Merges the alternatives of a schema; each definition is resolved once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, tuple[dict[str, Any], list[str]]] = {}

    def merge(self, schema: Mapping[str, Any], depth: int = _DEPTH) -> tuple[dict[str, Any], list[str]]:
        """Return the properties of a schema and its alternatives, and the names that are always required."""
        properties = dict(_mapping(schema.get("properties")))
        required = dict.fromkeys(_names(schema.get("required")))
        for keyword, parts in self._alternatives(schema, depth - 1) if depth else ():
            for more, _ in parts:
                properties = more | properties
            needs = [names for _, names in parts]
            for name in (name for names in needs for name in names):
                if keyword == "allOf" or all(name in names for names in needs):
                    required[name] = None
        return properties, list(required)

    def _alternatives(
        self, schema: Mapping[str, Any], depth: int
    ) -> Iterator[tuple[str, list[tuple[dict[str, Any], list[str]]]]]:
        if isinstance(reference := schema.get("$ref"), str):
            yield "allOf", [self._referred(reference, depth)]
        for keyword in _COMBINED:
            parts = schema.get(keyword)
            if isinstance(parts, list):
                yield keyword, [self.merge(part, depth) for part in parts if isinstance(part, Mapping)]

    def _referred(self, reference: str, depth: int) -> tuple[dict[str, Any], list[str]]:
        if reference not in self._known:
            self._known[reference] = {}, []  # for a definition that refers to itself
            # Generators only write references to definitions.
            where, _, name = reference.removeprefix("#/").partition("/")
            self._known[reference] = self.merge(_mapping(_mapping(self._root.get(where)).get(name)), depth)
        return self._known[reference]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
