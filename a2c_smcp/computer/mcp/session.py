"""One MCP server as the Computer knows it: started, watched, started again, and asked. It outlives its processes."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

import anyio
from pydantic import BaseModel

from a2c_smcp.computer.config.models import (
    MCPServerConfig,
    MCPServerStdioConfig,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEParameters,
)
from a2c_smcp.computer.config.secret_detection import ServerMask
from a2c_smcp.computer.mcp import diagnosis
from a2c_smcp.computer.mcp.diagnosis import ServerFailure
from a2c_smcp.computer.mcp.http import StreamableTransport
from a2c_smcp.computer.mcp.list_repair import RejectedEntry
from a2c_smcp.computer.mcp.negotiation import NegotiationMemory, is_modern
from a2c_smcp.computer.mcp.notifications import ServerNotifications, notify
from a2c_smcp.computer.mcp.requests import ServerRequests
from a2c_smcp.computer.mcp.restarts import RestartCounter
from a2c_smcp.computer.mcp.server_run import ServerRun, Timing
from a2c_smcp.computer.mcp.sse import SseTransport
from a2c_smcp.computer.mcp.stdio import StdioTransport
from a2c_smcp.computer.mcp.transport import MAX_MESSAGE, McpTransport
from a2c_smcp.computer.mcp.watchdog_client import WatchdogClient
from a2c_smcp.computer.ports import Json, ServerListener, ServerState, ServerStatus
from a2c_smcp.errors import BadRequest, SMCPError, ToolFailed

logger = logging.getLogger(__name__)

ResolveConfig: TypeAlias = Callable[[MCPServerConfig], Awaitable[MCPServerConfig]]
"""Replaces the placeholders of a configuration by their values; asked at every start of a server."""

SCHEMES: Final = ("window://", "dpe://")
# Longer than any orderly end takes.
STOP_SECONDS: Final = 15.0
MAX_INSTRUCTIONS: Final = 20_000
"""The most characters of a server's instructions that are passed on."""

MAX_LEFT_OUT: Final = 100
"""The most entries of its lists that are logged and shown as left out."""

_REFUSALS: Final = {
    ServerState.DISABLED: "is disabled; its owner can enable it",
    ServerState.STARTING: "is starting; try again in a moment",
    ServerState.RUNNING: "is ending; try again in a moment",
    ServerState.WAITING: "failed and is started again soon; try again in a moment",
    ServerState.FAILED: "has failed; its owner can repair it and start it again",
    ServerState.STOPPED: "is stopped; its owner can start it",
}


