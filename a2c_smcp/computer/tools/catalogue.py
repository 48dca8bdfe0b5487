"""The tools of a Computer: what Agents see in the list, and where a name leads. Pure."""

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
"""The keys of `SMCPTool.meta` that only the Computer writes."""

NEAR: Final = 3
MAX_COMPARED: Final = 500
MAX_SHOWN: Final = 128
"""A name may be as long as a message; more of it than this helps nobody."""

_NOTHING: Final = ToolMeta()


@dataclass(frozen=True, slots=True)
class ServerTools:
    """An enabled server and the tools it listed, in MCP's JSON form.

    Attributes:
        up: Whether it runs. The tools of a server that is down are not listed, but keep their names: a call must not
            reach another server's tool because the first one is being restarted.
    """

    config: BaseMCPServerConfig
    tools: Sequence[Json]
    up: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """Where a name leads, and what is configured for the tool there.

    Attributes:
        tool: The name the server knows it by.
        listed: The name Agents see.
        qualified: The name that always works.
        definition: What the server says of the tool.
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
    """The tools of a Computer at one moment. Whoever is given `tools` reads it, and changes nothing in it."""

    tools: list[SMCPTool] = field(default_factory=list)
    problems: tuple[NameProblem, ...] = ()
    routes: Mapping[str, Route] = field(default_factory=dict)
    forbidden: Mapping[str, SERVER_NAME] = field(default_factory=dict)
    renamed: Mapping[TOOL_NAME, list[str]] = field(default_factory=dict)
    registry: NameRegistry | None = field(default=None, compare=False, repr=False)

    def resolve(self, name: str) -> Route:
        """Return where `name`, listed or qualified, leads.

        Raises:
            ToolDisabled: It is the name, alias or qualified name of a forbidden tool.
            ToolNotFound: No enabled server has such a tool; the details name similar ones.
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
        """Return listed names that somebody who asked for `name` may have meant.

        A name that belongs to a server is never answered with a tool of another one.
        """
        owner = self.registry.owner(name) if self.registry is not None else None
        offered = [tool for tool in self.tools if owner is None or tool["bundle_id"] == owner]
        listed = [tool["name"] for tool in offered[:MAX_COMPARED]]
        renamed = [one for one in self.renamed.get(name, []) if owner is None or one in listed]
        return list(dict.fromkeys([*renamed, *get_close_matches(name, listed, NEAR)]))[:NEAR]


def build_tool_catalogue(servers: Sequence[ServerTools], registry: NameRegistry | None = None) -> ToolCatalogue:
    """Return the catalogue of these servers, which are given in the order of the configuration.

    Args:
        registry: The names that were given before; it remembers those that are given now.
    """
    problems: list[NameProblem] = []
    forbidden = _configured_as_forbidden(servers)
    entries = []
    for server in servers:
        for tool in _callable_tools(server, problems):
            meta = server.config.meta_of(tool["name"])
            # An owner who writes an alias into forbidden_tools means the tool behind it.
            if meta is not None and meta.alias in server.config.forbidden_tools:
                for name in (tool["name"], qualified_name(server.config.name, tool["name"])):
                    forbidden.setdefault(name, server.config.name)
            elif tool["name"] not in server.config.forbidden_tools:
                entries.append(_NamedTool(server, tool, meta))
    named, clashes = name_tools([entry.wish for entry in entries], registry)
    tools, renamed = [], dict[TOOL_NAME, list[str]]()
    routes: dict[str, Route] = {}
    # Most tools share the default meta of their server; each is written out once.
    texts = {key: meta_text(meta) for key, meta in {id(entry.meta): entry.meta for entry in entries}.items()}
    for entry, names in zip(entries, named, strict=True):
        routes[names.listed] = routes[names.qualified] = entry.route(names)
        if entry.server.up:
            tools.append(smcp_tool(entry.server.config.name, entry.tool, names.listed, texts[id(entry.meta)]))
            if names.listed != entry.wish.tool:
                renamed.setdefault(entry.wish.tool, []).append(names.listed)
    return ToolCatalogue(tools, (*problems, *clashes), routes, forbidden, renamed, registry)


@dataclass(frozen=True, slots=True)
class _NamedTool:
    server: ServerTools
    tool: Json
    meta: ToolMeta | None

    @property
    def wish(self) -> NameRequest:
        return NameRequest(self.server.config.name, self.tool["name"], self.meta.alias if self.meta else None)

    def route(self, names: ToolNames) -> Route:
        config = self.server.config
        return Route(
            config.name,
            self.tool["name"],
            names.listed,
            names.qualified,
            config,
            self.meta or _NOTHING,
            Definition(self.tool),
        )


def _callable_tools(server: ServerTools, problems: list[NameProblem]) -> Iterable[Json]:
    """Yield each tool of a server that has a name of its own; tell of the others."""
    seen = set()
    for tool in server.tools:
        name, advice = tool.get("name"), "Tell the author of the server."
        if not isinstance(name, str) or not name:
            what = "The server lists a tool without a name, which nobody can call."
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
    """Whether a plain call of the tool is refused by its MCP server."""
    execution = tool.get("execution")
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def _configured_as_forbidden(servers: Sequence[ServerTools]) -> dict[str, SERVER_NAME]:
    # From the configuration alone: a tool stays forbidden while its server is down.
    names: dict[str, SERVER_NAME] = {}
    for server in servers:
        for tool in server.config.forbidden_tools:
            meta = server.config.meta_of(tool)
            for name in (tool, qualified_name(server.config.name, tool), meta.alias if meta else None):
                if name is not None:
                    names.setdefault(name, server.config.name)
    return names


def reserved_aliases(configs: Iterable[BaseMCPServerConfig]) -> Iterable[NameRequest]:
    """Yield each alias that the owner chose for one tool of an enabled server."""
    for config in configs:
        for tool, meta in config.tool_meta.items():
            if meta.alias is not None and not config.disabled and not {tool, meta.alias} & set(config.forbidden_tools):
                yield NameRequest(config.name, tool, meta.alias)


def smcp_tool(server: SERVER_NAME, tool: Json, name: str, a2c_meta: str | None) -> SMCPTool:
    """Return a tool of MCP in the form that Agents read, under the name to call it by."""
    schema, output = tool.get("inputSchema"), tool.get("outputSchema")
    found: SMCPTool = {
        "name": name,
        "description": _first_text(tool.get("description"), tool.get("title")),
        "params_schema": schema if isinstance(schema, dict) else {"type": "object"},
        "return_schema": output if isinstance(output, dict) else None,
        "meta": attributes_of(a2c_meta, tool.get("annotations"), tool.get("_meta")),
        "bundle_id": server,
    }
    # MCP's own fields, where the server has them.
    if isinstance(title := tool.get("title"), str):
        found["title"] = title
    if isinstance(icons := tool.get("icons"), list) and icons:
        found["icons"] = icons
    if isinstance(execution := tool.get("execution"), dict) and execution:
        found["execution"] = execution
    return found


def meta_text(meta: ToolMeta | None) -> str | None:
    """Return what is configured for a tool as the text that Agents read, or None where nothing is."""
    return None if meta is None or all(value is None for _, value in meta) else meta.to_json()


def attributes_of(a2c_meta: str | None, annotations: object, own: object) -> Attributes:
    """Return `SMCPTool.meta`: A2C's own, MCP's annotations and the server's `_meta`, each under its keys.

    A server cannot write the keys of A2C, not even where A2C has nothing to write.
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
