"""JSON Schemas of tools in the form that model APIs accept. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
_NOT_AT_THE_TOP: Final = frozenset({*_COMBINED, "$schema", "$id", "enum", "not", "if", "then", "else"})


def object_schema(schema: Mapping[str, Any], depth: int = 8) -> dict[str, Any]:
    """Return the schema of an object with `properties`, which is all that model APIs take for arguments.

    Alternatives at the top become one object with the properties of all, requiring what each requires: a model then
    may ask for what the tool will refuse, and reads why. Alternatives inside alternatives count down to `depth`.
    """
    result = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
    properties = dict(_mapping(schema.get("properties")))
    required = _names(schema.get("required"))
    for keyword in _COMBINED:
        parts = list(_parts(schema, keyword, depth))
        for part in parts:
            for name, value in part.get("properties", {}).items():
                properties.setdefault(name, value)
        needs = [_names(part.get("required")) for part in parts]
        if keyword == "allOf":
            required += [name for need in needs for name in need]
        elif needs:
            required += [name for name in needs[0] if all(name in need for need in needs)]
    result |= {"type": "object", "properties": properties}
    result.pop("required", None)
    if known := [name for name in dict.fromkeys(required) if name in properties]:
        result["required"] = known
    return result


def _parts(schema: Mapping[str, Any], keyword: str, depth: int) -> Iterator[dict[str, Any]]:
    parts = schema.get(keyword)
    for part in parts if isinstance(parts, list) and depth else []:
        if isinstance(part, Mapping):
            yield object_schema(_resolved(part, schema), depth - 1)


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a part refers to among the definitions of the schema; one step, which is what generators write."""
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return part
    _, _, place = reference.partition("#/")
    where, _, name = place.partition("/")
    return _mapping(_mapping(schema.get(where)).get(name))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
