"""The MCP servers of a Computer: as many sessions as its configuration has servers, kept in step with it."""

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
    """Implements `ports.Sessions`. An async context manager; leaving it ends every server."""

    def __init__(
        self, listener: ServerListener, *, resolve: ResolveConfig | None = None, timing: Timing | None = None
    ) -> None:
        self._listener = listener
        self._resolve = resolve if resolve is not None else _as_it_is
        self._timing = timing if timing is not None else Timing()
        self._guardian = WatchdogClient()
        self._config = ComputerConfig()
        self._sessions: dict[SERVER_NAME, ServerSession] = {}
        self._turn = asyncio.Lock()

    @property
    def config(self) -> ComputerConfig:
        """The configuration that was last applied."""
        return self._config

    def get(self, name: SERVER_NAME) -> ServerSession | None:
        """The session of that name, running or not."""
        return self._sessions.get(name)

    def all(self) -> Mapping[SERVER_NAME, ServerSession]:
        """Every configured and enabled server, in the order of the configuration."""
        return {name: session for name, session in self._sessions.items() if not session.config.disabled}

    def statuses(self) -> list[ServerStatus]:
        """The state of every server, the disabled ones included, in the order of the configuration."""
        return [session.status for session in self._sessions.values()]

    async def apply(self, config: ComputerConfig) -> ConfigDiff:
        """Bring the servers in step with `config`, and return when those that had to go have gone.

        Servers start in the background, side by side (`settled` waits for them). One that its owner stopped stays so.
        """
        async with self._turn:
            changes = diff_configs(self._config, config)
            before, self._config = self._sessions, config
            self._sessions = {
                name: before.get(name) or self._session(server) for name, server in config.servers.items()
            }
            for name in (*changes.tool_view_changed, *changes.updated, *changes.dormant):
                self._sessions[name].reconfigure(config.servers[name])
            added = (name for name in changes.added if not config.servers[name].disabled)
            await asyncio.gather(
                *(self._begin(name) for name in (*added, *changes.enabled)),
                *(self._sessions[name].restart(config.servers[name]) for name in changes.changed),
                *(self._end(name, before[name]) for name in (*changes.removed, *changes.disabled)),
            )
            return changes

    async def start(self, name: SERVER_NAME) -> None:
        """Start a server that was stopped or has failed.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._turn:
            self._enabled(name).start()

    async def stop(self, name: SERVER_NAME) -> None:
        """Stop a server until it is started again, or its Computer is.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._turn:
            await self._enabled(name).stop()

    async def restart(self, name: SERVER_NAME) -> None:
        """Stop a server, if it runs, and start it anew.

        Raises:
            BadRequest: There is no server of that name, or it is disabled.
        """
        async with self._turn:
            session = self._enabled(name)
            await session.stop()
            session.start()

    async def settled(self) -> None:
        """Wait until no server is starting: each runs, waits, has failed or was stopped."""
        await asyncio.gather(*(session.settled() for session in self._sessions.values()))

    async def close(self) -> None:
        """End every server and whatever it started."""
        async with self._turn:
            await asyncio.gather(*(session.stop(session.at_rest) for session in self._sessions.values()))
            await self._guardian.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _session(self, config: MCPServerConfig) -> ServerSession:
        return ServerSession(
            config, listener=self._listener, resolve=self._resolve, guardian=self._guardian, timing=self._timing
        )

    async def _begin(self, name: SERVER_NAME) -> None:
        session = self._sessions[name]
        session.reconfigure(self._config.servers[name])
        session.start()

    async def _end(self, name: SERVER_NAME, session: ServerSession) -> None:
        if name in self._config.servers:
            session.reconfigure(self._config.servers[name])
        await session.stop(session.at_rest)

    def _enabled(self, name: SERVER_NAME) -> ServerSession:
        session = self._sessions.get(name)
        if session is None:
            raise BadRequest(f"No MCP server is called {name!r}", details={"servers": list(self._sessions)})
        if session.config.disabled:
            raise BadRequest(f"MCP server {name!r} is disabled; enable it in the configuration")
        return session


async def _as_it_is(config: MCPServerConfig) -> MCPServerConfig:
    return config
