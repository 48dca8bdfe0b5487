"""The Computer: hosts MCP servers on one machine and offers them to an Agent."""

from typing import TYPE_CHECKING, Any

from a2c_smcp.computer.mcp_clients.loaders import Format, Loaded, load_config, parse_config, parse_config_text
from a2c_smcp.computer.mcp_clients.model import (
    BaseMCPServerConfig,
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerConfig,
    MCPServerInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    ToolMeta,
    undefined_inputs,
)
from a2c_smcp.computer.mcp_clients.public import public_config
from a2c_smcp.computer.mcp_clients.schema import config_schema

if TYPE_CHECKING:
    from a2c_smcp.computer.computer import Computer

__all__ = [
    "BaseMCPServerConfig",
    "Computer",
    "ComputerConfig",
    "Format",
    "Loaded",
    "MCPSSEConfig",
    "MCPSSEParameters",
    "MCPServerCommandInput",
    "MCPServerConfig",
    "MCPServerInput",
    "MCPServerPickStringInput",
    "MCPServerPromptStringInput",
    "MCPServerStdioConfig",
    "MCPServerStdioParameters",
    "MCPServerStreamableHttpConfig",
    "MCPServerStreamableHttpParameters",
    "ToolMeta",
    "config_schema",
    "load_config",
    "parse_config",
    "parse_config_text",
    "public_config",
    "undefined_inputs",
]


def __getattr__(name: str) -> Any:
    # Only who embeds a Computer needs the `computer` extra; configurations can be read without it.
    if name == "Computer":
        from a2c_smcp.computer.computer import Computer  # noqa: PLC0415

        return Computer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
