"""The methods of an Agent's client that the bridge needs; `a2c_smcp.agent.AsyncSMCPAgentClient` has them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.agent.progress import ProgressHandler
from a2c_smcp.smcp import (
    CallToolResult,
    CompleteRet,
    GetComputerConfigRet,
    GetFinderRet,
    GetResourcesRet,
    GetResourceTemplatesRet,
    ReadResourceRet,
    SessionInfo,
    SMCPTool,
)


class OfficeClient(Protocol):
    """The client of an Agent in an office."""

    async def connect(self) -> None:
        """Connect, join the office, and stay connected."""

    async def close(self) -> None:
        """Leave the office and disconnect."""

    def on(self, kind: str, handler: Callable[[OfficeEvent], Awaitable[None] | None]) -> Callable[[], None]:
        """Call `handler` for every event of a kind; returns an unsubscribe function."""

    async def list_room(self) -> list[SessionInfo]:
        """List the members of the office."""

    async def get_tools(self, computer: str) -> list[SMCPTool]:
        """Return a Computer's tools."""

    async def get_config(self, computer: str) -> GetComputerConfigRet:
        """Return a Computer's configuration."""

    async def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[str]:
        """Return a Computer's windows."""

    async def get_finder(
        self,
        computer: str,
        *,
        keywords: Sequence[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> GetFinderRet:
        """Return a page of a Computer's documents."""

    async def get_resources(self, computer: str, mcp_server: str, cursor: str | None = None) -> GetResourcesRet:
        """Return a page of the resources of an MCP server."""

    async def get_resource_templates(
        self, computer: str, mcp_server: str, cursor: str | None = None
    ) -> GetResourceTemplatesRet:
        """Return a page of the resource templates of an MCP server."""

    async def complete(
        self,
        computer: str,
        mcp_server: str | None,
        ref: Mapping[str, Any],
        argument: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> CompleteRet:
        """Complete an argument."""

    async def read_result(
        self, computer: str, uri: str, *, mcp_server: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> ReadResourceRet:
        """Read a resource and return the result of its MCP server."""

    async def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
        """Subscribe to updates of a resource."""

    async def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        """End a subscription."""

    async def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - the time-out of the tool, sent to the Computer
        req_id: str | None = None,
        on_progress: ProgressHandler | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Call a tool; cancelling this method cancels the call."""
