"""An MCP server on `mcp` 2.x for both eras of the protocol: `python life_modern.py stdio | http`.

Over HTTP it says on standard output which port it took, and speaks the older HTTP transport at `/sse`. `--token X`
makes it want that bearer token, `--json` answer in JSON instead of event streams, `--gzip` compress what it answers.
"""

import argparse
import socket
import sys
from typing import Any

import anyio
import mcp.types as t
import uvicorn
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse

WINDOW = "window://modern/main"
bus = InMemorySubscriptionBus()
listening = ListenHandler(bus)
subscribed: set[str] = set()
cancelled: list[str] = []


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    names = ("echo", "wait", "change", "cancelled", "subscribed", "large", "progress", "hush")
    return t.ListToolsResult(tools=[t.Tool(name=name, input_schema={"type": "object"}) for name in names])


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    answer = ""
    match params.name:
        case "echo":
            answer = str(arguments.get("text", ""))
        case "wait":
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.append(str(arguments.get("name")))
        case "cancelled":
            answer = ",".join(cancelled)
        case "subscribed":
            answer = ",".join(sorted(subscribed))
        case "large":
            answer = "x" * int(arguments["size"])
        case "progress":
            for step in range(3):
                await ctx.session.report_progress(step, 3, f"step {step}")
        case "hush":
            listening.close()
        case "change":
            await change(ctx)
    return t.CallToolResult(content=[t.TextContent(text=answer)])


async def change(ctx: Any) -> None:
    if ctx.protocol_version >= "2026":
        for event in (ToolsListChanged(), ResourcesListChanged(), ResourceUpdated(uri=WINDOW)):
            await bus.publish(event)
    else:
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_resource_list_changed()
        await ctx.session.send_resource_updated(uri=WINDOW)


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    return t.ListResourcesResult(resources=[t.Resource(uri=WINDOW, name="main")])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    if params.uri.startswith("dpe://"):
        raise MCPError(4202, "Page out of range", {"page_index": 99, "page_count": 12})
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text="contents")])


async def subscribe(ctx: Any, params: t.SubscribeRequestParams) -> t.EmptyResult:
    subscribed.add(params.uri)
    return t.EmptyResult()


async def unsubscribe(ctx: Any, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
    subscribed.discard(params.uri)
    return t.EmptyResult()


async def complete(ctx: Any, params: t.CompleteRequestParams) -> t.CompleteResult:
    known = (params.context.arguments if params.context else None) or {}
    values = [f"{params.argument.value}{known.get('doc_ref', '')}"]
    return t.CompleteResult(completion=t.Completion(values=values, total=1, has_more=False))


server = Server(
    "modern",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_subscriptions_listen=listening,
    on_completion=complete,
)


options = server.create_initialization_options(NotificationOptions(resources_changed=True, tools_changed=True))


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


def over_http(port: int, token: str | None, *, json: bool, gzip: bool) -> None:
    streamable: Any = server.streamable_http_app(json_response=json)
    older = SseServerTransport("/messages/")

    async def both(scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        if path == "/sse" and scope["method"] == "GET":
            async with older.connect_sse(scope, receive, send) as (read, write):
                await server.run(read, write, options)
        elif path == "/messages/":
            await older.handle_post_message(scope, receive, send)
        else:
            await streamable(scope, receive, send)

    app: Any = GZipMiddleware(both) if gzip else both

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or [])
        if scope["type"] == "http" and token and headers.get(b"authorization") != f"Bearer {token}".encode():
            await PlainTextResponse("no", status_code=401)(scope, receive, send)
        else:
            await app(scope, receive, send)

    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        door.listen()
        sys.stdout.write(f"{door.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(guarded, log_level="critical")).run(sockets=[door])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=["stdio", "http"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gzip", action="store_true")
    chosen = parser.parse_args()
    if chosen.transport == "stdio":
        anyio.run(over_stdio)
    else:
        over_http(chosen.port, chosen.token, json=chosen.json, gzip=chosen.gzip)
