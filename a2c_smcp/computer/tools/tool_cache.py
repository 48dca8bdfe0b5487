"""The cached tool lists of all MCP servers."""

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
MAX_NAMED: Final = 5
MAX_LOGGED: Final = 5
ROUNDS: Final = 2
"""Callers that arrive during a stale fetch wait for it and for one more."""


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """Timeouts for listing tools, in seconds.

    Attributes:
        patience: How long a caller waits for slow servers; late tools are announced as a change.
        listing: The timeout of a list.
        pause: How long a failure is cached, unless the server announces a change.
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

    Listed tools are returned without a request to any MCP server until `tools_changed`. A server that is down, slow or
    broken does not affect the others; its own tools are not listed but keep their names.

    Args:
        configs: The servers by name, in the order of the configuration.
        on_changed: Called when the tools may have changed: with the server that announced it, or without one after a
            configuration change or when tools arrive that a caller did not wait for.

    Attributes:
        on_built: Called with each new catalogue before it is used.
    """

    def __init__(
        self,
        sessions: McpSessions,
        configs: Mapping[SERVER_NAME, BaseMCPServerConfig],
        *,
        on_changed: Callable[[SERVER_NAME | None], None] = lambda _: None,
        limits: ListingLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._on_changed = on_changed
        self.on_built: Callable[[ToolCatalogue], None] | None = None
        self._limits = limits or ListingLimits()
        self._clock = clock
        self._configs: dict[SERVER_NAME, BaseMCPServerConfig] = {}
        self._listings: dict[SERVER_NAME, _ServerListing] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._registry = NameRegistry()
        self._catalogue = ToolCatalogue()
        self._complete = False
        self._outdated = False
        self.configure(configs)

    @property
    def catalogue(self) -> ToolCatalogue:
        """The catalogue of the tools listed so far, without a request to any server."""
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
        """Problems with tool names, for the owner: clashes, and aliases that cannot be used."""
        return self.catalogue.problems

    @property
    def failures(self) -> dict[SERVER_NAME, str]:
        """The servers whose tools could not be listed, each with the reason."""
        return {name: listing.problem for name, listing in self._listings.items() if listing.problem is not None}

    def configure(self, configs: Mapping[SERVER_NAME, BaseMCPServerConfig], *, announce: bool = False) -> None:
        """Apply a configuration. Servers that have listed their tools are not asked again.

        Args:
            announce: Whether the tools may have changed.
        """
        self._registry.configure(configs, reserved_aliases(configs.values()))
        self._configs = {name: config for name, config in configs.items() if not config.disabled}
        for name, listing in self._listings.items():
            if name not in self._configs and listing.task is not None:
                listing.task.cancel()
        self._listings = {name: self._listings.get(name) or _ServerListing() for name in self._configs}
        self._outdated, self._complete = True, False
        if announce:
            self._on_changed(None)

    def tools_changed(self, server: SERVER_NAME) -> None:
        """Mark the list of a server as stale and announce the change; it is fetched at the next request."""
        listing = self._listings.get(server)
        if listing is not None:
            listing.stale, listing.retry_at = True, None
            self._complete = False
        self._on_changed(server)

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that Agents may call. The list is shared: do not modify it."""
        if not self._complete:
            await self._refresh()
        return self.catalogue.tools

    async def resolve(self, name: str) -> Route:
        """Return the tool of a name. A known tool does not wait for other servers.

        If its server announced a change, the list is fetched first, because consent is bound to the definition.

        Raises:
            ToolDisabled: The tool is forbidden.
            ToolNotFound: No enabled server has it.
            ToolStarting: A server that may have it has not listed its tools yet.
        """
        try:
            route = self.catalogue.resolve(name)
        except ToolNotFound:
            if self._complete:
                raise
            await self._refresh()
        else:
            session = self._sessions.get(route.server)
            if session is not None:
                session.flush_tools()
            listing = self._listings.get(route.server)
            if self._complete or listing is None or not (listing.stale or listing.task):
                return route
            await self._refresh(route.server)
        try:
            return self.catalogue.resolve(name)
        except ToolNotFound:
            owner = self._registry.owner(name)
            late = [server for server in self._listings if owner in (None, server) and self._is_expected(server)]
            if late:
                raise self.starting(*late) from None
            raise

    def starting(self, *servers: SERVER_NAME) -> ToolStarting:
        """Return the error for a call while these servers are starting; it contains the time to retry after."""
        sessions = [session for name in servers if (session := self._sessions.get(name)) is not None]
        elapsed = min((session.status.starting_for or 0.0 for session in sessions), default=0.0)
        pause = round(min(RETRY_LONGEST, max(RETRY_SHORTEST, elapsed / 4)), 1)
        named = ", ".join(map(repr, servers[:MAX_NAMED])) + (", …" if len(servers) > MAX_NAMED else "")
        return ToolStarting(
            f"The tool may belong to an MCP server that is still starting ({named}); try again in {pause:g} s",
            details={"retry_after": pause, "mcp_servers": list(servers[:MAX_NAMED])},
        )

    def _is_expected(self, server: SERVER_NAME) -> bool:
        """Whether the first tool list of a server is still expected."""
        listing, session = self._listings[server], self._sessions.get(server)
        if listing.listed or session is None:
            return False
        state = session.status.state
        return state is ServerState.STARTING or (state is ServerState.RUNNING and (listing.stale or bool(listing.task)))

    async def aclose(self) -> None:
        """Cancel running requests."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _known(self, name: SERVER_NAME) -> tuple[list[Json], bool]:
        listing = self._listings[name]
        return listing.tools, listing.up

    async def _refresh(self, only: SERVER_NAME | None = None) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.patience
        for _ in range(ROUNDS):
            self._start_listings()
            running = {
                listing.task: listing
                for name, listing in self._listings.items()
                if listing.task and not listing.late and only in (None, name)
            }
            if not running:
                break
            _, slow = await asyncio.wait(running, timeout=max(0, until - loop.time()))
            for task in slow:
                running[task].late = True
        listings = self._listings.values()
        # With a failed server the cache is not complete, so that the server is asked again after its pause.
        self._complete = not any(listing.stale or listing.task or listing.retry_at is not None for listing in listings)

    def _start_listings(self) -> None:
        now = self._clock()
        for name, listing in self._listings.items():
            due = listing.retry_at is not None and listing.retry_at <= now
            if listing.task is None and (listing.stale or due):
                listing.stale, listing.retry_at = False, None
                listing.task = asyncio.create_task(self._list(name, listing), name=f"list tools of {name}")
                self._tasks.add(listing.task)
                listing.task.add_done_callback(self._tasks.discard)

    async def _list(self, name: SERVER_NAME, listing: _ServerListing) -> None:
        tools, problem = listing.tools, None
        try:
            async with asyncio.timeout(self._limits.listing):
                tools = await self._request(name)
        except (SMCPError, TimeoutError) as error:
            problem = str(error) or "Its tools did not come in time"
        except Exception:
            # An unexpected failure must not affect the tools of other servers.
            logger.exception("tools not listed: mcp_server=%s", name, extra={"mcp_server": name})
            problem = "Its tools could not be listed"
        finally:
            late, listing.task, listing.late = listing.late, None, False
        if self._store(listing, tools, problem) and late:
            self._on_changed(None)

    async def _request(self, name: SERVER_NAME) -> list[Json]:
        session = self._sessions.get(name)
        if session is None:
            raise ToolNotFound("The server is not there")
        try:
            return await session.list_tools()
        except SMCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return []
            raise

    def _store(self, listing: _ServerListing, tools: list[Json], problem: str | None) -> bool:
        up = problem is None
        listing.listed = listing.listed or up
        listing.problem = problem
        listing.retry_at = None if up else self._clock() + self._limits.pause
        changed = (listing.tools, listing.up) != (tools, up)
        if changed:
            listing.tools, listing.up = tools, up
            self._outdated = True
        return changed


def _log_problems(problems: Sequence[NameProblem]) -> None:
    """Log new problems: several name clashes in one line, and tools that cannot be called."""
    alone = [one for one in problems if one.kind == "tool"]
    problems = [one for one in problems if one.kind != "tool"]
    if len(problems) == 1:
        alone, problems = [*alone, *problems], []
    for one in alone[:MAX_LOGGED]:
        logger.warning(
            "tool name problem: tool=%r mcp_servers=%s: %s %s", one.tool, ",".join(one.servers), one.problem, one.advice
        )
    if problems:
        shown = ", ".join(f"{one.tool!r} of {' and '.join(one.servers)}" for one in problems[:MAX_LOGGED])
        more = f" and {len(problems) - MAX_LOGGED} more" if len(problems) > MAX_LOGGED else ""
        logger.warning(
            "tool names clash: count=%d %s%s. Set an alias in tool_meta of one server each; the status shows all",
            len(problems),
            shown,
            more,
        )
