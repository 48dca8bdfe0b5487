# mypy: ignore-errors
# This runs on the MCP library of the SDK's environment, which is not the one the type checker sees.
"""The MCP server behind an SDK's Computer: tools that echo, take their time, draw and announce, and a window."""

import asyncio
import base64
from typing import Any

from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from pydantic import AnyUrl

WINDOW = "window://demo/board?priority=50"
BOARD = "Nothing is due today."
server: Server[Any, Any] = Server("demo")


def _tool(name: str, description: str, **properties: str) -> types.Tool:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    return types.Tool(
        name=name,
        description=description,
        inputSchema={"type": "object", "properties": schema, "required": list(schema)},
    )


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        _tool("echo", "Say it again.", text="string"),
        _tool("sleep_ms", "Answer after a while.", ms="integer"),
        _tool("picture", "Return an image of so many bytes.", size="integer"),
        _tool("announce", "Notify that the tools or the window have changed.", what="string"),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    match name:
        case "echo":
            return [types.TextContent(type="text", text=arguments["text"])]
        case "sleep_ms":
            await asyncio.sleep(arguments["ms"] / 1000)
            return [types.TextContent(type="text", text=f"slept {arguments['ms']} ms")]
        case "picture":
            drawn = base64.b64encode(bytes(arguments["size"])).decode()
            return [types.ImageContent(type="image", data=drawn, mimeType="image/png")]
        case "announce":
            session = server.request_context.session
            if arguments["what"] == "tools":
                await session.send_tool_list_changed()
            else:
                await session.send_resource_updated(AnyUrl(WINDOW))
            return [types.TextContent(type="text", text="announced")]
    raise ValueError(f"no tool {name}")


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    return [types.Resource(uri=AnyUrl(WINDOW), name="board", mimeType="text/plain")]


@server.read_resource()
async def read_resource(uri: AnyUrl) -> list[ReadResourceContents]:
    return [ReadResourceContents(content=BOARD, mime_type="text/plain")]


async def main() -> None:
    capabilities = NotificationOptions(tools_changed=True, resources_changed=True)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(capabilities))


if __name__ == "__main__":
    asyncio.run(main())
