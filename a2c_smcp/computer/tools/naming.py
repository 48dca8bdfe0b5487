"""Assigns the names by which Agents call tools. Pure; `NameRegistry` keeps the assignments while the process runs.

A tool requests its alias, or else its own name. Its qualified name `server__tool` is always valid.

- The first tool that gets a name keeps it, even while its server is down, restarted, disabled or removed. A tool that
  requests a taken name is listed under its qualified name.
- Every `server__` prefix belongs to the server of that name, running or not.
- A name that looks like a name of another server counts as the same name.
- An alias is the owner's choice: it is reserved for its tool before any server lists its tools.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.common.lookalikes import skeleton
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

MAX_ALIAS: Final = 128
"""The longest tool name that MCP allows."""

MAX_QUALIFIED: Final = 64
"""The longest tool name that the common model APIs accept."""

MAX_HELD: Final = 10_000
"""The most names that a server can hold; beyond that its oldest unused names are freed."""

_BETWEEN: Final = "__"
_MAX_SLUG: Final = 40
_UNSAFE = re.compile(r"[^A-Za-z0-9-]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

ProblemKind: TypeAlias = Literal["clash", "reserved", "alias", "tool"]


@dataclass(frozen=True, slots=True)
class NameProblem:
    """A problem with names that the owner of the Computer can fix.

    Attributes:
        kind: `clash`: several tools request the same name, or names that look alike. `reserved`: a tool's name begins
            with the prefix of another server. `alias`: an alias cannot be used. `tool`: a listed tool cannot be called.
        tool: The name in question.
        servers: The servers involved; the one that holds the name or prefix comes first.
        problem: What is wrong, and the consequence.
        advice: How to fix it.
    """

    kind: ProblemKind
    tool: TOOL_NAME
    servers: tuple[SERVER_NAME, ...]
    problem: str
    advice: str


@dataclass(frozen=True, slots=True)
class NameRequest:
    """A tool of a server, and its configured alias."""

    server: SERVER_NAME
    tool: TOOL_NAME
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of a tool: the listed one, and the qualified one."""

    listed: str
    qualified: str


class NameHolder(NamedTuple):
    """The tool that a name belongs to."""

    server: SERVER_NAME
    tool: TOOL_NAME


class NameRegistry:
    """The assignment of names to tools and of prefixes to servers while the process runs."""

    def __init__(self) -> None:
        self._holders: dict[str, NameHolder] = {}
        self._by_look: dict[str, str] = {}
        self._names: defaultdict[SERVER_NAME, dict[str, None]] = defaultdict(dict)
        self._prefixes: defaultdict[str, list[SERVER_NAME]] = defaultdict(list)
        self._configured: set[SERVER_NAME] = set()

    def configure(self, servers: Iterable[SERVER_NAME], aliases: Iterable[NameRequest] = ()) -> None:
        """Reserve the prefix of each configured server and the aliases of the enabled ones.

        A prefix takes precedence over a name that another server got before this one was configured.
        """
        self._configured = set(servers)
        self.reserve(self._configured)
        wanted = [request for request in aliases if request.alias is not None and _why_invalid(request.alias) is None]
        shared = Counter((request.server, request.alias) for request in wanted)
        for request in wanted:
            if request.alias is not None and shared[request.server, request.alias] == 1:
                self.claim(request.alias, NameHolder(request.server, request.tool), by_owner=True)

    def reserve(self, servers: Iterable[SERVER_NAME]) -> None:
        """Reserve the prefix of each server."""
        for server in servers:
            for look in {skeleton(_slug(server)), skeleton(server)} - {""}:
                if server not in self._prefixes[look]:
                    self._prefixes[look].append(server)
                    self._free_foreign(look)

    def reserved_for(self, name: str, server: SERVER_NAME) -> SERVER_NAME | None:
        """Return the server whose prefix `name` begins with, unless that is `server` itself."""
        look = skeleton(name)
        at = look.find(_BETWEEN)
        while at >= 0:
            owners = self._prefixes.get(look[:at])
            if owners:
                return None if server in owners else owners[0]
            at = look.find(_BETWEEN, at + 1)
        return None

    def owner(self, name: str) -> SERVER_NAME | None:
        """Return the server that a name belongs to, by its tool or by its prefix."""
        holder = self.holder(name)
        return self.reserved_for(name, "") if holder is None else holder.server

    def holder(self, name: str) -> NameHolder | None:
        """Return the tool that holds a name, or one that looks like it."""
        held = self.held_name(name)
        return None if held is None else self._holders[held]

    def held_name(self, name: str) -> str | None:
        """Return `name` if a tool holds it, else the held name that looks like it."""
        return name if name in self._holders else self._by_look.get(skeleton(name))

    def claim(self, name: str, tool: NameHolder, *, by_owner: bool = False) -> bool:
        """Assign a name to a tool if it is free; return whether the tool has it now.

        Args:
            by_owner: The owner configured the name; it is also taken from a server that is no longer configured.
        """
        if self.reserved_for(name, tool.server) is not None:
            return False
        held = self.holder(name)
        if held is not None and held != tool and by_owner and held.server not in self._configured:
            self._free(self.held_name(name) or name)
            held = self.holder(name)
        # Names of one server may look alike: the server controls both tools anyway.
        if held is not None and held != tool and (held.server != tool.server or name in self._holders):
            return False
        if name not in self._holders:
            self._holders[name] = tool
            self._by_look.setdefault(skeleton(name), name)
        names = self._names[tool.server]
        names.pop(name, None)
        names[name] = None
        return True

    def trim(self, used: Iterable[str]) -> None:
        """Free the oldest unused names of servers that hold too many."""
        crowded = [names for names in self._names.values() if len(names) > MAX_HELD]
        kept = set(used) if crowded else set()
        for names in crowded:
            for name in [name for name in names if name not in kept][: len(names) - MAX_HELD]:
                self._free(name)

    def _free_foreign(self, look: str) -> None:
        prefix = look + _BETWEEN
        for name, tool in list(self._holders.items()):
            if skeleton(name).startswith(prefix) and self.reserved_for(name, tool.server) is not None:
                self._free(name)

    def _free(self, name: str) -> None:
        tool = self._holders.pop(name)
        self._names[tool.server].pop(name, None)
        look = skeleton(name)
        if self._by_look.get(look) == name:
            del self._by_look[look]
            others = (other for other in self._names[tool.server] if skeleton(other) == look)
            if (other := next(others, None)) is not None:
                self._by_look[look] = other


