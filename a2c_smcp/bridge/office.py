"""What the bridge needs of an Agent's client. The real one is `a2c_smcp.agent.AsyncSMCPAgentClient`."""

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


class Office(Protocol):
    """An Agent's seat in an office."""

    async def connect(self) -> None:
        """Connect and join; from then on stay connected."""

    async def close(self) -> None:
        """Leave."""

    def on(self, kind: str, handler: Callable[[OfficeEvent], Awaitable[None] | None]) -> Callable[[], None]:
        """Call `handler` for every event of a kind."""

    async def list_room(self) -> list[SessionInfo]:
        """Return who is there."""

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
        """Return what completes an argument."""

    async def read_result(
        self, computer: str, uri: str, *, mcp_server: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> ReadResourceRet:
        """Return what an MCP server answers to the reading of a resource."""

    async def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
        """Hear of updates of a resource."""

    async def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        """Hear of them no more."""

    async def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - the request's own time-out, which travels with it
        req_id: str | None = None,
        on_progress: ProgressHandler | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Run a tool; whoever is cancelled while waiting cancels the call."""
