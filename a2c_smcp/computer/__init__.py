"""The Computer: hosts MCP servers on one machine and offers them to an Agent."""

from typing import TYPE_CHECKING, Any

from a2c_smcp.computer.config.loaders import ConfigFormat, LoadedConfig, load_config, parse_config, parse_config_text
from a2c_smcp.computer.config.models import (
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
    config_schema,
    undefined_inputs,
)
from a2c_smcp.computer.config.public_view import public_config

if TYPE_CHECKING:
    from a2c_smcp.computer.computer import Computer

__all__ = [
    "BaseMCPServerConfig",
    "Computer",
    "ComputerConfig",
    "ConfigFormat",
    "LoadedConfig",
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
