"""Converts errors of the protocol to JSON-RPC errors: same code, message and details, redacted."""

from mcp import MCPError
from mcp.types import INVALID_PARAMS

from a2c_smcp.errors import SMCPError, to_wire


def as_mcp_error(error: SMCPError) -> MCPError:
    """Return the error for a client: the code of the protocol, details as data."""
    return _mcp_error(error, error.code)


def invalid_params(error: SMCPError) -> MCPError:
    """Return the error of a request that MCP defines as invalid."""
    return _mcp_error(error, INVALID_PARAMS)


def _mcp_error(error: SMCPError, code: int) -> MCPError:
    body = to_wire(error)["error"]
    return MCPError(code, body["message"], body.get("details"))
