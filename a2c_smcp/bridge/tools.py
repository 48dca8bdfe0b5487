"""The tools of an office in MCP's form, and which Computer a name leads to. Pure."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from a2c_smcp.agent.adapters.names import NAME, NamedTool, name_tools
from a2c_smcp.errors import ToolNotFound
from a2c_smcp.smcp import SMCPTool
from a2c_smcp.validation import error_words

log = logging.getLogger(__name__)

COMPUTER: Final = "a2c/computer"
TOOL: Final = "a2c/tool"
MCP_SERVER: Final = "a2c/mcp_server"
"""The keys of a tool's `_meta` that say where it is, and what it is called there."""

ANNOTATIONS: Final = "MCP_TOOL_ANNOTATION"
A2C: Final = "a2c_tool_meta"
STRICTEST: Final = "2025-11-25"
"""The revision of MCP that demands most of a tool."""

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class OfficeTools:
    """The tools of every Computer of an office, by the names under which clients see them.

    Args:
        tools: By Computer.
        plain: Whether a tool that only one Computer has is listed under its own name.
        reserved: Names that are taken.
    """

    def __init__(
        self, tools: Mapping[str, Sequence[SMCPTool]], *, plain: bool = False, reserved: Collection[str] = ()
    ) -> None:
        named = name_tools(tools, reserved)
        self.listed: Mapping[str, NamedTool] = _plain(named, reserved) if plain else named
        self._all = {**named, **self.listed}

    def find(self, name: str) -> NamedTool:
        """Return where a name leads.

        Raises:
            ToolNotFound: Nowhere; the details name tools that are called so on some Computer.
        """
        found = self._all.get(name)
        if found is not None:
            return found
        near = sorted(listed for listed, one in self.listed.items() if one.tool["name"] == name)[:10]
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ToolNotFound(f"There is no tool {name[:128]!r} in this office{hint}", details={"near": near})

    @cached_property
    def in_mcp(self) -> Sequence[dict[str, Any]]:
        """Every tool as `tools/list` gives it, without those that cannot be called, or described in MCP."""
        found = [in_mcp(name, one) for name, one in self.listed.items() if not _runs_only_as_task(one.tool)]
        try:
            validate_server_result("tools/list", STRICTEST, {"tools": found})
        except ValidationError as problem:
            # One tool that MCP does not allow would make the whole list unreadable.
            odd: dict[int, str] = {}
            for error in problem.errors(include_url=False, include_input=False):
                match error["loc"]:
                    case ("tools", int(index), *place):
                        odd.setdefault(index, f"{'.'.join(map(str, place))} {error_words(error)}")
            for index, why in odd.items():
                log.warning("tool left out name=%s why=%s", found[index]["name"], why)
            found = [tool for index, tool in enumerate(found) if index not in odd]
        return found


def _plain(named: Mapping[str, NamedTool], reserved: Collection[str]) -> dict[str, NamedTool]:
    owners = Counter(one.tool["name"] for one in named.values())
    taken = {*named, *reserved}
    found = {}
    for name, one in named.items():
        own = one.tool["name"]
        is_free = owners[own] == 1 and NAME.fullmatch(own) is not None and own not in taken
        found[own if is_free else name] = one
    return found


def in_mcp(name: str, named: NamedTool) -> dict[str, Any]:
    """Return a tool in MCP's JSON form: title, annotations and schemas are those of its MCP server."""
    tool, own = named.tool, dict(named.tool.get("meta") or {})
    annotations = _annotations(own.pop(ANNOTATIONS, None))
    title = tool.get("title") or annotations.get("title")
    says = tool["description"] or tool["name"]
    objects = {key: value if key == A2C else _as_it_was(value) for key, value in own.items()}
    meta = objects | {COMPUTER: named.computer, TOOL: tool["name"]}
    if server := tool.get("bundle_id"):
        meta[MCP_SERVER] = server
    found: dict[str, Any] = {
        "name": name,
        # A name that had to be shortened may not say where the tool is.
        "description": says if name.startswith(f"{named.computer}__") else f"[{named.computer}] {says}",
        "inputSchema": _input_schema(tool["params_schema"]),
        "_meta": meta,
    }
    if isinstance(title, str):
        found["title"] = title
    if annotations:
        found["annotations"] = annotations
    if icons := tool.get("icons"):
        found["icons"] = icons
    if execution := tool.get("execution"):
        found["execution"] = execution
    output = tool.get("return_schema")
    if isinstance(output, Mapping) and output.get("type") == "object":
        found["outputSchema"] = output
    return found


def _input_schema(schema: Any) -> Any:
    # One schema that MCP does not allow would make the whole list unreadable.
    if isinstance(schema, Mapping) and schema.get("type") == "object":
        return schema
    return {**schema, "type": "object"} if isinstance(schema, Mapping) else {"type": "object"}


def _runs_only_as_task(tool: SMCPTool) -> bool:
    # The bridge starts no tasks.
    return (tool.get("execution") or {}).get("taskSupport") == "required"


def _as_it_was(value: Any) -> Any:
    """Return a value of `meta` as its MCP server wrote it: objects and lists travel as JSON strings."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _annotations(text: Any) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return {}
    title = {"title": found["title"]} if isinstance(found.get("title"), str) else {}
    return title | {hint: found[hint] for hint in _HINTS if isinstance(found.get(hint), bool)}
