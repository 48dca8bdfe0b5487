"""JSON Schemas of tools in the form that model APIs accept. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_DEPTH: Final = 8
"""How many alternatives inside alternatives are looked into."""

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
_NOT_AT_THE_TOP: Final = frozenset({*_COMBINED, "$schema", "$id", "$ref", "enum", "not", "if", "then", "else"})


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with `properties`, which is all that model APIs take for arguments.

    References and alternatives at the top become one object with the properties of all, requiring what each requires:
    a model then may ask for what the tool will refuse, and reads why.
    """
    properties, required = _Merger(schema).merge(schema)
    result = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
    result |= {"type": "object", "properties": properties}
    result.pop("required", None)
    if known := [name for name in required if name in properties]:
        result["required"] = known
    return result


class _Merger:
    """Looks into a schema; into each of its definitions once, however often it is referred to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, tuple[dict[str, Any], list[str]]] = {}

    def merge(self, schema: Mapping[str, Any], depth: int = _DEPTH) -> tuple[dict[str, Any], list[str]]:
        """Return the properties of a schema and all its alternatives, and the names that are required anyway."""
        properties = dict(_mapping(schema.get("properties")))
        required = dict.fromkeys(_names(schema.get("required")))
        for keyword, told in self._alternatives(schema, depth - 1) if depth else ():
            for more, _ in told:
                properties = more | properties
            needs = [names for _, names in told]
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
            self._known[reference] = {}, []  # for one that refers to itself
            # A definition is what references name in all that generators write.
            where, _, name = reference.removeprefix("#/").partition("/")
            self._known[reference] = self.merge(_mapping(_mapping(self._root.get(where)).get(name)), depth)
        return self._known[reference]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
