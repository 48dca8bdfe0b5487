"""Repairs list entries that violate the protocol, or rejects them with a reason. Pure.

The SDK rejects the whole list, so that one invalid tool would hide all others. Many servers omit the type of a schema
or the name of a resource.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from a2c_smcp.computer.ports import Json
from a2c_smcp.validation import error_words

OBJECT: Final = "object"

_OPTIONAL_TYPES: Final = {
    "title": str,
    "description": str,
    "mimeType": str,
    "size": int,
    "icons": list,
    "_meta": dict,
    "annotations": dict,
}
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_TASK_SUPPORT: Final = ("forbidden", "optional", "required")


_LISTS: Final = {
    "tools": ("tool", "name", "tools/list"),
    "resources": ("resource", "uri", "resources/list"),
    "resourceTemplates": ("resource template", "uriTemplate", "resources/templates/list"),
}
"""By result field: the kind of its entries, the field with an entry's name, and the method that returns it."""

MAX_SHOWN: Final = 128


@dataclass(frozen=True, slots=True)
class RejectedEntry:
    """A list entry that is not offered.

    Attributes:
        kind: `tool`, `resource` or `resource template`.
        name: Its name or URI, shortened; empty if it has none.
        why: The invalid field and the reason; never a value.
    """

    kind: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}: {self.why}"


def repair_lists(result: Json, version: str | None = None) -> list[RejectedEntry]:
    """Repair the entries of a list result in place and remove those that cannot be repaired; return the removed ones.

    Args:
        version: The negotiated protocol version; if given, entries that the SDK would reject are removed as well.
    """
    rejected: list[RejectedEntry] = []
    # Only the newer protocol era allows output that is not an object.
    any_output = "resultType" in result
    for field, (kind, address, method) in _LISTS.items():
        if not isinstance(entries := result.get(field), list):
            continue
        kept = []
        for entry in entries:
            why = _repair_tool(entry, any_output=any_output) if field == "tools" else _repair_resource(entry, address)
            if why is None:
                kept.append(entry)
            else:
                rejected.append(_rejected(kind, address, entry, why))
        invalid = _invalid_entries(result, field, method, kept, version)
        rejected += (_rejected(kind, address, kept[index], why) for index, why in invalid.items())
        result[field] = [entry for index, entry in enumerate(kept) if index not in invalid]
    return rejected


def _rejected(kind: str, address: str, entry: object, why: str) -> RejectedEntry:
    name = entry.get(address) if isinstance(entry, dict) else None
    return RejectedEntry(kind, name[:MAX_SHOWN] if isinstance(name, str) else "", why)


def _invalid_entries(result: Json, field: str, method: str, entries: list[Any], version: str | None) -> dict[int, str]:
    """Return the entries that would make the SDK reject the list: index and reason."""
    if version is None or not entries:
        return {}
    try:
        validate_server_result(method, version, {**result, field: entries})
    except (KeyError, ValueError) as problem:
        if not isinstance(problem, ValidationError):
            return {}
        found: dict[int, str] = {}
        for error in problem.errors(include_url=False, include_input=False):
            match error["loc"]:
                case (list_name, int(index), *place) if list_name == field:
                    found.setdefault(index, f"{_place(place)} {error_words(error)}")
        return found
    return {}


def _place(parts: Iterable[int | str]) -> str:
    return ".".join(str(part)[:MAX_SHOWN] for part in parts) or "entry"


def _repair_tool(tool: object, *, any_output: bool) -> str | None:
    """Repair a tool; return the reason if it cannot be offered."""
    if not isinstance(tool, dict):
        return "entry: not an object"
    if not isinstance(tool.get("name"), str):
        return "name: missing or not a string"
    schema = tool.get("inputSchema")
    if not _is_of_object(schema):
        known = schema if isinstance(schema, dict) else {}
        tool["inputSchema"] = {key: value for key, value in known.items() if key != "properties"} | {"type": OBJECT}
        if isinstance(known.get("properties"), dict):
            tool["inputSchema"]["properties"] = known["properties"]
    # Model providers reject a whole request if one tool has such a schema.
    if (wrong := _schema_problem(tool["inputSchema"])) is not None:
        return f"inputSchema.{wrong}"
    output = tool.get("outputSchema")
    if output is not None and not (
        (isinstance(output, dict) if any_output else _is_of_object(output)) and _schema_problem(output) is None
    ):
        del tool["outputSchema"]
    execution = tool.get("execution")
    if execution is not None and not (
        isinstance(execution, dict) and execution.get("taskSupport", "optional") in _TASK_SUPPORT
    ):
        del tool["execution"]
    _drop_invalid_fields(tool)
    return None


def _schema_problem(schema: Json) -> str | None:
    """Return why the JSON Schema of an object is unusable, or None."""
    if not isinstance(schema.get("$schema"), str | None):
        return "$schema: not a string"
    required = schema.get("required")
    if required is not None and not (isinstance(required, list) and all(isinstance(name, str) for name in required)):
        return "required: not a list of strings"
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, value in properties.items():
            if not isinstance(value, dict | bool):
                return f"properties.{name[:MAX_SHOWN]}: not a schema"
    return None


def _repair_resource(entry: object, address: str) -> str | None:
    """Repair a resource or a template; return the reason if it cannot be offered."""
    if not isinstance(entry, dict):
        return "entry: not an object"
    if not isinstance(entry.get(address), str):
        return f"{address}: missing or not a string"
    if not isinstance(entry.get("name"), str):
        entry["name"] = entry[address]
    _drop_invalid_fields(entry)
    return None


def _drop_invalid_fields(entry: Json) -> None:
    """Remove optional fields of an entry that have the wrong type."""
    for name, kind in _OPTIONAL_TYPES.items():
        if entry.get(name) is not None and not isinstance(entry[name], kind):
            del entry[name]
    if icons := entry.get("icons"):
        entry["icons"] = [icon for icon in icons if isinstance(icon, dict) and isinstance(icon.get("src"), str)]
    if annotations := entry.get("annotations"):
        entry["annotations"] = {name: value for name, value in annotations.items() if _is_annotation(name, value)}


def _is_annotation(name: str, value: object) -> bool:
    fits = _ANNOTATIONS.get(name)
    return fits is None or value is None or fits(value)


def _is_of_object(schema: object) -> bool:
    return (
        isinstance(schema, dict) and schema.get("type") == OBJECT and isinstance(schema.get("properties"), dict | None)
    )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


_ANNOTATIONS: Final[Mapping[str, Callable[[object], bool]]] = {
    "title": lambda value: isinstance(value, str),
    "lastModified": lambda value: isinstance(value, str),
    "audience": lambda value: isinstance(value, list) and all(one in ("user", "assistant") for one in value),
    "priority": _is_share,
    **dict.fromkeys(_HINTS, lambda value: isinstance(value, bool)),
}
