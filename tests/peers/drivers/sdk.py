# mypy: ignore-errors
# This runs against another release of the package, which is not the one the type checker sees.
"""One release of the published SDK as Agent, as Computer with a real MCP server, and as Server, in one process.

An action is named `role.action`, and so are the events that a role reports.
"""

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import socketio
import uvicorn
from lines import Lines
from mcp import StdioServerParameters

from a2c_smcp.agent.auth import DefaultAgentAuthProvider
from a2c_smcp.agent.client import AsyncSMCPAgentClient
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.mcp_clients.model import StdioServerConfig, ToolMeta
from a2c_smcp.computer.socketio.client import SMCPComputerClient
from a2c_smcp.server.auth import AuthenticationProvider
from a2c_smcp.server.namespace import SMCPNamespace

try:
    from a2c_smcp.server.middleware import A2CProtocolVersionASGIMiddleware as VersionGate
except ImportError:  # 0.1 checks no versions
    VersionGate = None

NAMESPACE = "/smcp"
MCP_SERVER = Path(__file__).with_name("mcp_server.py")


class ObservedAgent(AsyncSMCPAgentClient):
    """The SDK's client, which also reports each notification as it came and the id of each call it makes."""

    def __init__(self, lines: Lines, auth_provider: DefaultAgentAuthProvider) -> None:
        self._lines = lines
        super().__init__(auth_provider, event_handler=Callbacks(lines))

    async def _trigger_event(self, event: str, namespace: str, *args: Any) -> Any:
        if event.startswith("notify:"):
            self._lines.event(f"agent.{event}", args[0])
        return await super()._trigger_event(event, namespace, *args)

    def create_tool_call_request(self, *args: Any) -> Any:
        request = super().create_tool_call_request(*args)
        self._lines.event("agent.peer:tool_call", {"req_id": request["req_id"]})
        return request


class Callbacks:
    """What a user of the SDK implements; only what the SDK fetched by itself is of interest."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    async def on_computer_enter_office(self, data: Any, client: Any) -> None: ...

    async def on_computer_leave_office(self, data: Any, client: Any) -> None: ...

    async def on_computer_update_config(self, data: Any, client: Any) -> None: ...

    async def on_tools_received(self, computer: str, tools: list[Any], client: Any) -> None:
        received = {"computer": computer, "tools": [tool["name"] for tool in tools]}
        self._lines.event("agent.peer:tools_received", received)

    async def on_skills_received(self, computer: str, skills: list[Any], client: Any) -> None:
        self._lines.event("agent.peer:skills_received", {"computer": computer, "skills": skills})


class Agent:
    """The actions of an Agent, each one method of the SDK."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._name = self._id = ""
        self._client: Any = None

    async def connect(
        self,
        url: str,
        name: str,
        office: str,
        headers: dict[str, str],
        auth: dict[str, str],
        agent_id: str | None = None,
    ) -> Any:
        self._name, self._id = name, agent_id or name
        provider = DefaultAgentAuthProvider(self._id, office, extra_headers=headers, auth_data=auth)
        self._client = ObservedAgent(self._lines, provider)
        # The default of one second is for a machine with nothing else to do.
        await self._client.connect_to_server(url, wait_timeout=60)
        return {"sdk": version("a2c-smcp")}

    async def join(self, office: str) -> None:
        # Without the namespace the SDK emits to "/", where it is not connected.
        await self._client.join_office(office, self._name, namespace=NAMESPACE)

    async def leave(self, office: str) -> None:
        await self._client.leave_office(office, namespace=NAMESPACE)

    async def list_room(self, office: str) -> Any:
        return await self._client.get_computers_in_office(office)

    async def get_tools(self, computer: str) -> Any:
        return (await self._client.get_tools_from_computer(computer))["tools"]

    async def tool_call(self, computer: str, tool: str, params: dict[str, Any], timeout: int = 20) -> Any:
        result = await self._client.emit_tool_call(computer, tool, params, timeout)
        return result.model_dump(mode="json")

    async def get_desktop(self, computer: str, size: int | None = None, window: str | None = None) -> Any:
        return (await self._client.get_desktop_from_computer(computer, size=size, window=window))["desktops"]

    async def get_config(self, computer: str) -> Any:
        return await self._client.get_config_from_computer(computer)

    async def get_resources(self, computer: str, mcp_server: str) -> Any:
        return (await self._client.get_resources(computer, mcp_server))["resources"]

    async def get_skills(self, computer: str) -> Any:
        return (await self._client.get_skills(computer))["skills"]

    async def cancel(self, req_id: str) -> None:
        await self._client.emit("server:tool_call_cancel", {"agent": self._id, "req_id": req_id}, namespace=NAMESPACE)

    async def call(self, event: str, data: Any) -> Any:
        return await self._client.call(event, data, namespace=NAMESPACE, timeout=60)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.disconnect()


class ObservedComputer(SMCPComputerClient):
    """The SDK's client, which also reports each request and notification as it came."""

    def __init__(self, lines: Lines, computer: Computer) -> None:
        self._lines = lines
        super().__init__(computer=computer)

    async def _trigger_event(self, event: str, namespace: str, *args: Any) -> Any:
        if event.startswith(("notify:", "client:")):
            self._lines.event(f"computer.{event}", args[0])
        return await super()._trigger_event(event, namespace, *args)


class ComputerRole:
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


class OpenDoor(AuthenticationProvider):
    """Lets everybody in."""

    async def authenticate(self, *_: Any, **__: Any) -> bool:
        return True


class Server:
    """A server put together as the SDK's documentation does: from 0.2 on behind its check of versions."""

    def __init__(self, _: Lines) -> None:
        self._running: Any = None

    async def start(self) -> Any:
        server = socketio.AsyncServer(async_mode="asgi")
        server.register_namespace(SMCPNamespace(OpenDoor()))
        app = socketio.ASGIApp(server, socketio_path="/socket.io")
        if VersionGate is not None:
            app = VersionGate(app)
        config = uvicorn.Config(app, port=0, log_level="error", lifespan="off")
        running = uvicorn.Server(config)
        config.load()
        running.lifespan = config.lifespan_class(config)
        await running.startup()
        self._running = asyncio.create_task(running.main_loop())
        port = running.servers[0].sockets[0].getsockname()[1]
        return {"url": f"http://127.0.0.1:{port}", "sdk": version("a2c-smcp")}


async def main() -> None:
    lines = Lines()
    roles = {"agent": Agent(lines), "computer": ComputerRole(lines), "server": Server(lines)}
    actions = {
        f"{role}.{name}": getattr(driver, name)
        for role, driver in roles.items()
        for name in vars(type(driver))
        if not name.startswith("_")
    }
    await lines.serve(actions)
    # 0.1 hangs in its own shut-down. The MCP server ends when its pipe does.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
