"""An MCP server with everything an office sees: tools, a window, and the project's own example documents.

`python office_server.py [NAME]`: NAME is the host of its window; its documents are `dpe://NAME/…`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp.types as t
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated

from a2c_smcp.documents.library import Library
from a2c_smcp.errors import SMCPError
from a2c_smcp.uris import build_dpe_uri

NAME = sys.argv[1] if len(sys.argv) > 1 else "office"
BOARD = f"window://{NAME}/board?priority=50"
library = Library([Path(__file__).parents[3] / "examples" / "documents"], host=NAME)
bus = InMemorySubscriptionBus()
board = {"text": "nothing yet", "extra": ""}
state = {"runs": 0, "cancelled": 0, "reads": 0, "document": 0}


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    names = ("echo", "wait", "write", "open_window", "fail", "count", "progress", "die", "large", "open_document")
    return t.ListToolsResult(
        tools=[t.Tool(name=name, description=f"{name} it", input_schema={"type": "object"}) for name in names]
    )


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    answer = "done"
    match params.name:
        case "echo":
            state["runs"] += 1
            answer = str(arguments.get("text", ""))
        case "wait":
            try:
                await anyio.sleep_forever()
            finally:
                state["cancelled"] += 1
        case "write":
            board["text"] = str(arguments["text"])
            await changed(ctx, BOARD)
        case "open_window":
            board["extra"] = f"window://{NAME}/extra"
            await changed(ctx, None)
        case "open_document":
            state["document"] = 1
            await changed(ctx, None)
        case "fail":
            return t.CallToolResult(content=[t.TextContent(text="it failed")], is_error=True)
        case "count":
            answer = f"{state['runs']} {state['cancelled']} {state['reads']}"
        case "progress":
            for step in range(int(arguments["steps"])):
                await ctx.session.report_progress(step, None, None)
                await anyio.sleep(0.2)
        case "large":
            answer = "x" * int(arguments["size"])
        case "die":
            os._exit(3)
    return t.CallToolResult(content=[t.TextContent(text=answer)])


async def changed(ctx: Any, uri: str | None) -> None:
    if ctx.protocol_version >= "2026":
        await bus.publish(ResourceUpdated(uri=uri) if uri else ResourcesListChanged())
    elif uri:
        await ctx.session.send_resource_updated(uri=uri)
    else:
        await ctx.session.send_resource_list_changed()


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    windows = [BOARD, board["extra"]] if board["extra"] else [BOARD]
    documents = [build_dpe_uri(NAME, ref) for ref in library.refs]
    documents += [build_dpe_uri(NAME, "opened")] if state["document"] else []
    return t.ListResourcesResult(resources=[t.Resource(uri=uri, name=uri) for uri in [*windows, *documents]])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    state["reads"] += 1
    if params.uri.startswith("window://"):
        text = board["text"] if params.uri == BOARD else "an extra window"
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text=text)])
    if params.uri == build_dpe_uri(NAME, "opened"):
        text = json.dumps({"doc_ref": "opened", "uri": params.uri, "title": "Opened", "page_count": 0})
        return t.ReadResourceResult(
            contents=[t.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)]
        )
    try:
        reading = library.read(params.uri)
    except SMCPError as error:
        raise MCPError(error.code, error.message, error.details) from None
    contents = t.TextResourceContents(uri=params.uri, mime_type=reading.mime_type, text=reading.text)
    return t.ReadResourceResult(contents=[contents])


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


async def complete(ctx: Any, params: t.CompleteRequestParams) -> t.CompleteResult:
    values = [ref for ref in library.refs if ref.startswith(params.argument.value)]
    return t.CompleteResult(completion=t.Completion(values=values, total=len(values), has_more=False))


server = Server(
    NAME,
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=subscribe,
    on_subscriptions_listen=ListenHandler(bus),
    on_completion=complete,
)


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=True, tools_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    anyio.run(main)
