"""An MCP server with a key: it tells the digest of the key, talks about it on standard error, and can refuse it."""

import hashlib
import os
import sys

import anyio
import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

KEY = os.environ.get("KEY", "")


async def list_tools(_: object, __: object) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[t.Tool(name="digest", input_schema={"type": "object"})])


async def call_tool(_: object, __: object) -> t.CallToolResult:
    text = f"{os.getpid()} {hashlib.sha256(KEY.encode()).hexdigest()}"
    return t.CallToolResult(content=[t.TextContent(text=text)])


async def main() -> None:
    server: Server = Server("inputs", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    sys.stderr.write(f"using the key {KEY}\n")
    if "--refuse" in sys.argv:
        sys.exit(f"the key {KEY} is not valid")
    anyio.run(main)
