"""The cached resource lists of all MCP servers, shared by Desktop, Finder and reading.

The cache receives server events (it has the resource methods of `ports.ServerListener`) and notifies its observers of
their consequences.
"""

import asyncio
from collections import Counter
from typing import Final

from a2c_smcp.computer.ports import Json, McpSessions
from a2c_smcp.computer.resources.cached_server import CachedServer, ResourceLimits, ResourceObserver
from a2c_smcp.computer.resources.listing import ResourceList
from a2c_smcp.types import SERVER_NAME

__all__ = ["CachedServer", "ResourceCache", "ResourceLimits", "ResourceObserver"]

DEFAULT_LIMITS: Final = ResourceLimits()
MAX_SHOWN: Final = 20
"""The most conflicting hosts, and URIs of one host, that are shown."""


class ResourceCache:
    """The resource lists of a Computer's MCP servers. The servers are independent: none waits for another."""

    def __init__(self, sessions: McpSessions, limits: ResourceLimits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._sessions = sessions
        self._servers: dict[SERVER_NAME, CachedServer] = {}
        self._observers: list[ResourceObserver] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def observe(self, observer: ResourceObserver) -> None:
        """Notify this observer from now on."""
        self._observers.append(observer)

    def servers(self) -> list[CachedServer]:
        """Return all servers, in the order of the configuration."""
        names = self._sessions.all()
        for gone in self._servers.keys() - names.keys():
            self._drop(gone)
        return [server for name in names if (server := self.get(name)) is not None]

    def participants(self) -> list[CachedServer]:
        """Return the servers that currently take part in Desktop and Finder."""
        return [server for server in self.servers() if server.takes_part]

    def get(self, name: SERVER_NAME) -> CachedServer | None:
        """Return the server of that name."""
        session = self._sessions.get(name)
        server = self._servers.get(name)
        if server is not None and server.session is not session:
            self._drop(name)
            server = None
        if server is None and session is not None and not self._closed:
            server = self._servers[name] = CachedServer(session, self.limits, _Broadcast(self._observers))
            server.start()
        return server

    @property
    def undeclared(self) -> list[SERVER_NAME]:
        """The running servers that list windows or documents but do not take part in Desktop and Finder."""
        return [
            server.name
            for server in self.servers()
            if server.running and not server.takes_part and server.known.watchable
        ]

    def claimed_twice(self) -> list[Json]:
        """Return the hosts of windows and documents that several running servers offer.

        Each has `host`, the `servers`, of which the first one serves URIs that several of them list, and some of those
        URIs (`same`).
        """
        claims: dict[str, dict[SERVER_NAME, set[str]]] = {}
        for server in self.servers():
            if server.running:
                for host, uris in server.known.claims().items():
                    claims.setdefault(host, {})[server.name] = uris
        found = []
        for host, by_server in claims.items():
            if len(by_server) > 1:
                counts = Counter(uri for uris in by_server.values() for uri in uris)
                same = sorted(uri for uri, count in counts.items() if count > 1)
                found.append({"host": host, "servers": list(by_server), "same": same[:MAX_SHOWN]})
        return found[:MAX_SHOWN]

    def resources_changed(self, server: SERVER_NAME) -> None:
        """The server's list may have changed."""
        if (cached := self.get(server)) is not None:
            cached.list_changed()

    def resource_updated(self, server: SERVER_NAME, uri: str) -> None:
        """One of the server's resources has new contents."""
        if (cached := self.get(server)) is not None and cached.takes_part:
            _Broadcast(self._observers).updated(server, uri)

    def status_changed(self, server: SERVER_NAME) -> None:
        """The server started, failed or stopped, or was removed from the configuration."""
        if (cached := self.get(server)) is not None:
            cached.status_changed()

    async def settled(self) -> None:
        """Return when all events received so far are processed."""
        await asyncio.gather(*(server.settled() for server in self.servers()))

    async def close(self) -> None:
        """Stop all background work without notifying observers. Later events are ignored."""
        self._closed = True
        self._observers.clear()
        for name in list(self._servers):
            self._drop(name)
        await asyncio.gather(*self._closing)

    def _drop(self, name: SERVER_NAME) -> None:
        server = self._servers.pop(name)
        server.forget()
        task = asyncio.get_running_loop().create_task(server.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


class _Broadcast:
    """Forwards each event to every observer."""

    def __init__(self, observers: list[ResourceObserver]) -> None:
        self._observers = observers

    def forgotten(self, server: SERVER_NAME) -> None:
        for observer in self._observers:
            observer.forgotten(server)

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        for observer in self._observers:
            observer.listed(server, before, after)

    def watched(self, server: SERVER_NAME) -> None:
        for observer in self._observers:
            observer.watched(server)

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        for observer in self._observers:
            observer.updated(server, uri)
