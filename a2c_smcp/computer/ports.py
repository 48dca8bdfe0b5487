"""The interfaces between the parts of the Computer. All data is JSON with MCP's wire names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from a2c_smcp.types import SERVER_NAME

Json: TypeAlias = dict[str, Any]

ProgressCallback: TypeAlias = Callable[[float, float | None, str | None], None]
"""Called with the progress of a running call: progress, total, message."""


class ServerState(StrEnum):
    """The state of an MCP server."""

    DISABLED = "disabled"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    """It failed and restarts after a delay."""
    FAILED = "failed"
    """It failed too often, or its owner has to act; most failures are retried after minutes, later every hour."""
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of one MCP server.

    Attributes:
        problem: A description of the latest failure; None if there is none.
        advice: What its owner can do about it.
        starting_for: Seconds since its start began, while it is starting.
        retry_in: Seconds until the automatic restart; None if none is planned.
        subscribes: Whether it takes part in Desktop and Finder.
        undeclared: It offers `window://` or `dpe://` resources without declaring subscriptions.
        left_out: The entries of its lists that violate MCP and are not offered, each with the reason.
    """

    name: SERVER_NAME
    kind: str
    state: ServerState
    since: str
    starting_for: float | None = None
    retry_in: float | None = None
    restarts: int = 0
    problem: str | None = None
    advice: str | None = None
    protocol_version: str | None = None
    server_info: Json | None = None
    capabilities: Json = field(default_factory=dict)
    subscribes: bool = False
    undeclared: bool = False
    left_out: list[str] = field(default_factory=list)


class McpSession(Protocol):
    """One MCP server of any transport and protocol era. The session survives restarts of the server.

    Every request raises `ToolFailed` if the server is not running or dies meanwhile, and an `SMCPError` with the code,
    message and data of the server's error reply.
    """

    name: SERVER_NAME

    @property
    def status(self) -> ServerStatus:
        """The current status."""

    def flush_tools(self) -> None:
        """Call the listener's `tools_changed` at once if an announced change is pending."""

    async def list_tools(self) -> list[Json]:
        """Return all tools (every page) in MCP's JSON form."""

    @property
    def instructions(self) -> str | None:
        """The running server's instructions for models."""

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        """Run a tool and return its `CallToolResult` as JSON. Cancelling the task cancels the call at the server.

        Args:
            meta: The request's `_meta`.
        """

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """Return one page of resources and the next cursor."""

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """Return one page of templates and the next cursor."""

    async def read_resource(self, uri: str) -> list[Json]:
        """Return the contents of a resource."""

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        """Return the `contents` of a resource, and the `_meta` of the reply as `meta` if it has one."""

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        """Return the `completion` object of `completion/complete`."""

    async def subscribe(self, uris: Sequence[str]) -> None:
        """Subscribe to exactly these resources for the Computer, also after a restart of the server."""

    async def watch(self, uris: Sequence[str]) -> None:
        """Subscribe to exactly these resources for an Agent, in addition to those of `subscribe`.

        Raises:
            SMCPError: The server is not running, or refuses a new one.
        """


class McpSessions(Protocol):
    """The MCP servers of a Computer."""

    def get(self, name: SERVER_NAME) -> McpSession | None:
        """Return the session of that name, running or not."""

    def all(self) -> Mapping[SERVER_NAME, McpSession]:
        """Return every enabled server, in the order of the configuration."""


class ServerListener(Protocol):
    """Receives the events of the MCP servers. The methods must not block."""

    def tools_changed(self, server: SERVER_NAME) -> None:
        """The tool list may have changed: the server announced it, started or stopped."""

    def resources_changed(self, server: SERVER_NAME) -> None:
        """The resource list may have changed."""

    def resource_updated(self, server: SERVER_NAME, uri: str) -> None:
        """A resource has new contents."""

    def status_changed(self, server: SERVER_NAME) -> None:
        """The server started, failed or stopped."""
