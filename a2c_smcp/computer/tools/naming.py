"""The names by which Agents call tools, so that two servers with a tool of one name both stay reachable. Pure.

A tool wants its alias, or else its own name. Servers are served in the order of the configuration; who comes later and
finds the name taken is listed under its qualified name, `server__tool`. Every tool has a qualified name, which can
always be called.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from a2c_smcp.types import SERVER_NAME, TOOL_NAME

MAX_ALIAS: Final = 128
"""The longest name MCP allows for a tool."""

MAX_QUALIFIED: Final = 64
"""The longest name that the common model APIs take."""

_UNSAFE = re.compile(r"[^A-Za-z0-9-]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

ProblemKind: TypeAlias = Literal["clash", "alias", "tool"]


@dataclass(frozen=True, slots=True)
class NameProblem:
    """Something about names that the owner of the Computer can mend.

    Attributes:
        kind: `clash`: several tools want one name. `alias`: an alias cannot be used. `tool`: what a server lists is
            not a tool that could be called.
        tool: The name in question.
        servers: Who is part of it, in the order of the configuration.
        problem: What is wrong, and what was done about it.
        advice: How to mend it.
    """

    kind: ProblemKind
    tool: TOOL_NAME
    servers: tuple[SERVER_NAME, ...]
    problem: str
    advice: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool of a server, and the alias it is configured with."""

    server: SERVER_NAME
    tool: TOOL_NAME
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """What a tool is called by: the name in the list, and the name that always works."""

    listed: str
    qualified: str


def name_tools(wishes: Sequence[Wish]) -> tuple[list[Named], list[NameProblem]]:
    """Return the names of each tool, in order, and what is to be said about them.

    Each (server, tool) must be there once.
    """
    problems: list[NameProblem] = []
    wanted = _wanted(wishes, problems)
    first: dict[str, int] = {}
    for index, name in enumerate(wanted):
        first.setdefault(name, index)
    qualified = _qualify(wishes, set(first))
    named = [
        Named(name if first[name] == index else qualified[index], qualified[index]) for index, name in enumerate(wanted)
    ]
    problems += _clashes(wishes, wanted, named)
    return named, problems


def qualified_name(server: SERVER_NAME, tool: TOOL_NAME) -> str:
    """Return the qualified name that a tool has unless it is taken or too long."""
    return f"{_slug(server)}__{tool}"


def _wanted(wishes: Sequence[Wish], problems: list[NameProblem]) -> list[str]:
    shared = Counter((wish.server, wish.alias) for wish in wishes)
    wanted, told = [], set()
    for wish in wishes:
        alias, fault = wish.alias, None
        if alias is not None:
            fault = _fault(alias, wish, shared[wish.server, alias])
        wanted.append(wish.tool if alias is None or fault is not None else alias)
        if fault is not None and (wish.server, alias) not in told:
            told.add((wish.server, alias))
            problems.append(fault)
    return wanted


def _fault(alias: str, wish: Wish, users: int) -> NameProblem | None:
    if why := _why_invalid(alias):
        return NameProblem(
            "alias",
            wish.tool,
            (wish.server,),
            f"Its alias {why}, and is not used.",
            f"Set another alias in tool_meta[{wish.tool!r}] of server {wish.server!r}.",
        )
    if users > 1:
        return NameProblem(
            "alias",
            alias,
            (wish.server,),
            f"{users} tools of server {wish.server!r} have this alias, and none of them uses it.",
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


def _qualify(wishes: Sequence[Wish], taken: set[str]) -> list[str]:
    qualified = []
    for wish in wishes:
        name = next(name for name in _qualified_names(wish) if name not in taken)
        taken.add(name)
        qualified.append(name)
    return qualified


def _qualified_names(wish: Wish) -> Iterator[str]:
    plain = qualified_name(wish.server, wish.tool)
    if len(plain) <= MAX_QUALIFIED:
        yield plain
    mark = _digest([wish.server, wish.tool])
    marked = f"{plain[: MAX_QUALIFIED - len(mark) - 1]}_{mark}"
    yield marked
    # Nobody comes here by chance, but a hostile server can choose the names of its tools.
    number = 2
    while True:
        ending = f"_{number}"
        yield f"{marked[: MAX_QUALIFIED - len(ending)]}{ending}"
        number += 1


def _slug(server: SERVER_NAME) -> str:
    """Return a server's name in letters that every model API takes in the name of a function."""
    return _UNSAFE.sub("_", server).strip("_") or f"server_{_digest([server])}"


def _digest(words: list[str]) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:8]


def _clashes(wishes: Sequence[Wish], wanted: list[str], named: list[Named]) -> list[NameProblem]:
    claims: defaultdict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(wanted):
        claims[name].append(index)
    return [_clash(name, [(wishes[i], named[i]) for i in indices]) for name, indices in claims.items() if indices[1:]]


def _clash(name: str, claims: list[tuple[Wish, Named]]) -> NameProblem:
    (owner, _), *others = claims
    moved = ", ".join(f"that of {wish.server!r} as {names.listed!r}" for wish, names in others)
    places = " or ".join(f"tool_meta[{wish.tool!r}] of server {wish.server!r}" for wish, _ in claims)
    return NameProblem(
        "clash",
        name,
        tuple(dict.fromkeys(wish.server for wish, _ in claims)),
        f"{len(claims)} tools want this name; the one of {owner.server!r} has it, {moved}.",
        f"Set an alias in {places}, or add the tool to forbidden_tools of a server.",
    )
