"""An MCP server on `mcp` 1.x, run in an environment of its own: `python life_old.py low | high`.

`low` raises errors with a code, `high` (FastMCP) can only put it into the text. Both deliver updates of resources that
they cannot declare.
"""

import asyncio
import sys
from importlib import import_module
from typing import Any

URI = "window://old/main"


def low() -> None:
    lowlevel, stdio, types = (import_module(f"mcp.{name}") for name in ("server.lowlevel", "server.stdio", "types"))
    error = import_module("mcp").McpError
    server = lowlevel.Server("old-low", version="1")

    @server.list_tools()  # type: ignore[untyped-decorator]
    async def list_tools() -> Any:
        return [types.Tool(name="change", inputSchema={"type": "object"})]

    @server.call_tool()  # type: ignore[untyped-decorator]
    async def call_tool(name: str, arguments: Any) -> Any:
        await server.request_context.session.send_resource_updated(URI)
        await server.request_context.session.send_tool_list_changed()
        return [types.TextContent(type="text", text=name)]

    @server.list_resources()  # type: ignore[untyped-decorator]
    async def list_resources() -> Any:
        return [types.Resource(uri=URI, name="main")]

    @server.read_resource()  # type: ignore[untyped-decorator]
    async def read_resource(uri: Any) -> Any:
        if str(uri).startswith("dpe:"):
            raise error(types.ErrorData(code=4201, message="Document not found", data={"doc_ref": "gone"}))
        raise error(types.ErrorData(code=0, message="wrapped", data={"code": 4203, "details": {"element_id": "e1"}}))

    @server.subscribe_resource()  # type: ignore[untyped-decorator]
    async def subscribe(uri: Any) -> None: ...

    async def main() -> None:
        async with stdio.stdio_server() as (read, write):
            options = server.create_initialization_options(
                lowlevel.NotificationOptions(tools_changed=True, resources_changed=True)
            )
            await server.run(read, write, options)

    asyncio.run(main())


def high() -> None:
    server = import_module("mcp.server.fastmcp").FastMCP("old-high")

    @server.tool()  # type: ignore[untyped-decorator]
    def echo(text: str) -> str:
        return text

    @server.resource("dpe://old/{doc_ref}")  # type: ignore[untyped-decorator]
    def document(doc_ref: str) -> str:
        raise ValueError(f"4201: no document {doc_ref}")

    server.run()


if __name__ == "__main__":
    {"low": low, "high": high}[sys.argv[1]]()
