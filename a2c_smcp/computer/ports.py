"""What the rooms of the Computer know of each other. Everything here speaks JSON in MCP's wire names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from a2c_smcp.types import SERVER_NAME

Json: TypeAlias = dict[str, Any]

ProgressCallback: TypeAlias = Callable[[float, float | None, str | None], None]
"""Told of a running call: how far, of how much, in which words."""


class ServerState(StrEnum):
    """Where an MCP server is in its life."""

    DISABLED = "disabled"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    """It failed and is started again after a pause."""
    FAILED = "failed"
    """It failed too often, or needs its owner; most are tried again after minutes, later every hour."""
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of one MCP server.

    Attributes:
        problem: What went wrong last, in words; None when all is well.
        advice: What its owner can do about it.
        starting_for: Seconds since its start began, while it is starting.
        retry_in: Seconds until it is started again by itself; None where that is not planned.
        subscribes: Whether it takes part in Desktop and Finder.
        undeclared: It offers `window://` or `dpe://` resources without declaring that it can be subscribed to.
        left_out: The entries of its lists that break a rule of MCP and are not offered: which one, and why.
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
    """One MCP server, whatever its transport and protocol era. It outlives restarts of the server behind it.

    Every request raises `ToolFailed` at once when the server is not running or dies under it, and an `SMCPError` with
    the code, message and data that the server itself answered with where it answered with an error.
    """

    name: SERVER_NAME

    @property
    def status(self) -> ServerStatus:
        """Its state now."""

    def tell_tools(self) -> None:
        """Call the listener's `tools_changed` now if the server announced a change that it has not heard of yet."""

    async def list_tools(self) -> list[Json]:
        """All tools (every cursor), in MCP's JSON form."""

    @property
    def instructions(self) -> str | None:
        """What the running server tells models about itself."""

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        """Run a tool; cancelling the awaiting task cancels it at the server. Returns the `CallToolResult` in JSON.

        Args:
            meta: The request's `_meta`.
        """

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """One page of resources and the next cursor."""

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """One page of templates and the next cursor."""

    async def read_resource(self, uri: str) -> list[Json]:
        """The contents of a resource."""

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        """The contents of a resource as `contents`, and the `_meta` of the answer as `meta` where it has one."""

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        """The `completion` object of `completion/complete`."""

    async def subscribe(self, uris: Sequence[str]) -> None:
        """Be told of updates of exactly these resources from now on (also after a restart of the server)."""

    async def watch(self, uris: Sequence[str]) -> None:
        """The same for those that an Agent subscribed to, which are told beside the others.

        Raises:
            SMCPError: The server does not run, or refuses one that was not watched before.
        """


class McpSessions(Protocol):
    """The MCP servers of a Computer."""

    def get(self, name: SERVER_NAME) -> McpSession | None:
        """The session of that name, running or not."""

    def all(self) -> Mapping[SERVER_NAME, McpSession]:
        """Every configured and enabled server, in the order of the configuration."""


class ServerListener(Protocol):
    """Who is told of what happens at the MCP servers. Nothing here waits."""

    def tools_changed(self, server: SERVER_NAME) -> None:
        """Its tool list may differ: it said so, or it came or went."""

    def resources_changed(self, server: SERVER_NAME) -> None:
        """Its resource list may differ."""

    def resource_updated(self, server: SERVER_NAME, uri: str) -> None:
        """One resource has new contents."""

    def status_changed(self, server: SERVER_NAME) -> None:
        """It started, failed, stopped."""
