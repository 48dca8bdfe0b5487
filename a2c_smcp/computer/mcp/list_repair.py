"""Lists in which an entry breaks a rule of the protocol: repaired, or left out with a reason. Pure.

The SDK refuses such a list as a whole, so that one tool would hide all the others. Many servers, though, leave out the
type of a schema, or the name of a resource.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from a2c_smcp.computer.ports import Json
from a2c_smcp.validation import error_words

OBJECT: Final = "object"

_KINDS: Final = {
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
"""By the field of a result: what its entries are, the field that names one, and the method whose result it is."""

MAX_SHOWN: Final = 128


@dataclass(frozen=True, slots=True)
class RejectedEntry:
    """An entry of a list that is not offered.

    Attributes:
        kind: `tool`, `resource` or `resource template`.
        name: Its name or URI, shortened; empty where it has none.
        why: The field that breaks a rule, and how; never a value.
    """

    kind: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}: {self.why}"


def repair_lists(result: Json, version: str | None = None) -> list[RejectedEntry]:
    """Repair the entries of a list in place, and leave out those that cannot be; other results stay as they are.

    Args:
        version: The negotiated protocol version; with it, the entries that the SDK would refuse are left out as well.
    """
    left_out: list[RejectedEntry] = []
    # Only the newer era knows results that are no objects.
    loose = "resultType" in result
    for field, (kind, address, method) in _LISTS.items():
        if not isinstance(entries := result.get(field), list):
            continue
        kept = []
        for entry in entries:
            why = _mend_tool(entry, loose=loose) if field == "tools" else _mend_resource(entry, address)
            if why is None:
                kept.append(entry)
            else:
                left_out.append(_left_out(kind, address, entry, why))
        refused = _refused(result, field, method, kept, version)
        left_out += (_left_out(kind, address, kept[index], why) for index, why in refused.items())
        result[field] = [entry for index, entry in enumerate(kept) if index not in refused]
    return left_out


def _left_out(kind: str, address: str, entry: object, why: str) -> RejectedEntry:
    name = entry.get(address) if isinstance(entry, dict) else None
    return RejectedEntry(kind, name[:MAX_SHOWN] if isinstance(name, str) else "", why)


def _refused(result: Json, field: str, method: str, entries: list[Any], version: str | None) -> dict[int, str]:
    """Return the entries that the SDK would refuse the whole list for, by index, with the reason."""
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


def _mend_tool(tool: object, *, loose: bool) -> str | None:
    """Repair a tool; return why it cannot be offered, or None."""
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
    # A model provider refuses a request in which one tool has such a schema, in either era.
    if (wrong := _schema_problem(tool["inputSchema"])) is not None:
        return f"inputSchema.{wrong}"
    output = tool.get("outputSchema")
    if output is not None and not (
        (isinstance(output, dict) if loose else _is_of_object(output)) and _schema_problem(output) is None
    ):
        del tool["outputSchema"]
    execution = tool.get("execution")
    if execution is not None and not (
        isinstance(execution, dict) and execution.get("taskSupport", "optional") in _TASK_SUPPORT
    ):
        del tool["execution"]
    _mend_manners(tool)
    return None


def _schema_problem(schema: Json) -> str | None:
    """Return what makes a JSON Schema of an object unusable, or None."""
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


def _mend_resource(entry: object, address: str) -> str | None:
    """Repair a resource or a template; return why it cannot be offered, or None."""
    if not isinstance(entry, dict):
        return "entry: not an object"
    if not isinstance(entry.get(address), str):
        return f"{address}: missing or not a string"
    if not isinstance(entry.get("name"), str):
        entry["name"] = entry[address]
    _mend_manners(entry)
    return None


def _mend_manners(entry: Json) -> None:
    """Take out of an entry what is for show, where it is of another kind than it should be."""
    for name, kind in _KINDS.items():
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
