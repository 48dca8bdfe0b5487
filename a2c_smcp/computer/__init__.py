"""The Computer: hosts MCP servers on one machine and offers them to an Agent."""

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

__all__ = [
    "BaseMCPServerConfig",
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
