"""From a resolved configuration to the link that leads to its server."""

from a2c_smcp.computer.mcp_clients.guardian import Guardian
from a2c_smcp.computer.mcp_clients.links import MAX_MESSAGE, Link
from a2c_smcp.computer.mcp_clients.masking import Mask
from a2c_smcp.computer.mcp_clients.model import (
    MCPServerConfig,
    MCPServerStdioConfig,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEParameters,
)
from a2c_smcp.computer.mcp_clients.sse import SseLink
from a2c_smcp.computer.mcp_clients.stdio import StdioLink
from a2c_smcp.computer.mcp_clients.streamable import StreamableLink


def link_to(config: MCPServerConfig, mask: Mask, guardian: Guardian | None, *, grace: float, sse: bool = False) -> Link:
    """Return the link for a configuration whose placeholders have been resolved.

    Args:
        sse: Whether a URL configured for streamable HTTP turned out to speak the older transport.
    """
    limit = config.max_message or MAX_MESSAGE
    if isinstance(config, MCPServerStdioConfig):
        return StdioLink(config.server_parameters, guardian, grace=grace, max_message=limit)
    if isinstance(config, MCPServerStreamableHttpConfig):
        if not sse:
            return StreamableLink(config.server_parameters, mask, limit)
        return SseLink(_as_sse(config.server_parameters), mask, limit)
    return SseLink(config.server_parameters, mask, limit)


def _as_sse(parameters: MCPServerStreamableHttpParameters) -> MCPSSEParameters:
    return MCPSSEParameters(
        url=parameters.url,
        headers=parameters.headers,
        timeout=parameters.timeout.total_seconds(),
        sse_read_timeout=parameters.sse_read_timeout.total_seconds(),
    )
