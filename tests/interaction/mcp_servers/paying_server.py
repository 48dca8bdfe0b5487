"""An MCP server whose tool leaves a trace: `python paying_server.py FILE`.

`pay` writes a line into FILE each time it runs; with `wait` it never returns.
"""

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TRACE = Path(sys.argv[1])


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[t.Tool(name="pay", description="Pay.", input_schema={"type": "object"})])


def paid() -> int:
    with TRACE.open("a") as file:
        file.write("paid\n")
    return len(TRACE.read_text().splitlines())


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    number = paid()
    if arguments.get("wait"):
        await anyio.sleep_forever()
    receipt = "x" * int(arguments.get("size", 0)) or f"receipt {number}"
    return t.CallToolResult(content=[t.TextContent(text=receipt)])


async def main() -> None:
    server = Server("paying", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
