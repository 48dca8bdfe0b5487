"""The list of tools, kept until a server's tools change."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from a2c_smcp.computer.config.models import BaseMCPServerConfig
from a2c_smcp.computer.ports import Json, McpSessions, ServerState
from a2c_smcp.computer.tools.catalogue import Route, ServerTools, ToolCatalogue, build_tool_catalogue, reserved_aliases
from a2c_smcp.computer.tools.naming import NameProblem, NameRegistry
from a2c_smcp.errors import SMCPError, ToolNotFound, ToolStarting
from a2c_smcp.messages import SMCPTool
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND: Final = -32601
RETRY_SHORTEST: Final = 0.5
RETRY_LONGEST: Final = 5.0
NAMED: Final = 5
MAX_LOGGED: Final = 5
ROUNDS: Final = 2
"""Who asks while a list is being fetched that is already out of date waits for that one and for the next."""


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """How long listing tools may take, in seconds.

    Attributes:
        patience: What a caller waits for slow servers; theirs are added when they come.
        listing: When a list that does not come is given up.
        pause: How long a server whose list could not be had is left alone, unless it says that something changed.
    """

    patience: float = 5.0
    listing: float = 60.0
    pause: float = 30.0


@dataclass(slots=True)
class _ServerListing:
    tools: list[Json] = field(default_factory=list)
    up: bool = False
    listed: bool = False
    stale: bool = True
    late: bool = False
    task: asyncio.Task[None] | None = None
    problem: str | None = None
    retry_at: float | None = None


class ToolCache:
    """The tools of every enabled server.

    Once listed, they are at hand without a word to any MCP server until `tools_changed`. A server that is down, slow
    or broken takes nothing from the others; its own tools are not listed, but keep their names.

    Args:
        configs: The servers by name, in the order of the configuration.
        on_late: Told when tools came that a caller did not wait for: the list differs from what was given.

    Attributes:
        on_built: Called with each new catalogue before anybody else sees it.
    """

    def __init__(
        self,
        sessions: McpSessions,
        configs: Mapping[SERVER_NAME, BaseMCPServerConfig],
        *,
        on_late: Callable[[], None] | None = None,
        limits: ListingLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._on_late = on_late
        self.on_built: Callable[[ToolCatalogue], None] | None = None
        self._limits = limits or ListingLimits()
        self._clock = clock
        self._configs: dict[SERVER_NAME, BaseMCPServerConfig] = {}
        self._shelves: dict[SERVER_NAME, _ServerListing] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._registry = NameRegistry()
        self._catalogue = ToolCatalogue()
        self._warm = False
        self._outdated = False
        self.configure(configs)

    @property
    def catalogue(self) -> ToolCatalogue:
        """The tools as far as they are known now, without asking any server."""
        if self._outdated:
            self._outdated = False
            known = set(self._catalogue.problems)
            self._catalogue = build_tool_catalogue(
                [ServerTools(config, *self._known(name)) for name, config in self._configs.items()], self._registry
            )
            if self.on_built is not None:
                self.on_built(self._catalogue)
            _log_problems([problem for problem in self._catalogue.problems if problem not in known])
        return self._catalogue

    @property
    def problems(self) -> tuple[NameProblem, ...]:
        """What the owner should know of names: clashes, and aliases that cannot be used."""
        return self.catalogue.problems

    @property
    def failures(self) -> dict[SERVER_NAME, str]:
        """The servers whose tools could not be listed, with the reason."""
        return {name: shelf.problem for name, shelf in self._shelves.items() if shelf.problem is not None}

    def configure(self, configs: Mapping[SERVER_NAME, BaseMCPServerConfig]) -> None:
        """Take over a configuration. No server is asked for what it has listed already."""
        self._registry.configure(configs, reserved_aliases(configs.values()))
        self._configs = {name: config for name, config in configs.items() if not config.disabled}
        for name, shelf in self._shelves.items():
            if name not in self._configs and shelf.task is not None:
                shelf.task.cancel()
        self._shelves = {name: self._shelves.get(name) or _ServerListing() for name in self._configs}
        self._outdated, self._warm = True, False

    def tools_changed(self, server: SERVER_NAME) -> None:
        """Ask a server for its tools again, when somebody wants to know."""
        shelf = self._shelves.get(server)
        if shelf is not None:
            shelf.stale, shelf.retry_at = True, None
            self._warm = False

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that Agents may call. The list is shared: read it, change nothing in it."""
        if not self._warm:
            await self._refresh()
        return self.catalogue.tools

    async def resolve(self, name: str) -> Route:
        """Return where a name leads. What is known needs no waiting, however slow another server is.

        A server that said that its tools changed is asked first: consent holds for the definition of a tool.

        Raises:
            ToolDisabled: It is forbidden.
            ToolNotFound: No enabled server has it.
            ToolStarting: The server that may have it has not listed its tools yet.
        """
        try:
            route = self.catalogue.resolve(name)
        except ToolNotFound:
            if self._warm:
                raise
            await self._refresh()
        else:
            session = self._sessions.get(route.server)
            if session is not None:
                session.flush_tools()
            shelf = self._shelves.get(route.server)
            if self._warm or shelf is None or not (shelf.stale or shelf.task):
                return route
            await self._refresh(route.server)
        try:
            return self.catalogue.resolve(name)
        except ToolNotFound:
            owner = self._registry.owner(name)
            late = [server for server in self._shelves if owner in (None, server) and self._is_coming(server)]
            if late:
                raise self.starting(*late) from None
            raise

    def starting(self, *servers: SERVER_NAME) -> ToolStarting:
        """Return the error for a call of a tool whose server is starting; it says when to try again."""
        sessions = [session for name in servers if (session := self._sessions.get(name)) is not None]
        elapsed = min((session.status.starting_for or 0.0 for session in sessions), default=0.0)
        pause = round(min(RETRY_LONGEST, max(RETRY_SHORTEST, elapsed / 4)), 1)
        named = ", ".join(map(repr, servers[:NAMED])) + (", …" if len(servers) > NAMED else "")
        return ToolStarting(
            f"The tool may belong to an MCP server that is still starting ({named}); try again in {pause:g} s",
            details={"retry_after": pause, "mcp_servers": list(servers[:NAMED])},
        )

    def _is_coming(self, server: SERVER_NAME) -> bool:
        """Whether a server is on its way to its first list of tools."""
        shelf, session = self._shelves[server], self._sessions.get(server)
        if shelf.listed or session is None:
            return False
        state = session.status.state
        return state is ServerState.STARTING or (state is ServerState.RUNNING and (shelf.stale or bool(shelf.task)))

    async def aclose(self) -> None:
        """End what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _known(self, name: SERVER_NAME) -> tuple[list[Json], bool]:
        shelf = self._shelves[name]
        return shelf.tools, shelf.up

    async def _refresh(self, only: SERVER_NAME | None = None) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.patience
        for _ in range(ROUNDS):
            self._start_listings()
            running = {
                shelf.task: shelf
                for name, shelf in self._shelves.items()
                if shelf.task and not shelf.late and only in (None, name)
            }
            if not running:
                break
            _, slow = await asyncio.wait(running, timeout=max(0, until - loop.time()))
            for task in slow:
                running[task].late = True
        shelves = self._shelves.values()
        # With a failed server the box stays cold, so that it is asked again after its pause.
        self._warm = not any(shelf.stale or shelf.task or shelf.retry_at is not None for shelf in shelves)

    def _start_listings(self) -> None:
        now = self._clock()
        for name, shelf in self._shelves.items():
            due = shelf.retry_at is not None and shelf.retry_at <= now
            if shelf.task is None and (shelf.stale or due):
                shelf.stale, shelf.retry_at = False, None
                shelf.task = asyncio.create_task(self._list(name, shelf), name=f"list tools of {name}")
                self._tasks.add(shelf.task)
                shelf.task.add_done_callback(self._tasks.discard)

    async def _list(self, name: SERVER_NAME, shelf: _ServerListing) -> None:
        tools, problem = shelf.tools, None
        try:
            async with asyncio.timeout(self._limits.listing):
                tools = await self._ask(name)
        except (SMCPError, TimeoutError) as error:
            problem = str(error) or "Its tools did not come in time"
        except Exception:
            # A listing that fails in a way nobody thought of must not take the other servers' tools along.
            logger.exception("The tools of an MCP server could not be listed", extra={"mcp_server": name})
            problem = "Its tools could not be listed"
        finally:
            late, shelf.task, shelf.late = shelf.late, None, False
        if self._put(shelf, tools, problem) and late and self._on_late is not None:
            self._on_late()

    async def _ask(self, name: SERVER_NAME) -> list[Json]:
        session = self._sessions.get(name)
        if session is None:
            raise ToolNotFound("The server is not there")
        try:
            return await session.list_tools()
        except SMCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return []
            raise

    def _put(self, shelf: _ServerListing, tools: list[Json], problem: str | None) -> bool:
        up = problem is None
        shelf.listed = shelf.listed or up
        shelf.problem = problem
        shelf.retry_at = None if up else self._clock() + self._limits.pause
        changed = (shelf.tools, shelf.up) != (tools, up)
        if changed:
            shelf.tools, shelf.up = tools, up
            self._outdated = True
        return changed


def _log_problems(problems: Sequence[NameProblem]) -> None:
    """Log new problems: clashes of names in one line, where there are several, and tools that cannot be called."""
    alone = [one for one in problems if one.kind == "tool"]
    problems = [one for one in problems if one.kind != "tool"]
    if len(problems) == 1:
        alone, problems = [*alone, *problems], []
    for one in alone[:MAX_LOGGED]:
        logger.warning("Tool %r of %s: %s %s", one.tool, " and ".join(one.servers), one.problem, one.advice)
    if problems:
        shown = ", ".join(f"{one.tool!r} of {' and '.join(one.servers)}" for one in problems[:MAX_LOGGED])
        more = f" and {len(problems) - MAX_LOGGED} more" if len(problems) > MAX_LOGGED else ""
        logger.warning(
            "%d tool names clash: %s%s. Set an alias in tool_meta of one server each; the status shows every clash",
            len(problems),
            shown,
            more,
        )
