"""The contract's name for `a2c_smcp.computer.config.models`."""

from a2c_smcp.computer.config.models import (
    BaseMCPServerConfig,
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerConfig,
    MCPServerInput,
    MCPServerInputBase,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    ToolMeta,
)

__all__ = [
    "BaseMCPServerConfig",
    "ComputerConfig",
    "MCPSSEConfig",
    "MCPSSEParameters",
    "MCPServerCommandInput",
    "MCPServerConfig",
    "MCPServerInput",
    "MCPServerInputBase",
    "MCPServerPickStringInput",
    "MCPServerPromptStringInput",
    "MCPServerStdioConfig",
    "MCPServerStdioParameters",
    "MCPServerStreamableHttpConfig",
    "MCPServerStreamableHttpParameters",
    "ToolMeta",
]
