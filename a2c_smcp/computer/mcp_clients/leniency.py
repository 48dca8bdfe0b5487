"""Lists in which an entry breaks a rule of the protocol: mended, so that one tool does not hide all the others. Pure.

The SDK refuses such a list as a whole. Many servers, though, leave out the type of a schema, or the name of a resource.
"""

from collections.abc import Callable, Mapping
from typing import Final

from a2c_smcp.computer.ports import Json

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
_TASK_SUPPORT: Final = ("forbidden", "optional", "required")


def mend(result: Json) -> None:
    """Make every entry of a list pass, and leave out those with which nothing can be done; other results stay."""
    if isinstance(tools := result.get("tools"), list):
        # Only the newer era knows results that are no objects.
        loose = "resultType" in result
        result["tools"] = [entry for entry in tools if _is_named(entry) and _mend_tool(entry, loose=loose)]
    for key, address in (("resources", "uri"), ("resourceTemplates", "uriTemplate")):
        if isinstance(entries := result.get(key), list):
            result[key] = [entry for entry in entries if _mend_resource(entry, address)]


def _is_named(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _mend_tool(tool: Json, *, loose: bool) -> bool:
    schema = tool.get("inputSchema")
    if not _is_of_object(schema):
        known = schema if isinstance(schema, dict) else {}
        tool["inputSchema"] = {key: value for key, value in known.items() if key != "properties"} | {"type": OBJECT}
        if isinstance(known.get("properties"), dict):
            tool["inputSchema"]["properties"] = known["properties"]
    output = tool.get("outputSchema")
    if output is not None and not (isinstance(output, dict) if loose else _is_of_object(output)):
        del tool["outputSchema"]
    execution = tool.get("execution")
    if execution is not None and not (
        isinstance(execution, dict) and execution.get("taskSupport", "optional") in _TASK_SUPPORT
    ):
        del tool["execution"]
    _mend_manners(tool)
    return True


def _mend_resource(entry: object, address: str) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get(address), str):
        return False
    if not isinstance(entry.get("name"), str):
        entry["name"] = entry[address]
    _mend_manners(entry)
    return True


def _mend_manners(entry: Json) -> None:
    """Take out of an entry what is for show, where it is of another kind than it should be."""
    for name, kind in _KINDS.items():
        if entry.get(name) is not None and not isinstance(entry[name], kind):
            del entry[name]
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
    "audience": lambda value: isinstance(value, list),
    "priority": _is_share,
}