def name_tools(
    requests: Sequence[NameRequest], registry: NameRegistry | None = None
) -> tuple[list[ToolNames], list[NameProblem]]:
    """Return the names of each tool, in order, and the problems.

    Each (server, tool) must occur once.

    Args:
        registry: The names assigned so far; new assignments are added to it.
    """
    registry = NameRegistry() if registry is None else registry
    registry.reserve(dict.fromkeys(request.server for request in requests))
    problems: list[NameProblem] = []
    wanted = _wanted(requests, registry, problems)
    tools = [NameHolder(request.server, request.tool) for request in requests]
    qualified = [_qualify(tool, registry) for tool in tools]
    # Aliases, the owner's choice, come before the names that servers chose.
    order = sorted(range(len(requests)), key=lambda index: wanted[index] != requests[index].alias)
    has_it = {index: registry.claim(wanted[index], tools[index]) for index in order}
    named = [ToolNames(wanted[i] if has_it[i] else qualified[i], qualified[i]) for i in range(len(requests))]
    registry.trim(name for names in named for name in (names.listed, names.qualified))
    problems += _refused(requests, wanted, named, registry)
    return named, problems


def qualified_name(server: SERVER_NAME, tool: TOOL_NAME) -> str:
    """Return the regular qualified name of a tool; it may be taken or too long."""
    return f"{_slug(server)}{_BETWEEN}{tool}"


def _wanted(requests: Sequence[NameRequest], registry: NameRegistry, problems: list[NameProblem]) -> list[str]:
    shared = Counter((request.server, request.alias) for request in requests)
    wanted, reported = [], set()
    for request in requests:
        alias, fault = request.alias, None
        if alias is not None:
            fault = _fault(alias, request, shared[request.server, alias], registry.reserved_for(alias, request.server))
        wanted.append(request.tool if alias is None or fault is not None else alias)
        if fault is not None and (request.server, alias) not in reported:
            reported.add((request.server, alias))
            problems.append(fault)
    return wanted


def _fault(alias: str, request: NameRequest, users: int, reserved: SERVER_NAME | None) -> NameProblem | None:
    why = _why_invalid(alias) or (f"begins with the prefix of server {reserved!r}" if reserved is not None else None)
    if why is not None:
        return NameProblem(
            "alias",
            request.tool,
            (request.server,),
            f"Its alias {why}, and is not used.",
            f"Set another alias in tool_meta[{request.tool!r}] of server {request.server!r}.",
        )
    if users > 1:
        return NameProblem(
            "alias",
            alias,
            (request.server,),
            f"{users} tools of server {request.server!r} have this alias, and none of them uses it.",
            "Set a different alias for each tool in tool_meta, and none in default_tool_meta.",
        )
    return None