class ServerSession(ServerRequests):
    """Implements `ports.Session`. One task owns each life of the server; requests come from any task."""

    def __init__(
        self,
        config: MCPServerConfig,
        *,
        listener: ServerListener,
        resolve: ResolveConfig,
        guardian: WatchdogClient | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.name = config.name
        self._config = config
        self._listener = listener
        self._resolve = resolve
        self._guardian = guardian
        self._timing = timing if timing is not None else Timing()
        self._news = ServerNotifications(config.name, listener)
        self._restarts = RestartCounter(self._timing.restarts, random.random)
        self._memory = NegotiationMemory()
        self._mask = ServerMask()
        self._wanted: Sequence[str] = ()
        self._watched: Sequence[str] = ()
        self._life: ServerRun | None = None
        self._task: asyncio.Task[None] | None = None
        self._leaving = False
        self._scope = anyio.CancelScope()
        self._moved = asyncio.Event()
        self._again = asyncio.Event()
        self._retry_at: float | None = None
        self._entered_at = 0.0
        self._state = ServerState.DISABLED if config.disabled else ServerState.STOPPED
        self._since = _now()
        self._failure: ServerFailure | None = None
        self._restarted = 0
        self._undeclared = False
        self._capabilities: Json = {}
        self._server_info: Json | None = None
        self._version: str | None = None
        self._left_out: dict[tuple[str, str], str] = {}
        self._reported: set[RejectedEntry] = set()

    @property
    def config(self) -> MCPServerConfig:
        """Its configuration, placeholders and all."""
        return self._config

    @property
    def instructions(self) -> str | None:
        """What the running server tells models about itself, without configured values."""
        life = self._life
        text = life.session.instructions if life is not None and not life.over else None
        return self._mask.hide(text[:MAX_INSTRUCTIONS]) if isinstance(text, str) and text else None

    @property
    def status(self) -> ServerStatus:
        """Its state now."""
        failure = self._failure
        if failure is None and self._life is not None and self._life.link.output is not None:
            failure = diagnosis.prints_to_stdout(self._life.link.output)
        return ServerStatus(
            name=self.name,
            kind=self._config.type,
            state=self._state,
            since=self._since,
            starting_for=self._now() - self._entered_at if self._state is ServerState.STARTING else None,
            retry_in=None if self._retry_at is None else max(0.0, self._retry_at - self._now()),
            restarts=self._restarted,
            problem=None if failure is None else self._mask.hide(failure.problem),
            advice=None if failure is None else failure.advice,
            protocol_version=self._version,
            server_info=self._server_info,
            capabilities=self._capabilities,
            subscribes=self._subscribes,
            undeclared=self._undeclared and not self._subscribes,
            left_out=[self._mask.hide(str(RejectedEntry(*entry, why))) for entry, why in self._left_out.items()],
        )

    async def settled(self) -> ServerState:
        """Wait until it is no longer starting, and say what became of it."""
        while self._state is ServerState.STARTING:
            self._moved.clear()
            await self._moved.wait()
        return self._state

    def start(self) -> None:
        """Start it now, unless it is under way. Earlier failures are forgotten."""
        if self._task is not None and not self._task.done():
            if self._state in (ServerState.WAITING, ServerState.FAILED):
                self._restarts.forget()
                self._memory = NegotiationMemory()
                self._enter(ServerState.STARTING, self._failure)
                self._again.set()
            return
        self._restarts.forget()
        self._memory = NegotiationMemory()
        self._leaving = False
        self._scope = anyio.CancelScope()
        self._enter(ServerState.STARTING)
        self._task = asyncio.create_task(self._own(), name=f"MCP server {self.name}")

    async def stop(self, state: ServerState = ServerState.STOPPED) -> None:
        """Stop it and wait until nothing of it is left; afterwards it is in `state`."""
        task = self._task
        if task is not None and not task.done():
            self._leaving = True
            if self._life is not None:
                # Orderly at first: a server on HTTP is told that its session ends.
                self._life.leave()
                await asyncio.wait([task], timeout=STOP_SECONDS)
            self._scope.cancel()
            await asyncio.wait([task])
        self._news.close()
        self._retry_at = None
        self._enter(state)

    async def restart(self, config: MCPServerConfig) -> None:
        """Start it anew with other parameters, of which nothing is known yet. One that was stopped stays so."""
        stopped = self._state is ServerState.STOPPED
        await self.stop()
        self._mask, self._restarted = ServerMask(), 0
        self._capabilities, self._server_info, self._version = {}, None, None
        self.reconfigure(config)
        if not stopped:
            self.start()

    @property
    def at_rest(self) -> ServerState:
        """What it is when it does not run by configuration or by its owner's will."""
        return ServerState.DISABLED if self._config.disabled else ServerState.STOPPED

    def reconfigure(self, config: MCPServerConfig) -> None:
        """Take on settings that need no restart."""
        self._config = config
        if self._life is not None:
            self._news.everything()
            self._life.soon(self._settle_in)

    def tell_tools(self) -> None:
        """Tell the listener at once of a changed tool list, if the server announced one."""
        self._news.tell_tools()

    async def subscribe(self, uris: Sequence[str]) -> None:
        """Be told of updates of exactly these resources; at a server that does not run, from its next start on."""
        self._wanted = tuple(uris)
        if self._life is not None:
            await self._renew(self._life)

    async def watch(self, uris: Sequence[str]) -> None:
        """Be told of updates of exactly these resources, too: an Agent subscribed to them.

        Raises:
            SMCPError: The server does not run, or refuses one that was not watched before.
        """
        new = set(uris).difference(self._watched)
        if not new:
            self._watched = tuple(uris)
            if self._life is not None:
                await self._renew(self._life)
            return
        life = self._living()
        before, self._watched = self._watched, tuple(uris)
        await self._renew(life)
        if life.subscriptions.unsupported:
            self._watched = before
            raise BadRequest(f"MCP server {self.name!r} takes no subscriptions", details={"mcp_server": self.name})
        if refused := [error for uri in new if (error := life.subscriptions.refused.get(uri)) is not None]:
            self._watched = before
            await self._renew(life)
            raise self._failed(life, refused[0])

    async def _renew(self, life: ServerRun) -> None:
        """Subscribe to what is wanted; what an Agent wants also where the server does not declare that it can be."""
        declared = self._subscribes or is_modern(life.session)
        wanted = (*self._wanted, *self._watched) if declared else self._watched
        if declared or wanted or life.subscriptions.uris:
            await life.subscriptions.want(wanted)

    def _living(self) -> ServerRun:
        if self._life is None or self._life.over:
            # Its own words stay with the owner, who finds them in the status and the log.
            why = f" ({self._failure.kind})" if self._failure is not None else ""
            raise ToolFailed(f"MCP server {self.name!r} {_REFUSALS[self._state]}{why}")
        return self._life

    async def _own(self) -> None:
        try:
            with self._scope:
                await self._live_on()
        except Exception as error:
            logger.exception("The session of an MCP server failed", extra={"server": self.name})
            self._enter(ServerState.FAILED, diagnosis.internal(type(error).__name__))

    async def _live_on(self) -> None:
        while (failure := await self._live()) is not None and not self._leaving:
            logger.warning(
                "MCP server %s failed: %s",
                self.name,
                self._mask.hide(failure.problem),
                extra={"server": self.name, "retry": failure.retry},
            )
            if failure.retry == "never":
                self._enter(ServerState.FAILED, failure)
                return
            pause = self._restarts.failed(strikes=failure.retry == "counted", slow=failure.retry == "slow")
            self._again.clear()
            self._retry_at = self._now() + pause.seconds
            self._enter(ServerState.FAILED if pause.long else ServerState.WAITING, failure)
            with anyio.move_on_after(pause.seconds):
                await self._again.wait()
            self._retry_at = None
            self._restarted += 1
            self._enter(ServerState.STARTING, failure)

    async def _live(self) -> ServerFailure | None:
        """Live once; return why it ended, or None if it was stopped."""
        try:
            resolved = await self._resolve(self._config)
        except SMCPError as error:
            return diagnosis.unresolved(error.message)
        self._mask = ServerMask.between(self._config, resolved)
        life, failure = await self._try(resolved)
        if self._memory.asking:
            # It went away at a question of the newer era. Perhaps because of it: at once again, without.
            life, failure = await self._try(resolved)
        if failure is not None and not life.running and isinstance(life.link, StreamableTransport) and life.link.is_sse:
            self._memory.sse = True
            life, second = await self._try(resolved)
            # Where the older transport does not answer either, the configured one is the one to mend.
            self._memory.sse = life.running
            failure = second if life.running else failure
        return failure

    async def _try(self, resolved: MCPServerConfig) -> tuple[ServerRun, ServerFailure | None]:
        link = transport_for(resolved, self._mask, self._guardian, grace=self._timing.grace, sse=self._memory.sse)
        life = ServerRun(self.name, link, self._news, self._memory, self._timing, resolved.start_timeout)
        life.on_left_out = self._leave_out
        try:
            return life, await life.run(lambda: self._running(life))
        finally:
            self._life = None
            self._left_out = {}
            if life.running:
                self._restarts.lived(self._now() - life.started_at)
                self._news.everything()

    def _running(self, life: ServerRun) -> None:
        self._life = life
        self._version = life.session.protocol_version
        self._server_info = _json(life.session.server_info)
        self._capabilities = _json(life.session.server_capabilities) or {}
        self._undeclared = False
        life.link.on_gap = lambda: self._news.everything((*self._wanted, *self._watched))
        self._enter(ServerState.RUNNING)
        self._news.everything((*self._wanted, *self._watched))
        life.soon(self._settle_in)

    async def _settle_in(self) -> None:
        """What is done after each start: renew the subscriptions, and look for what was not declared."""
        try:
            life = self._living()
            await self._renew(life)
            if not self._subscribes:
                resources, _ = await self.list_resources()
                if any(str(resource.get("uri", "")).lower().startswith(SCHEMES) for resource in resources):
                    self._undeclared = True
                    notify(self._listener.status_changed, self.name)
        except SMCPError as error:
            logger.debug("A server did not settle in: %d", error.code, extra={"server": self.name})

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _leave_out(self, entries: list[RejectedEntry]) -> None:
        for entry in entries:
            if len(self._left_out) < MAX_LEFT_OUT:
                self._left_out[entry.kind, entry.name] = entry.why
            if entry not in self._reported and len(self._reported) < MAX_LEFT_OUT:
                self._reported.add(entry)
                logger.warning(
                    "list entry left out server=%s %s",
                    self.name,
                    self._mask.hide(str(entry)),
                    extra={"server": self.name},
                )

    @property
    def _subscribes(self) -> bool:
        resources = self._capabilities.get("resources")
        if resources is None or self._state is not ServerState.RUNNING:
            return False
        return bool(resources.get("subscribe")) or self._config.subscribe == "assume"

    def _enter(self, state: ServerState, failure: ServerFailure | None = None) -> None:
        self._failure = failure
        if state is not self._state:
            self._state = state
            self._since = _now()
            self._entered_at = self._now()
        self._moved.set()
        notify(self._listener.status_changed, self.name)


def _json(model: BaseModel | None) -> Json | None:
    return None if model is None else dict(model.model_dump(mode="json", by_alias=True, exclude_none=True))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def transport_for(
    config: MCPServerConfig, mask: ServerMask, guardian: WatchdogClient | None, *, grace: float, sse: bool = False
) -> McpTransport:
    """Return the link for a configuration whose placeholders have been resolved.

    Args:
        sse: Whether a URL configured for streamable HTTP turned out to speak the older transport.
    """
    limit = config.max_message or MAX_MESSAGE
    if isinstance(config, MCPServerStdioConfig):
        return StdioTransport(config.server_parameters, guardian, grace=grace, max_message=limit)
    if isinstance(config, MCPServerStreamableHttpConfig):
        if not sse:
            return StreamableTransport(config.server_parameters, mask, limit)
        return SseTransport(_as_sse(config.server_parameters), mask, limit)
    return SseTransport(config.server_parameters, mask, limit)


def _as_sse(parameters: MCPServerStreamableHttpParameters) -> MCPSSEParameters:
    return MCPSSEParameters(
        url=parameters.url,
        headers=parameters.headers,
        timeout=parameters.timeout.total_seconds(),
        sse_read_timeout=parameters.sse_read_timeout.total_seconds(),
    )
