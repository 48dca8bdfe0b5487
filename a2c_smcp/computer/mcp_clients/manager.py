"""The MCP servers of a Computer: as many sessions as its configuration has servers, kept in step with it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from a2c_smcp.computer.mcp_clients.guardian import Guardian
from a2c_smcp.computer.mcp_clients.life import Timing
from a2c_smcp.computer.mcp_clients.model import ComputerConfig, MCPServerConfig, strings_of
from a2c_smcp.computer.mcp_clients.placeholders import input_ids
from a2c_smcp.computer.mcp_clients.session import Resolve, ServerSession
from a2c_smcp.computer.ports import Listener, ServerStatus
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import SERVER_NAME


@dataclass(frozen=True, slots=True)
class Changes:
    """What applying a configuration did, by the names of servers.

    Attributes:
        started: New, or enabled.
        stopped: Removed, or disabled.
        restarted: Running with other parameters now.
        updated: Other settings, without a restart.
    """

    started: tuple[SERVER_NAME, ...] = ()
    stopped: tuple[SERVER_NAME, ...] = ()
    restarted: tuple[SERVER_NAME, ...] = ()
    updated: tuple[SERVER_NAME, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.started or self.stopped or self.restarted or self.updated)


class ServerManager:
    """Implements `ports.Sessions`. An async context manager; leaving it ends every server."""

    def __init__(self, listener: Listener, *, resolve: Resolve | None = None, timing: Timing | None = None) -> None:
        self._listener = listener
        self._resolve = resolve if resolve is not None else _as_it_is
        self._timing = timing if timing is not None else Timing()
        self._guardian = Guardian()
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

    async def apply(self, config: ComputerConfig) -> Changes:
        """Bring the servers in step with `config`, and return when those that had to go have gone.

        Servers start in the background, side by side (`settled` waits for them). One that its owner stopped stays so.
        """
        async with self._turn:
            changes = _compare(self._config, config)
            before, self._config = self._sessions, config
            self._sessions = {
                name: before.get(name) or self._session(server) for name, server in config.servers.items()
            }
            for name in changes.updated:
                self._sessions[name].reconfigure(config.servers[name])
            await asyncio.gather(
                *(self._begin(name) for name in changes.started),
                *(self._sessions[name].restart(config.servers[name]) for name in changes.restarted),
                *(self._end(name, before[name]) for name in changes.stopped),
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


def _compare(before: ComputerConfig, after: ComputerConfig) -> Changes:
    names = dict.fromkeys([*before.servers, *after.servers])
    kinds = {name: _change(name, before, after) for name in names}
    return Changes(**{kind: tuple(name for name in names if kinds[name] == kind) for kind in Changes.__slots__})


def _change(name: SERVER_NAME, before: ComputerConfig, after: ComputerConfig) -> str | None:
    old, new = before.servers.get(name), after.servers.get(name)
    if new is None or (new.disabled and old is not None and not old.disabled):
        return "stopped"
    if not new.disabled and (old is None or old.disabled):
        return "started"
    if old is None:
        return None  # added, but disabled
    if not new.disabled and (_essence(old, before) != _essence(new, after)):
        return "restarted"
    return "updated" if old != new else None


def _essence(server: MCPServerConfig, config: ComputerConfig) -> tuple[Any, ...]:
    """What a running server depends on: its parameters, and how the inputs that these refer to get their values."""
    texts = strings_of(server.server_parameters.model_dump(mode="json"))
    wanted = {wanted for _, text in texts for wanted in input_ids(text)}
    inputs = [entry.model_dump(exclude={"description"}) for entry in config.inputs if entry.id in wanted]
    return server.type, server.server_parameters, inputs
