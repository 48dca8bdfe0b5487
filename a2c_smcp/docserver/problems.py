"""Errors as MCP tells them: the codes 4201 to 4204 with their details, the others under JSON-RPC's own."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import mcp.types as t
from mcp import MCPError

from a2c_smcp.errors import BadRequest, DocumentError, SMCPError, to_wire

log = logging.getLogger(__name__)

NOT_FOUND: Final = -32002
"""MCP's code for a resource that is not there, until 2025-11-25; later it is one of invalid parameters."""


def mcp_error(error: SMCPError) -> MCPError:
    """Return what a client is told; nothing in it names a place on this machine."""
    body = to_wire(error)["error"]
    if isinstance(error, DocumentError) and error.code > 4200:
        code = error.code
    else:
        code = t.INVALID_PARAMS if isinstance(error, BadRequest) else t.INTERNAL_ERROR
    return MCPError(code, body["message"], body.get("details"))


def not_found(uri: str, protocol_version: str) -> MCPError:
    """Return what a client is told of a URI that is none of ours."""
    code = t.INVALID_PARAMS if protocol_version >= "2026" else NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": uri})


@asynccontextmanager
async def as_mcp_errors() -> AsyncIterator[None]:
    """Tell whatever goes wrong in the block as MCP does; what nobody foresaw without its words."""
    try:
        yield
    except SMCPError as error:
        raise mcp_error(error) from error
    except MCPError:
        raise
    except Exception as error:
        log.exception("A request failed")
        raise MCPError(t.INTERNAL_ERROR, "Something failed that the caller cannot mend; the log says more") from error
