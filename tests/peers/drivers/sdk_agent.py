# mypy: ignore-errors
# This runs against another release of the package, which is not the one the type checker sees.
"""The published SDK as Agent."""

import asyncio
from importlib.metadata import version
from typing import Any

from lines import Lines

from a2c_smcp.agent.auth import DefaultAgentAuthProvider
from a2c_smcp.agent.client import AsyncSMCPAgentClient

NAMESPACE = "/smcp"


class ObservedAgent(AsyncSMCPAgentClient):
    """The SDK's client, which also reports each notification as it came and the id of each call it makes."""

    def __init__(self, lines: Lines, auth_provider: DefaultAgentAuthProvider) -> None:
        self._lines = lines
        super().__init__(auth_provider, event_handler=Callbacks(lines))

    async def _trigger_event(self, event: str, namespace: str, *args: Any) -> Any:
        if event.startswith("notify:"):
            self._lines.event(event, args[0])
        return await super()._trigger_event(event, namespace, *args)

    def create_tool_call_request(self, *args: Any) -> Any:
        request = super().create_tool_call_request(*args)
        self._lines.event("peer:tool_call", {"req_id": request["req_id"]})
        return request


class Callbacks:
    """What a user of the SDK implements; only what the SDK fetched by itself is of interest."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    async def on_computer_enter_office(self, data: Any, client: Any) -> None: ...

    async def on_computer_leave_office(self, data: Any, client: Any) -> None: ...

    async def on_computer_update_config(self, data: Any, client: Any) -> None: ...

    async def on_tools_received(self, computer: str, tools: list[Any], client: Any) -> None:
        self._lines.event("peer:tools_received", {"computer": computer, "tools": [tool["name"] for tool in tools]})

    async def on_skills_received(self, computer: str, skills: list[Any], client: Any) -> None:
        self._lines.event("peer:skills_received", {"computer": computer, "skills": skills})


class AgentDriver:
    """The actions of an Agent, each one method of the SDK."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._name = ""
        self._client: Any = None

    async def connect(self, url: str, name: str, office: str, headers: dict[str, str], auth: dict[str, str]) -> Any:
        self._name = name
        provider = DefaultAgentAuthProvider(name, office, extra_headers=headers, auth_data=auth)
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
        call = {"agent": self._name, "req_id": req_id}
        await self._client.emit("server:tool_call_cancel", call, namespace=NAMESPACE)

    async def call(self, event: str, data: Any) -> Any:
        return await self._client.call(event, data, namespace=NAMESPACE, timeout=60)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.disconnect()


async def main() -> None:
    lines = Lines()
    driver = AgentDriver(lines)
    names = (name for name in vars(AgentDriver) if not name.startswith("_"))
    await lines.serve({name: getattr(driver, name) for name in names})
    await driver.close()


if __name__ == "__main__":
    asyncio.run(main())
