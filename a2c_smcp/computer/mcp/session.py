"""The session of one configured MCP server: starts it, supervises it, restarts it. It outlives the server's runs."""

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
"""Replaces the placeholders of a configuration by their values; called at every start of a server."""

SCHEMES: Final = ("window://", "dpe://")
# Longer than any orderly shutdown takes.
STOP_SECONDS: Final = 15.0
MAX_INSTRUCTIONS: Final = 20_000
"""The most characters of a server's instructions that Agents get."""

MAX_REJECTED: Final = 100
"""The most rejected list entries of a server that are logged and shown."""

_REFUSALS: Final = {
    ServerState.DISABLED: "is disabled; its owner can enable it",
    ServerState.STARTING: "is starting; try again in a moment",
    ServerState.RUNNING: "is ending; try again in a moment",
    ServerState.WAITING: "failed and is started again soon; try again in a moment",
    ServerState.FAILED: "has failed; its owner can repair it and start it again",
    ServerState.STOPPED: "is stopped; its owner can start it",
}


class ServerSession(ServerRequests):
    """Implements `ports.McpSession`. One task owns all runs of the server; any task may send requests."""

    def __init__(
        self,
        config: MCPServerConfig,
        *,
        listener: ServerListener,
        resolve: ResolveConfig,
        watchdog: WatchdogClient | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.name = config.name
        self._config = config
        self._listener = listener
        self._resolve = resolve
        self._watchdog = watchdog
        self._timing = timing if timing is not None else Timing()
        self._notifications = ServerNotifications(config.name, listener)
        self._restarts = RestartCounter(self._timing.restarts, random.random)
        self._memory = NegotiationMemory()
        self._mask = ServerMask()
        self._subscribed: Sequence[str] = ()
        self._watched: Sequence[str] = ()
        self._run: ServerRun | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._scope = anyio.CancelScope()
        self._state_changed = asyncio.Event()
        self._retry_now = asyncio.Event()
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
        self._rejected: dict[tuple[str, str], str] = {}
        self._reported: set[RejectedEntry] = set()

    @property
    def config(self) -> MCPServerConfig:
        """Its configuration with unresolved placeholders."""
        return self._config

    @property
    def instructions(self) -> str | None:
        """The running server's instructions for models, without configured values."""
        run = self._run
        text = run.session.instructions if run is not None and not run.over else None
        return self._mask.hide(text[:MAX_INSTRUCTIONS]) if isinstance(text, str) and text else None

    @property
    def status(self) -> ServerStatus:
        """The current state."""
        failure = self._failure
        if failure is None and self._run is not None and self._run.transport.output is not None:
            failure = diagnosis.prints_to_stdout(self._run.transport.output)
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
            left_out=[self._mask.hide(str(RejectedEntry(*entry, why))) for entry, why in self._rejected.items()],
        )

    async def settled(self) -> ServerState:
        """Wait until it is no longer starting, and return its state."""
        while self._state is ServerState.STARTING:
            self._state_changed.clear()
            await self._state_changed.wait()
        return self._state

    def start(self) -> None:
        """Start it now, unless it is starting or running. Earlier failures no longer count."""
        if self._task is not None and not self._task.done():
            if self._state in (ServerState.WAITING, ServerState.FAILED):
                self._restarts.reset()
                self._memory = NegotiationMemory()
                self._enter(ServerState.STARTING, self._failure)
                self._retry_now.set()
            return
        self._restarts.reset()
        self._memory = NegotiationMemory()
        self._stopping = False
        self._scope = anyio.CancelScope()
        self._enter(ServerState.STARTING)
        self._task = asyncio.create_task(self._supervise(), name=f"MCP server {self.name}")

    async def stop(self, state: ServerState = ServerState.STOPPED) -> None:
        """Stop it, wait until its processes have ended, and enter `state`."""
        task = self._task
        if task is not None and not task.done():
            self._stopping = True
            if self._run is not None:
                # Orderly first, so that an HTTP server learns that its session ends.
                self._run.stop()
                await asyncio.wait([task], timeout=STOP_SECONDS)
            self._scope.cancel()
            await asyncio.wait([task])
        self._notifications.close()
        self._retry_at = None
        self._enter(state)

    async def restart(self, config: MCPServerConfig) -> None:
        """Restart it with new parameters. A stopped server stays stopped."""
        stopped = self._state is ServerState.STOPPED
        await self.stop()
        self._mask, self._restarted = ServerMask(), 0
        self._capabilities, self._server_info, self._version = {}, None, None
        self.reconfigure(config)
        if not stopped:
            self.start()

    @property
    def at_rest(self) -> ServerState:
        """State when intentionally not running."""
        return ServerState.DISABLED if self._config.disabled else ServerState.STOPPED

    def reconfigure(self, config: MCPServerConfig) -> None:
        """Apply settings that need no restart."""
        self._config = config
        if self._run is not None:
            self._notifications.everything()
            self._run.start_task(self._after_start)

    def flush_tools(self) -> None:
        """Notify the listener at once of a changed tool list, if a change is pending."""
        self._notifications.flush_tools()

    async def subscribe(self, uris: Sequence[str]) -> None:
        """Subscribe to exactly these resources for the Computer itself; effective at the next start if it is down."""
        self._subscribed = tuple(uris)
        if self._run is not None:
            await self._renew_subscriptions(self._run)

    async def watch(self, uris: Sequence[str]) -> None:
        """Subscribe to exactly these resources for an Agent, in addition to those of `subscribe`.

        Raises:
            SMCPError: The server is not running, or refuses a new one.
        """
        new = set(uris).difference(self._watched)
        if not new:
            self._watched = tuple(uris)
            if self._run is not None:
                await self._renew_subscriptions(self._run)
            return
        run = self._current_run()
        before, self._watched = self._watched, tuple(uris)
        await self._renew_subscriptions(run)
        if run.subscriptions.unsupported:
            self._watched = before
            raise BadRequest(f"MCP server {self.name!r} takes no subscriptions", details={"mcp_server": self.name})
        if refused := [error for uri in new if (error := run.subscriptions.refused.get(uri)) is not None]:
            self._watched = before
            await self._renew_subscriptions(run)
            raise self._failed(run, refused[0])

    async def _renew_subscriptions(self, run: ServerRun) -> None:
        """Send the subscriptions; those of an Agent even if the server does not declare support."""
        declared = self._subscribes or is_modern(run.session)
        wanted = (*self._subscribed, *self._watched) if declared else self._watched
        if declared or wanted or run.subscriptions.uris:
            await run.subscriptions.subscribe(wanted)

    def _current_run(self) -> ServerRun:
        if self._run is None or self._run.over:
            # The server's output is for the owner only, in the status and the log.
            why = f" ({self._failure.kind})" if self._failure is not None else ""
            raise ToolFailed(f"MCP server {self.name!r} {_REFUSALS[self._state]}{why}")
        return self._run

    async def _supervise(self) -> None:
        try:
            with self._scope:
                await self._run_until_stopped()
        except Exception as error:
            logger.exception("session failed: mcp_server=%s", self.name, extra={"server": self.name})
            self._enter(ServerState.FAILED, diagnosis.internal(type(error).__name__))

    async def _run_until_stopped(self) -> None:
        while (failure := await self._run_once()) is not None and not self._stopping:
            logger.warning(
                "server failed: mcp_server=%s problem=%s",
                self.name,
                self._mask.hide(failure.problem),
                extra={"server": self.name, "retry": failure.retry},
            )
            if failure.retry == "never":
                self._enter(ServerState.FAILED, failure)
                return
            pause = self._restarts.next_delay(counts=failure.retry == "counted", slow=failure.retry == "slow")
            self._retry_now.clear()
            self._retry_at = self._now() + pause.seconds
            self._enter(ServerState.FAILED if pause.long else ServerState.WAITING, failure)
            with anyio.move_on_after(pause.seconds):
                await self._retry_now.wait()
            self._retry_at = None
            self._restarted += 1
            self._enter(ServerState.STARTING, failure)

    async def _run_once(self) -> ServerFailure | None:
        """Run the server once; return why it ended, or None if it was stopped."""
        try:
            resolved = await self._resolve(self._config)
        except SMCPError as error:
            return diagnosis.unresolved(error.message)
        self._mask = ServerMask.between(self._config, resolved)
        run, failure = await self._attempt(resolved)
        if self._memory.discovering:
            # The server died during the request of the newer era, perhaps because of it: retry without.
            run, failure = await self._attempt(resolved)
        if (
            failure is not None
            and not run.running
            and isinstance(run.transport, StreamableTransport)
            and run.transport.is_sse
        ):
            self._memory.sse = True
            run, second = await self._attempt(resolved)
            # If the older transport fails as well, report the failure of the configured one.
            self._memory.sse = run.running
            failure = second if run.running else failure
        return failure

    async def _attempt(self, resolved: MCPServerConfig) -> tuple[ServerRun, ServerFailure | None]:
        transport = transport_for(resolved, self._mask, self._watchdog, grace=self._timing.grace, sse=self._memory.sse)
        run = ServerRun(self.name, transport, self._notifications, self._memory, self._timing, resolved.start_timeout)
        run.on_rejected = self._reject
        try:
            return run, await run.run(lambda: self._on_running(run))
        finally:
            self._run = None
            self._rejected = {}
            if run.running:
                self._restarts.ran_for(self._now() - run.started_at)
                self._notifications.everything()

    def _on_running(self, run: ServerRun) -> None:
        self._run = run
        self._version = run.session.protocol_version
        self._server_info = _json(run.session.server_info)
        self._capabilities = _json(run.session.server_capabilities) or {}
        self._undeclared = False
        run.transport.on_gap = lambda: self._notifications.everything((*self._subscribed, *self._watched))
        self._enter(ServerState.RUNNING)
        self._notifications.everything((*self._subscribed, *self._watched))
        run.start_task(self._after_start)

    async def _after_start(self) -> None:
        """After each start: renew the subscriptions, and detect undeclared windows and documents."""
        try:
            run = self._current_run()
            await self._renew_subscriptions(run)
            if not self._subscribes:
                resources, _ = await self.list_resources()
                if any(str(resource.get("uri", "")).lower().startswith(SCHEMES) for resource in resources):
                    self._undeclared = True
                    notify(self._listener.status_changed, self.name)
        except SMCPError as error:
            logger.debug(
                "setup after start failed: mcp_server=%s code=%d", self.name, error.code, extra={"server": self.name}
            )

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _reject(self, entries: list[RejectedEntry]) -> None:
        for entry in entries:
            if len(self._rejected) < MAX_REJECTED:
                self._rejected[entry.kind, entry.name] = entry.why
            if entry not in self._reported and len(self._reported) < MAX_REJECTED:
                self._reported.add(entry)
                logger.warning(
                    "list entry rejected: mcp_server=%s %s",
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
        self._state_changed.set()
        notify(self._listener.status_changed, self.name)


def _json(model: BaseModel | None) -> Json | None:
    return None if model is None else dict(model.model_dump(mode="json", by_alias=True, exclude_none=True))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def transport_for(
    config: MCPServerConfig, mask: ServerMask, watchdog: WatchdogClient | None, *, grace: float, sse: bool = False
) -> McpTransport:
    """Return the transport for a configuration with resolved placeholders.

    Args:
        sse: Whether a URL configured for streamable HTTP turned out to speak the older transport.
    """
    limit = config.max_message or MAX_MESSAGE
    if isinstance(config, MCPServerStdioConfig):
        return StdioTransport(config.server_parameters, watchdog, grace=grace, max_message=limit)
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
