"""The sessions of all configured MCP servers, kept in line with the configuration."""

import asyncio
from collections.abc import Mapping
from typing import Self

from a2c_smcp.computer.config.diff import ConfigDiff, diff_configs
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.mcp.session import ResolveConfig, ServerSession
from a2c_smcp.computer.mcp.watchdog_client import WatchdogClient
from a2c_smcp.computer.ports import ServerListener, ServerStatus
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import SERVER_NAME


class ServerManager:
    """Implements `ports.McpSessions`. An async context manager; leaving it stops every server."""

    def __init__(
        self, listener: ServerListener, *, resolve: ResolveConfig | None = None, timing: Timing | None = None
    ) -> None:
        self._listener = listener
        self._resolve = resolve if resolve is not None else _unresolved
        self._timing = timing if timing is not None else Timing()
        self._watchdog = WatchdogClient()
        self._config = ComputerConfig()
        self._sessions: dict[SERVER_NAME, ServerSession] = {}
        self._lock = asyncio.Lock()

    @property
    def config(self) -> ComputerConfig:
        """The latest applied configuration."""
        return self._config

    def get(self, name: SERVER_NAME) -> ServerSession | None:
        """Return the session of that name, running or not."""
        return self._sessions.get(name)

    def all(self) -> Mapping[SERVER_NAME, ServerSession]:
        """Return every enabled server, in the order of the configuration."""
        return {name: session for name, session in self._sessions.items() if not session.config.disabled}

    def statuses(self) -> list[ServerStatus]:
        """Return the state of every server, including disabled ones, in the order of the configuration."""
        return [session.status for session in self._sessions.values()]

    async def apply(self, config: ComputerConfig, changes: ConfigDiff | None = None) -> ConfigDiff:
        """Apply a configuration, and return when the servers to stop have stopped.

        Servers start in the background, concurrently (`settled` waits for them). One that its owner stopped stays so.

        Args:
            changes: The difference from `self.config` to `config`, if the caller knows it.
        """
        async with self._lock:
            changes = diff_configs(self._config, config) if changes is None else changes
            before, self._config = self._sessions, config
            self._sessions = {
                name: before.get(name) or self._session(server) for name, server in config.servers.items()
            }
            for name in (*changes.tool_view_changed, *changes.updated, *changes.dormant):
                self._sessions[name].reconfigure(config.servers[name])
            added = (name for name in changes.added if not config.servers[name].disabled)
            await asyncio.gather(
                *(self._start(name) for name in (*added, *changes.enabled)),
                *(self._sessions[name].restart(config.servers[name]) for name in changes.changed),
                *(self._stop(name, before[name]) for name in (*changes.removed, *changes.disabled)),
            )
            return changes

    async def start(self, name: SERVER_NAME) -> None:
        """Start a server that was stopped or has failed.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._lock:
            self._enabled(name).start()

    async def stop(self, name: SERVER_NAME) -> None:
        """Stop a server until it, or the Computer, is started again.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._lock:
            await self._enabled(name).stop()

    async def restart(self, name: SERVER_NAME) -> None:
        """Stop a server, if it is running, and start it again.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._lock:
            session = self._enabled(name)
            await session.stop()
            session.start()

    async def settled(self) -> None:
        """Wait until no server is in the starting state."""
        await asyncio.gather(*(session.settled() for session in self._sessions.values()))

    async def close(self) -> None:
        """Stop every server and its processes."""
        async with self._lock:
            await asyncio.gather(*(session.stop(session.at_rest) for session in self._sessions.values()))
            await self._watchdog.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _session(self, config: MCPServerConfig) -> ServerSession:
        return ServerSession(
            config, listener=self._listener, resolve=self._resolve, watchdog=self._watchdog, timing=self._timing
        )

    async def _start(self, name: SERVER_NAME) -> None:
        session = self._sessions[name]
        session.reconfigure(self._config.servers[name])
        session.start()

    async def _stop(self, name: SERVER_NAME, session: ServerSession) -> None:
        if name in self._config.servers:
            session.reconfigure(self._config.servers[name])
        await session.stop(session.at_rest)

    def _enabled(self, name: SERVER_NAME) -> ServerSession:
        session = self._sessions.get(name)
        if session is None:
            raise BadRequest(f"There is no MCP server {name!r}", details={"servers": list(self._sessions)})
        if session.config.disabled:
            raise BadRequest(f"MCP server {name!r} is disabled; enable it in the configuration")
        return session


async def _unresolved(config: MCPServerConfig) -> MCPServerConfig:
    return config
