"""The handlers of Agents' requests: one function for each event, from a validated payload to the reply."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, cast

from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.resources.agent_subscriptions import AgentSubscriptions
from a2c_smcp.computer.resources.reading import ResourceReader
from a2c_smcp.smcp import (
    COMPLETE_EVENT,
    GET_CONFIG_EVENT,
    GET_DESKTOP_EVENT,
    GET_FINDER_EVENT,
    GET_RESOURCE_TEMPLATES_EVENT,
    GET_RESOURCES_EVENT,
    GET_TOOLS_EVENT,
    READ_RESOURCE_EVENT,
    SUBSCRIBE_RESOURCE_EVENT,
    TOOL_CALL_EVENT,
    UNSUBSCRIBE_RESOURCE_EVENT,
    GetComputerConfigRet,
    GetFinderRet,
    SMCPTool,
    ToolCallReq,
)
from a2c_smcp.types import Desktop


class ComputerServices(Protocol):
    """What a Computer offers to its owner and to Agents."""

    resources: ResourceReader
    subscriptions: AgentSubscriptions

    async def call_tool(self, request: ToolCallReq) -> Json:
        """Run a tool."""

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that may be called."""

    async def desktop(self, size: int | None, window: str | None) -> list[Desktop]:
        """Return the rendered windows."""

    async def finder(
        self, keywords: Sequence[str] | None, file_type: str | None, offset: int, limit: int
    ) -> GetFinderRet:
        """Return a page of the catalogue of documents."""

    def config(self) -> GetComputerConfigRet:
        """Return the configuration without secrets."""


Handler: TypeAlias = Callable[[ComputerServices, Json], Awaitable[Json]]


async def _call(computer: ComputerServices, request: Json) -> Json:
    return await computer.call_tool(cast("ToolCallReq", request))


async def _tools(computer: ComputerServices, request: Json) -> Json:
    return {"tools": await computer.tools(), "req_id": request["req_id"]}


async def _config(computer: ComputerServices, _: Json) -> Json:
    return dict(computer.config())


async def _desktop(computer: ComputerServices, request: Json) -> Json:
    desktops = await computer.desktop(request.get("desktop_size"), request.get("window"))
    return {"desktops": desktops, "req_id": request["req_id"]}


async def _finder(computer: ComputerServices, request: Json) -> Json:
    page = await computer.finder(
        request.get("keywords"), request.get("file_type"), request.get("offset", 0), request.get("limit", 20)
    )
    return {**page, "req_id": request["req_id"]}


async def _read(computer: ComputerServices, request: Json) -> Json:
    found = await computer.resources.read(request["uri"], request.get("mcp_server"), request.get("meta"))
    return found | {"req_id": request["req_id"]}


async def _resources(computer: ComputerServices, request: Json) -> Json:
    page = await computer.resources.get_resources(request["mcp_server"], request.get("cursor"))
    return page | {"req_id": request["req_id"]}


async def _templates(computer: ComputerServices, request: Json) -> Json:
    page = await computer.resources.get_resource_templates(request["mcp_server"], request.get("cursor"))
    return page | {"req_id": request["req_id"]}


async def _completion(computer: ComputerServices, request: Json) -> Json:
    completion = await computer.resources.complete(
        request.get("mcp_server"), request["ref"], request["argument"], request.get("context"), request.get("meta")
    )
    return completion | {"req_id": request["req_id"]}


async def _subscribe(computer: ComputerServices, request: Json) -> Json:
    name = await computer.subscriptions.subscribe(request["agent"], request["uri"], request.get("mcp_server"))
    return {"mcp_server": name, "req_id": request["req_id"]}


async def _unsubscribe(computer: ComputerServices, request: Json) -> Json:
    await computer.subscriptions.unsubscribe(request["agent"], request["uri"], request.get("mcp_server"))
    return {"req_id": request["req_id"]}


HANDLERS: Final[Mapping[str, Handler]] = {
    TOOL_CALL_EVENT: _call,
    GET_TOOLS_EVENT: _tools,
    GET_CONFIG_EVENT: _config,
    GET_DESKTOP_EVENT: _desktop,
    GET_FINDER_EVENT: _finder,
    READ_RESOURCE_EVENT: _read,
    GET_RESOURCES_EVENT: _resources,
    GET_RESOURCE_TEMPLATES_EVENT: _templates,
    COMPLETE_EVENT: _completion,
    SUBSCRIBE_RESOURCE_EVENT: _subscribe,
    UNSUBSCRIBE_RESOURCE_EVENT: _unsubscribe,
}
"""Handlers by event. The Agent gets the errors they raise as error acks."""
