"""The resource subscriptions of the Agents, and the updates that are still to be reported to them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Final

from a2c_smcp.computer.ports import Json, McpSession, McpSessions, ServerState
from a2c_smcp.errors import BadRequest, NotFound, RateLimited, SMCPError
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

MAX_WATCHED: Final = 1_000
"""The most subscriptions of an Agent."""

MAX_URI: Final = 8_192
MAX_REPORTED: Final = 200
"""The most URIs of one report."""


class AllSubscriptions:
    """The subscriptions of all offices that a Computer serves; an MCP server gets their union.

    Attributes:
        lock: Held while subscriptions are sent to a server, so that the latest request has all of them.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.offices: list[AgentSubscriptions] = []

    def uris(self, server: SERVER_NAME) -> list[str]:
        """Return the resources of a server with a subscription."""
        return sorted(set().union(*(office.watched(server) for office in self.offices)))


class AgentSubscriptions:
    """The subscriptions of an office's Agent. The first subscription of another Agent ends those of the previous one.

    Args:
        find: Returns the MCP server that serves a URI.
        report: Called when `take` has something to report.
        together: The subscriptions of all offices.
    """

    def __init__(
        self,
        sessions: McpSessions,
        find: Callable[[str], Awaitable[SERVER_NAME]],
        report: Callable[[], None],
        together: AllSubscriptions | None = None,
    ) -> None:
        self._together = together if together is not None else AllSubscriptions()
        self._together.offices.append(self)
        self._sessions = sessions
        self._find = find
        self._report = report
        self._agent = ""
        self._watched: dict[SERVER_NAME, set[str]] = {}
        self._renewed: dict[SERVER_NAME, McpSession] = {}
        self._updated: dict[SERVER_NAME, set[str]] = {}
        self._changed_lists: set[SERVER_NAME] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def subscribe(self, agent: str, uri: str, mcp_server: SERVER_NAME | None = None) -> SERVER_NAME:
        """Subscribe to a resource; return the MCP server that serves it.

        Raises:
            RateLimited: The Agent has too many subscriptions.
            BadRequest: Several MCP servers serve the URI, or it is too long.
            NotFound: No MCP server serves it.
            SMCPError: The MCP server refused.
        """
        if len(uri) > MAX_URI:
            raise BadRequest(f"The URI is too long to subscribe to: the limit is {MAX_URI} characters")
        name = mcp_server if mcp_server is not None else await self._find(uri)
        session = self._session(name)
        async with self._together.lock:
            if agent != self._agent:
                await self._forget()
                self._agent = agent
            uris = self._watched.setdefault(name, set())
            if uri in uris:
                return name
            if sum(map(len, self._watched.values())) >= MAX_WATCHED:
                raise RateLimited(
                    f"Limit exceeded: subscriptions per agent ({MAX_WATCHED}); unsubscribe from some first",
                    details={"limit": "subscriptions per agent", "value": MAX_WATCHED},
                )
            uris.add(uri)
            try:
                await session.watch(self._together.uris(name))
            except BaseException:
                uris.discard(uri)
                raise
            self._renewed[name] = session
        return name

    async def unsubscribe(self, agent: str, uri: str, mcp_server: SERVER_NAME | None = None) -> None:
        """Unsubscribe from a resource; does nothing without a subscription."""
        async with self._together.lock:
            if agent != self._agent:
                return
            for name, uris in self._watched.items():
                if uri in uris and mcp_server in (None, name):
                    uris.discard(uri)
                    await self._apply(name)

    def watched(self, server: SERVER_NAME) -> set[str]:
        """Return the resources of a server with a subscription."""
        return self._watched.get(server, set())

    def drop(self) -> None:
        """Drop all subscriptions: the Computer serves another office."""
        self._watched, self._updated, stale = {}, {}, [name for name, uris in self._watched.items() if uris]
        for name in stale:
            self._start(self._apply(name))

    # Events of the MCP servers

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A resource has new contents. An update of a part counts as an update of the subscribed whole."""
        watched = self._watched.get(server)
        if watched and (found := watched.intersection(_uri_and_parents(uri))):
            self._updated.setdefault(server, set()).update(found)
            self._report()

    def list_changed(self, server: SERVER_NAME) -> None:
        """The list of a server's resources or templates may have changed."""
        self._changed_lists.add(server)
        self._report()

    def status_changed(self, server: SERVER_NAME) -> None:
        """Send the subscriptions to a new session, which does not have them."""
        session = self._sessions.get(server)
        if session is None or not self._watched.get(server) or session is self._renewed.get(server):
            return
        if session.status.state is ServerState.RUNNING:
            self._renewed[server] = session
            self._start(self._apply(server))

    # Reports

    def take(self) -> list[Json]:
        """Return the updates since the previous call, as messages without the Computer's name."""
        updated, relisted = self._updated, self._changed_lists
        self._updated, self._changed_lists = {}, set()
        reports: list[Json] = []
        for server in sorted(updated.keys() | relisted):
            uris = sorted(updated.get(server, ()))
            first: Json = {"mcp_server": server} | ({"list_changed": True} if server in relisted else {})
            parts = [uris[start : start + MAX_REPORTED] for start in range(0, len(uris), MAX_REPORTED)] or [[]]
            reports.append(first | ({"uris": parts[0]} if parts[0] else {}))
            reports += ({"mcp_server": server, "uris": part} for part in parts[1:])
        return reports

    def restore(self, reports: Iterable[Json]) -> None:
        """Put back updates that could not be sent."""
        for report in reports:
            if report.get("list_changed"):
                self._changed_lists.add(report["mcp_server"])
            self._updated.setdefault(report["mcp_server"], set()).update(report.get("uris", ()))

    async def settled(self) -> None:
        """Return when all pending subscriptions have been sent to the servers."""
        await asyncio.gather(*self._tasks)

    async def end(self) -> None:
        """End every subscription of this office; others go on."""
        async with self._together.lock:
            await self._forget()
        if self in self._together.offices:
            self._together.offices.remove(self)

    async def close(self) -> None:
        """Cancel running requests."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forget(self) -> None:
        names = [name for name, uris in self._watched.items() if uris]
        self._watched, self._renewed, self._updated = {}, {}, {}
        for name in names:
            await self._apply(name)

    async def _apply(self, name: SERVER_NAME) -> None:
        session = self._sessions.get(name)
        if session is None:
            return
        try:
            await session.watch(self._together.uris(name))
        except SMCPError as error:
            logger.info("subscriptions not renewed: mcp_server=%s reason=%s", name, error, extra={"server": name})

    def _session(self, name: SERVER_NAME) -> McpSession:
        session = self._sessions.get(name)
        if session is None:
            raise NotFound(f"This Computer has no MCP server {name!r}", details={"mcp_server": name})
        return session


def _uri_and_parents(uri: str) -> Iterator[str]:
    yield uri
    for index, character in enumerate(uri):
        if character == "/":
            yield uri[:index]
            yield uri[: index + 1]
