"""What the Agent of an office subscribed to at the MCP servers, and what is still to be reported of it."""

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
AT_ONCE: Final = 200
"""The most URIs of one report."""


class AllWatches:
    """The subscriptions of all offices that a Computer serves: an MCP server is told of all of them at once.

    Attributes:
        turn: Held while a server is told, so that the last one to tell it knows of all.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.offices: list[AgentSubscriptions] = []

    def uris(self, server: SERVER_NAME) -> list[str]:
        """Return what is subscribed to at a server."""
        return sorted(set().union(*(office.watched(server) for office in self.offices)))


class AgentSubscriptions:
    """Subscriptions of one Agent at a time, because an office has one: those of another end with its first.

    Args:
        find: Returns the MCP server that serves a URI.
        report: Called when `take` has something to report.
        together: Where several offices are served.
    """

    def __init__(
        self,
        sessions: McpSessions,
        find: Callable[[str], Awaitable[SERVER_NAME]],
        report: Callable[[], None],
        together: AllWatches | None = None,
    ) -> None:
        self._together = together if together is not None else AllWatches()
        self._together.offices.append(self)
        self._sessions = sessions
        self._find = find
        self._report = report
        self._agent = ""
        self._watched: dict[SERVER_NAME, set[str]] = {}
        self._renewed: dict[SERVER_NAME, McpSession] = {}
        self._updated: dict[SERVER_NAME, set[str]] = {}
        self._relisted: set[SERVER_NAME] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def subscribe(self, agent: str, uri: str, mcp_server: SERVER_NAME | None = None) -> SERVER_NAME:
        """Report updates of a resource from now on; return the MCP server that serves it.

        Raises:
            RateLimited: The Agent has as many subscriptions as it may have.
            BadRequest: Several MCP servers serve the URI, or it is too long.
            NotFound: No MCP server serves it.
            SMCPError: The MCP server refused.
        """
        if len(uri) > MAX_URI:
            raise BadRequest(f"A URI that is subscribed to may have {MAX_URI} characters")
        name = mcp_server if mcp_server is not None else await self._find(uri)
        session = self._session(name)
        async with self._together.turn:
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
        """Report updates of a resource no more; one that is not subscribed to is ignored."""
        async with self._together.turn:
            if agent != self._agent:
                return
            for name, uris in self._watched.items():
                if uri in uris and mcp_server in (None, name):
                    uris.discard(uri)
                    await self._apply(name)

    def watched(self, server: SERVER_NAME) -> set[str]:
        """Return what is subscribed to at a server."""
        return self._watched.get(server, set())

    def drop(self) -> None:
        """Report nothing more: the Computer serves another office."""
        self._watched, self._updated, stale = {}, {}, [name for name, uris in self._watched.items() if uris]
        for name in stale:
            self._start(self._apply(name))

    # What is heard

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A resource of a server has new contents. A part of what is subscribed to counts as that."""
        watched = self._watched.get(server)
        if watched and (found := watched.intersection(_uri_and_parents(uri))):
            self._updated.setdefault(server, set()).update(found)
            self._report()

    def list_changed(self, server: SERVER_NAME) -> None:
        """The list of a server's resources or templates may differ."""
        self._relisted.add(server)
        self._report()

    def status_changed(self, server: SERVER_NAME) -> None:
        """A server that was configured anew knows nothing of the subscriptions."""
        session = self._sessions.get(server)
        if session is None or not self._watched.get(server) or session is self._renewed.get(server):
            return
        if session.status.state is ServerState.RUNNING:
            self._renewed[server] = session
            self._start(self._apply(server))

    # What is reported

    def take(self) -> list[Json]:
        """Return what happened since the last time, as messages without the Computer's name."""
        updated, relisted = self._updated, self._relisted
        self._updated, self._relisted = {}, set()
        reports: list[Json] = []
        for server in sorted(updated.keys() | relisted):
            uris = sorted(updated.get(server, ()))
            first: Json = {"mcp_server": server} | ({"list_changed": True} if server in relisted else {})
            parts = [uris[start : start + AT_ONCE] for start in range(0, len(uris), AT_ONCE)] or [[]]
            reports.append(first | ({"uris": parts[0]} if parts[0] else {}))
            reports += ({"mcp_server": server, "uris": part} for part in parts[1:])
        return reports

    def restore(self, reports: Iterable[Json]) -> None:
        """Report this again: it could not be sent."""
        for report in reports:
            if report.get("list_changed"):
                self._relisted.add(report["mcp_server"])
            self._updated.setdefault(report["mcp_server"], set()).update(report.get("uris", ()))

    async def settled(self) -> None:
        """Return when nothing that was heard so far waits to be passed on to a server."""
        await asyncio.gather(*self._tasks)

    async def end(self) -> None:
        """End every subscription of this office; others go on."""
        async with self._together.turn:
            await self._forget()
        if self in self._together.offices:
            self._together.offices.remove(self)

    async def close(self) -> None:
        """End what is under way."""
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
            logger.info("subscriptions not renewed server=%s reason=%s", name, error, extra={"server": name})

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
