"""A Computer with a real MCP server, and the Server it dials."""

import sys
from pathlib import Path
from typing import Any

from a2c_smcp.computer import ComputerConfig, parse_config

SERVERS = Path(__file__).parents[1] / "mcp_servers"
AUTO = {"auto_apply": True}


def office_config(*names: str, **settings: Any) -> ComputerConfig:
    """A configuration with one `office_server.py` for each name."""
    return parse_config(
        {
            "servers": {
                name: {
                    "type": "stdio",
                    "server_parameters": {
                        "command": sys.executable,
                        "args": [str(SERVERS / "office_server.py"), name],
                        "cwd": str(SERVERS.parents[2]),
                    },
                    "default_tool_meta": AUTO,
                }
                | settings
                for name in names
            }
        }
    ).config
