"""Errors of the protocol as JSON-RPC errors: the same code, message and details, and nothing that must stay here."""

from mcp import MCPError
from mcp.types import INVALID_PARAMS

from a2c_smcp.errors import SMCPError, to_wire


def as_mcp_error(error: SMCPError) -> MCPError:
    """Return the error as a client gets it: the code is the protocol's, the details are its data."""
    return _made(error, error.code)


def invalid_params(error: SMCPError) -> MCPError:
    """Return the error of a request that MCP itself calls wrong."""
    return _made(error, INVALID_PARAMS)


def _made(error: SMCPError, code: int) -> MCPError:
    body = to_wire(error)["error"]
    return MCPError(code, body["message"], body.get("details"))
