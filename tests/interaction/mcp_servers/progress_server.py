"""An MCP server whose tools say how far they are: `python progress_server.py stdio | http`.

Over HTTP it says on standard output which port it took. `steps` reports as often as it is told to, without a pause;
`begin` reports half, waits until somebody calls `finish`, and reports the rest; `wait` reports nothing; `secret` tells
what is in `SECRET`.
"""

import os
import socket
import sys
from typing import Any

import anyio
import mcp.types as t
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOLS = ("steps", "begin", "finish", "wait", "secret", "cancelled")
state: dict[str, Any] = {"cancelled": 0}


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[t.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS])


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    told = ctx.session.report_progress
    finished: anyio.Event = state.setdefault("finished", anyio.Event())
    text = "done"
    match params.name:
        case "steps":
            steps = int(arguments["steps"])
            for step in range(1, steps + 1):
                await told(step, steps, f"step {step}")
        case "begin":
            await told(1, 2, "half")
            try:
                await finished.wait()
            except BaseException:
                state["cancelled"] += 1
                raise
            await told(2, 2, "whole")
        case "finish":
            finished.set()
        case "wait":
            await finished.wait()
        case "secret":
            await told(1, None, f"with the key {os.environ['SECRET']}")
        case "cancelled":
            text = str(state["cancelled"])
    return t.CallToolResult(content=[t.TextContent(text=text)])


server: Server[Any] = Server("progress", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        sys.stdout.write(f"{door.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical")).run(sockets=[door])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(over_stdio)
    else:
        over_http()
