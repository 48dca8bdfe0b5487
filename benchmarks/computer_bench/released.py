# mypy: ignore-errors
# This runs against another release of the package, which is not the one the type checker sees.
"""The published SDK's Computer with one MCP server, in its own environment: `released.py URL OFFICE COMMAND...`."""

import os
import sys

# The SDK logs to stdout, where nobody would read it; from here on only the one line below goes there.
out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

import asyncio  # noqa: E402
from pathlib import Path  # noqa: E402

from mcp import StdioServerParameters  # noqa: E402

from a2c_smcp.computer.computer import Computer  # noqa: E402
from a2c_smcp.computer.mcp_clients.model import StdioServerConfig, ToolMeta  # noqa: E402
from a2c_smcp.computer.socketio.client import SMCPComputerClient  # noqa: E402


async def main(url: str, office: str, command: list[str]) -> None:
    parameters = StdioServerParameters(command=command[0], args=command[1:], cwd=str(Path.cwd()))
    server = StdioServerConfig(name="bench", server_parameters=parameters, default_tool_meta=ToolMeta(auto_apply=True))
    computer = Computer(name="released", mcp_servers={server})
    await computer.boot_up()
    client = SMCPComputerClient(computer=computer)
    await client.connect(url, namespaces=["/smcp"], transports=["websocket"], wait_timeout=10)
    await client.join_office(office)
    out.write("joined\n")
    out.flush()
    await client.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
