# mypy: ignore-errors
# This runs against another release of the package, which is not the one the type checker sees.
"""The published SDK as Computer, with a real MCP server behind it."""

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lines import Lines
from mcp import StdioServerParameters

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.mcp_clients.model import StdioServerConfig, ToolMeta
from a2c_smcp.computer.socketio.client import SMCPComputerClient

NAMESPACE = "/smcp"
MCP_SERVER = Path(__file__).with_name("mcp_server.py")


class ObservedComputer(SMCPComputerClient):
    """The SDK's client, which also reports each request and notification as it came."""

    def __init__(self, lines: Lines, computer: Computer) -> None:
        self._lines = lines
        super().__init__(computer=computer)

    async def _trigger_event(self, event: str, namespace: str, *args: Any) -> Any:
        if event.startswith(("notify:", "client:")):
            self._lines.event(event, args[0])
        return await super()._trigger_event(event, namespace, *args)


class ComputerDriver:
    """The actions of a Computer, each one method of the SDK. The MCP server starts once and stays."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._computer: Any = None
        self._client: Any = None

    async def connect(self, url: str, name: str, headers: dict[str, str], auth: dict[str, str]) -> Any:
        if self._computer is None:
            self._computer = Computer(name=name, mcp_servers={_mcp_server()})
            await self._computer.boot_up()
        self._computer.name = name
        self._client = ObservedComputer(self._lines, self._computer)
        # The default of one second is for a machine with nothing else to do.
        await self._client.connect(url, headers=headers, auth=auth or None, namespaces=[NAMESPACE], wait_timeout=60)
        return {"sdk": version("a2c-smcp")}

    async def join(self, office: str) -> None:
        await self._client.join_office(office)

    async def leave(self, office: str) -> None:
        await self._client.leave_office(office)

    async def emit_update(self, what: str) -> None:
        # The SDK names this one differently from its event.
        method = "emit_refresh_desktop" if what == "desktop" else f"emit_update_{what}"
        await getattr(self._client, method)()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.disconnect()


def _mcp_server() -> StdioServerConfig:
    return StdioServerConfig(
        name="demo",
        server_parameters=StdioServerParameters(command=sys.executable, args=[str(MCP_SERVER)]),
        default_tool_meta=ToolMeta(auto_apply=True),
    )


async def main() -> None:
    lines = Lines()
    driver = ComputerDriver(lines)
    names = (name for name in vars(ComputerDriver) if not name.startswith("_"))
    await lines.serve({name: getattr(driver, name) for name in names})
    await driver.close()
    # 0.1 hangs in its own shut-down. The MCP server ends when its pipe does.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
