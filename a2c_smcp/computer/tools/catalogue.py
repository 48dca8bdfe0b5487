"""The tool catalogue: the list that Agents see, and the resolution of tool names. Pure."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from a2c_smcp.computer.config.models import BaseMCPServerConfig, ToolMeta
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.definition import Definition
from a2c_smcp.computer.tools.naming import NameProblem, NameRegistry, NameRequest, ToolNames, name_tools, qualified_name
from a2c_smcp.errors import ToolDisabled, ToolNotFound
from a2c_smcp.messages import SMCPTool
from a2c_smcp.types import SERVER_NAME, TOOL_NAME, Attributes, AttributeValue

A2C_TOOL_META: Final = "a2c_tool_meta"
MCP_TOOL_ANNOTATION: Final = "MCP_TOOL_ANNOTATION"
RESERVED: Final = frozenset({A2C_TOOL_META, MCP_TOOL_ANNOTATION})
"""The keys of `SMCPTool.meta` that only the Computer may set."""

MAX_SUGGESTIONS: Final = 3
MAX_COMPARED: Final = 500
MAX_SHOWN: Final = 128
"""The most characters of a tool name in an error: a name may be as long as a message."""

_NO_META: Final = ToolMeta()


@dataclass(frozen=True, slots=True)
class ServerTools:
    """An enabled server and the tools it listed, in MCP's JSON form.

    Attributes:
        up: Whether the server is running. The tools of a server that is down are not listed but keep their names: a
            call must not reach another server's tool during a restart.
    """

    config: BaseMCPServerConfig
    tools: Sequence[Json]
    up: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """The tool that a name resolves to, with its configuration.

    Attributes:
        tool: The server's own name of the tool.
        listed: The name that Agents see.
        qualified: The name `server__tool`, which is always valid.
        definition: The server's definition of the tool.
    """

    server: SERVER_NAME
    tool: TOOL_NAME
    listed: str
    qualified: str
    config: BaseMCPServerConfig
    meta: ToolMeta
    definition: Definition = field(default_factory=Definition, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolCatalogue:
    """A snapshot of the tools of a Computer. Callers must not modify `tools`."""

    tools: list[SMCPTool] = field(default_factory=list)
    problems: tuple[NameProblem, ...] = ()
    routes: Mapping[str, Route] = field(default_factory=dict)
    forbidden: Mapping[str, SERVER_NAME] = field(default_factory=dict)
    renamed: Mapping[TOOL_NAME, list[str]] = field(default_factory=dict)
    registry: NameRegistry | None = field(default=None, compare=False, repr=False)

    def resolve(self, name: str) -> Route:
        """Return the tool of a listed or qualified name.

        Raises:
            ToolDisabled: It is the name, alias or qualified name of a forbidden tool.
            ToolNotFound: No enabled server has such a tool; the details contain similar names.
        """
        route = self.routes.get(name)
        if route is not None:
            return route
        server = self.forbidden.get(name)
        name = name[:MAX_SHOWN]
        if server is not None:
            raise ToolDisabled(
                f"The tool {name!r} is forbidden by the configuration of this Computer",
                details={"tool_name": name, "mcp_server": server},
            )
        near = self.near(name)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ToolNotFound(f"There is no tool {name!r}{hint}", details={"tool_name": name, "near": near})

    def near(self, name: str) -> list[str]:
        """Return listed names that are similar to `name`.

        For a name that belongs to a server, only tools of that server are suggested.
        """
        owner = self.registry.owner(name) if self.registry is not None else None
        offered = [tool for tool in self.tools if owner is None or tool["bundle_id"] == owner]
        listed = [tool["name"] for tool in offered[:MAX_COMPARED]]
        renamed = [one for one in self.renamed.get(name, []) if owner is None or one in listed]
        return list(dict.fromkeys([*renamed, *get_close_matches(name, listed, MAX_SUGGESTIONS)]))[:MAX_SUGGESTIONS]


def build_tool_catalogue(servers: Sequence[ServerTools], registry: NameRegistry | None = None) -> ToolCatalogue:
    """Return the catalogue of these servers, in the order of the configuration.

    Args:
        registry: The names assigned so far; new assignments are added to it.
    """
    problems: list[NameProblem] = []
    forbidden = _configured_as_forbidden(servers)
    entries = []
    for server in servers:
        for tool in _callable_tools(server, problems):
            meta = server.config.meta_of(tool["name"])
            # An alias in forbidden_tools means the tool with that alias.
            if meta is not None and meta.alias in server.config.forbidden_tools:
                for name in (tool["name"], qualified_name(server.config.name, tool["name"])):
                    forbidden.setdefault(name, server.config.name)
            elif tool["name"] not in server.config.forbidden_tools:
                entries.append(_NamedTool(server, tool, meta))
    named, clashes = name_tools([entry.request for entry in entries], registry)
    tools, renamed = [], dict[TOOL_NAME, list[str]]()
    routes: dict[str, Route] = {}
    # Most tools share the default meta of their server, so each is encoded once.
    texts = {key: meta_text(meta) for key, meta in {id(entry.meta): entry.meta for entry in entries}.items()}
    for entry, names in zip(entries, named, strict=True):
        routes[names.listed] = routes[names.qualified] = entry.route(names)
        if entry.server.up:
            tools.append(smcp_tool(entry.server.config.name, entry.tool, names.listed, texts[id(entry.meta)]))
            if names.listed != entry.request.tool:
                renamed.setdefault(entry.request.tool, []).append(names.listed)
    return ToolCatalogue(tools, (*problems, *clashes), routes, forbidden, renamed, registry)


@dataclass(frozen=True, slots=True)
class _NamedTool:
    server: ServerTools
    tool: Json
    meta: ToolMeta | None

    @property
    def request(self) -> NameRequest:
        return NameRequest(self.server.config.name, self.tool["name"], self.meta.alias if self.meta else None)

    def route(self, names: ToolNames) -> Route:
        config = self.server.config
        return Route(
            config.name,
            self.tool["name"],
            names.listed,
            names.qualified,
            config,
            self.meta or _NO_META,
            Definition(self.tool),
        )


def _callable_tools(server: ServerTools, problems: list[NameProblem]) -> Iterable[Json]:
    """Yield each tool of a server with a unique name; add a problem for the others."""
    seen = set()
    for tool in server.tools:
        name, advice = tool.get("name"), "Report it to the author of the server."
        if not isinstance(name, str) or not name:
            what = "The server lists a tool without a name, which cannot be called."
        elif name in seen:
            what = "The server lists this name more than once; the first tool of that name is offered."
        elif runs_only_as_task(tool):
            seen.add(name)
            what = "The tool runs only as an MCP task, which this Computer cannot start; it is not offered."
            advice = "Ask the author of the server to make task support optional."
        else:
            seen.add(name)
            yield tool
            continue
        shown = name if isinstance(name, str) else ""
        problem = NameProblem("tool", shown, (server.config.name,), what, advice)
        if problem not in problems:
            problems.append(problem)


def runs_only_as_task(tool: Json) -> bool:
    """Whether the MCP server refuses a plain call of the tool."""
    execution = tool.get("execution")
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def _configured_as_forbidden(servers: Sequence[ServerTools]) -> dict[str, SERVER_NAME]:
    # From the configuration only, so that a tool stays forbidden while its server is down.
    names: dict[str, SERVER_NAME] = {}
    for server in servers:
        for tool in server.config.forbidden_tools:
            meta = server.config.meta_of(tool)
            for name in (tool, qualified_name(server.config.name, tool), meta.alias if meta else None):
                if name is not None:
                    names.setdefault(name, server.config.name)
    return names


def reserved_aliases(configs: Iterable[BaseMCPServerConfig]) -> Iterable[NameRequest]:
    """Yield each alias that the owner configured for a single tool of an enabled server."""
    for config in configs:
        for tool, meta in config.tool_meta.items():
            if meta.alias is not None and not config.disabled and not {tool, meta.alias} & set(config.forbidden_tools):
                yield NameRequest(config.name, tool, meta.alias)


def smcp_tool(server: SERVER_NAME, tool: Json, name: str, a2c_meta: str | None) -> SMCPTool:
    """Return an MCP tool as an `SMCPTool` with its listed name."""
    schema, output = tool.get("inputSchema"), tool.get("outputSchema")
    found: SMCPTool = {
        "name": name,
        "description": _first_text(tool.get("description"), tool.get("title")),
        "params_schema": schema if isinstance(schema, dict) else {"type": "object"},
        "return_schema": output if isinstance(output, dict) else None,
        "meta": attributes_of(a2c_meta, tool.get("annotations"), tool.get("_meta")),
        "bundle_id": server,
    }
    # Optional fields of MCP.
    if isinstance(title := tool.get("title"), str):
        found["title"] = title
    if isinstance(icons := tool.get("icons"), list) and icons:
        found["icons"] = icons
    if isinstance(execution := tool.get("execution"), dict) and execution:
        found["execution"] = execution
    return found


def meta_text(meta: ToolMeta | None) -> str | None:
    """Return the configuration of a tool as the JSON string that Agents read; None if nothing is configured."""
    return None if meta is None or all(value is None for _, value in meta) else meta.to_json()


def attributes_of(a2c_meta: str | None, annotations: object, own: object) -> Attributes:
    """Return `SMCPTool.meta`: A2C's settings, MCP's annotations and the server's `_meta`.

    A server cannot set A2C's keys, even if A2C does not set them.
    """
    attributes: Attributes = {}
    if a2c_meta is not None:
        attributes[A2C_TOOL_META] = a2c_meta
    if isinstance(annotations, dict) and annotations:
        attributes[MCP_TOOL_ANNOTATION] = json.dumps(annotations)
    if isinstance(own, dict):
        attributes |= {key: _simple(value) for key, value in own.items() if key not in RESERVED}
    return attributes


def _simple(value: Any) -> AttributeValue:
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return json.dumps(value)


def _first_text(*texts: object) -> str:
    return next((text for text in texts if isinstance(text, str) and text), "")