def _why_invalid(alias: str) -> str | None:
    if len(alias) > MAX_ALIAS:
        return f"is longer than {MAX_ALIAS} characters"
    if not alias or alias != alias.strip():
        return "is empty or has blanks around it"
    if _UNPRINTABLE.search(alias):
        return "has characters in it that cannot be printed"
    return None


def _qualify(tool: NameHolder, registry: NameRegistry) -> str:
    return next(name for name in _qualified_names(tool) if registry.claim(name, tool))


def _qualified_names(request: NameHolder) -> Iterator[str]:
    plain = qualified_name(request.server, request.tool)
    if len(plain) <= MAX_QUALIFIED:
        yield plain
    mark = _digest([request.server, request.tool])
    marked = f"{plain[: MAX_QUALIFIED - len(mark) - 1]}_{mark}"
    yield marked
    # Only reached if a hostile server chooses its tool names for a collision.
    number = 2
    while True:
        ending = f"_{number}"
        yield f"{marked[: MAX_QUALIFIED - len(ending)]}{ending}"
        number += 1


def _slug(server: SERVER_NAME) -> str:
    """Return a server's name in characters that every model API accepts in a function name.

    It has no double underscore, so that the first one of a qualified name ends the prefix.
    """
    slug = _UNSAFE.sub("_", server).strip("_") or f"server_{_digest([server])}"
    return slug if len(slug) <= _MAX_SLUG else f"{slug[: _MAX_SLUG - 9].rstrip('_')}_{_digest([server])}"


def _digest(words: list[str]) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:8]


def _refused(
    requests: Sequence[NameRequest], wanted: list[str], named: list[ToolNames], registry: NameRegistry
) -> list[NameProblem]:
    """Return a problem for each requested name that a tool did not get."""
    losers: defaultdict[str, list[tuple[NameRequest, ToolNames]]] = defaultdict(list)
    for request, name, names in zip(requests, wanted, named, strict=True):
        if names.listed != name:
            losers[name].append((request, names))
    listed = {
        NameHolder(request.server, request.tool): (request, names)
        for request, names in zip(requests, named, strict=True)
    }
    problems = []
    for name, claims in losers.items():
        holder, reserved = registry.holder(name), registry.reserved_for(name, claims[0][0].server)
        if reserved is not None:
            problems.append(_reserved(name, reserved, claims))
        elif holder is not None:
            winner = listed.get(holder)
            is_listed = winner is not None and name in (winner[1].listed, winner[1].qualified)
            held = registry.held_name(name) or name
            problems.append(
                _clash(name, [winner, *claims]) if winner and is_listed else _held(name, held, holder, claims)
            )
    return problems


def _clash(name: str, claims: list[tuple[NameRequest, ToolNames]]) -> NameProblem:
    (owner, _), *others = claims
    return NameProblem(
        "clash",
        name,
        _servers(owner.server, others),
        f"{len(claims)} tools have this name; the one of {owner.server!r} keeps it, {_moved(others)}.",
        f"Set an alias in {_places(claims)}, or add the tool to forbidden_tools of a server.",
    )


def _held(name: str, held: str, holder: NameHolder, claims: list[tuple[NameRequest, ToolNames]]) -> NameProblem:
    """Return the problem for a name whose holder is not listed, or that looks like a held name."""
    whose = f"belongs to the tool {holder.tool!r} of {holder.server!r} until the Computer stops"
    return NameProblem(
        "clash",
        name,
        _servers(holder.server, claims),
        f"{f'This name {whose}' if held == name else f'It looks like {held!r}, which {whose}'}; {_moved(claims)}.",
        f"Set an alias in {_places(claims)}, or add the tool to forbidden_tools of a server.",
    )


def _reserved(name: str, server: SERVER_NAME, claims: list[tuple[NameRequest, ToolNames]]) -> NameProblem:
    return NameProblem(
        "reserved",
        name,
        _servers(server, claims),
        f"Names that begin like this belong to server {server!r}; {_moved(claims)}.",
        f"Set an alias in {_places(claims)}, or add the tool to forbidden_tools of its server.",
    )


def _servers(first: SERVER_NAME, claims: list[tuple[NameRequest, ToolNames]]) -> tuple[SERVER_NAME, ...]:
    return tuple(dict.fromkeys([first, *(request.server for request, _ in claims)]))


def _moved(claims: list[tuple[NameRequest, ToolNames]]) -> str:
    return ", ".join(f"that of {request.server!r} as {names.listed!r}" for request, names in claims)


def _places(claims: list[tuple[NameRequest, ToolNames]]) -> str:
    return " or ".join(f"tool_meta[{request.tool!r}] of server {request.server!r}" for request, _ in claims)
