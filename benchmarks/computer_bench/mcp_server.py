"""An MCP server to measure: `python -m benchmarks.computer_bench.mcp_server HOST [DOCUMENTS [TOOLS [WINDOWS]]]`."""

import json
import sys
from typing import Any

import anyio
import mcp.types as t
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

HOST = sys.argv[1]
DOCUMENTS, TOOLS, WINDOWS = map(int, [*sys.argv[2:], *["0", "1", "0"][len(sys.argv) - 2 :]])
bus = InMemorySubscriptionBus()
SUMMARIES = [
    {
        "doc_ref": f"d{number}",
        "uri": f"dpe://{HOST}/d{number}",
        "file_uri": f"file:///data/{number}.pdf",
        "file_type": "pdf",
        "title": f"Report number {number} of {HOST}",
        "page_count": 12,
        "keywords": ["finance", "annual", str(number)],
        "summary": "What happened in the year, and what it cost. " * 3,
        "last_modified": f"2026-01-{1 + number % 28:02}T08:30:00Z",
    }
    for number in range(DOCUMENTS)
]
SCREENS = [f"window://{HOST}/board/{number}?priority={number % 100}" for number in range(WINDOWS)]
SCREEN = "What is on the board today, line by line. " * 10
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to say again."}, "times": {"type": "integer"}},
    "required": ["text"],
}
CATALOGUE = json.dumps({"documents": SUMMARIES, "total_count": DOCUMENTS})


def _tool(name: str, *, read_only: bool = True) -> t.Tool:
    hints = t.ToolAnnotations(read_only_hint=read_only)
    return t.Tool(name=name, description=f"Say it again as {name}.", input_schema=SCHEMA, annotations=hints)


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    names = ["echo", *(f"tool_{number}" for number in range(1, TOOLS))]
    writing = [_tool("write", read_only=False)] if TOOLS == 1 else []
    return t.ListToolsResult(tools=[*map(_tool, names), *writing])


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=str((params.arguments or {}).get("text", "")))])


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    documents = [t.Resource(uri=str(summary["uri"]), name=str(summary["title"])) for summary in SUMMARIES]
    return t.ListResourcesResult(resources=[*documents, *(t.Resource(uri=uri, name="board") for uri in SCREENS)])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    if params.uri.startswith("window:"):
        shown = t.TextResourceContents(uri=params.uri, mime_type="text/plain", text=SCREEN)
        return t.ReadResourceResult(contents=[shown])
    contents = t.TextResourceContents(uri=params.uri, mime_type="application/json", text=CATALOGUE)
    return t.ReadResourceResult(contents=[contents])


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


server = Server(
    HOST,
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=subscribe,
    on_subscriptions_listen=ListenHandler(bus),
)


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    anyio.run(main)
