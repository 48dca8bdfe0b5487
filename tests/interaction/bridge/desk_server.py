"""An MCP server for the tests of the bridge: a window, documents with templates and completion, and odd tools.

`python desk_server.py HOST`: HOST is the host of its window and of its documents.
"""

import base64
import json
import sys
from typing import Any

import anyio
import mcp.types as t
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

HOST = sys.argv[1]
BOARD = f"window://{HOST}/board?priority=50"
DOCUMENTS = {"plan": 3, "report": 12}
PICTURE = base64.b64encode(bytes(range(256))).decode()
bus = InMemorySubscriptionBus()
state: dict[str, Any] = {"board": "nothing yet", "cancelled": 0, "documents": list(DOCUMENTS), "tools": []}

ECHO = t.Tool(
    name="echo",
    description="Say it again",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    output_schema={"type": "object", "properties": {"text": {"type": "string"}}},
    annotations=t.ToolAnnotations(title="Echo", read_only_hint=True),
)


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    names = [
        "write",
        "touch",
        "add_document",
        "add_tool",
        "wait",
        "pause",
        "count",
        "picture",
        "large",
        "link",
        *state["tools"],
    ]
    return t.ListToolsResult(tools=[ECHO, *(t.Tool(name=name, input_schema={"type": "object"}) for name in names)])


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    text: str = str(arguments.get("text", "done"))
    content: list[Any] = []
    match params.name:
        case "echo":
            return t.CallToolResult(content=[t.TextContent(text=text)], structured_content={"text": text})
        case "write":
            state["board"] = text
            await told(ctx, ResourceUpdated(uri=BOARD))
        case "touch":
            await told(ctx, ResourceUpdated(uri=f"dpe://{HOST}/plan"))
        case "add_document":
            state["documents"].append(text)
            await told(ctx, ResourcesListChanged())
        case "add_tool":
            state["tools"].append(text)
            await told(ctx, ToolsListChanged())
        case "wait":
            try:
                await anyio.sleep_forever()
            finally:
                state["cancelled"] += 1
        case "pause":
            await anyio.sleep(float(arguments["seconds"]))
        case "count":
            text = str(state["cancelled"])
        case "picture":
            content = [t.ImageContent(data=PICTURE, mime_type="image/png")]
        case "large":
            text = "x" * int(arguments["size"])
        case "link":
            content = [t.ResourceLink(uri=f"dpe://{HOST}/plan", name="the plan")]
    return t.CallToolResult(content=content or [t.TextContent(text=text)])


async def told(ctx: Any, event: Any) -> None:
    if ctx.protocol_version >= "2026":
        await bus.publish(event)
    elif isinstance(event, ResourceUpdated):
        await ctx.session.send_resource_updated(uri=event.uri)
    elif isinstance(event, ResourcesListChanged):
        await ctx.session.send_resource_list_changed()
    else:
        await ctx.session.send_tool_list_changed()


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    listed = [t.Resource(uri=BOARD, name="board", title="The board")]
    listed += [t.Resource(uri=f"dpe://{HOST}/{ref}", name=ref) for ref in state["documents"]]
    return t.ListResourcesResult(resources=[*listed, t.Resource(uri="blob://picture", name="picture")])


async def list_templates(ctx: Any, params: Any) -> t.ListResourceTemplatesResult:
    page = t.ResourceTemplate(uri_template=f"dpe://{HOST}/{{doc_ref}}/pages/{{page_index}}", name="page")
    return t.ListResourceTemplatesResult(resource_templates=[page])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = params.uri
    if uri == BOARD:
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, text=state["board"])])
    if uri == "blob://picture":
        blob = t.BlobResourceContents(uri=uri, mime_type="image/png", blob=PICTURE)
        return t.ReadResourceResult(contents=[blob])
    ref, _, page = uri.removeprefix(f"dpe://{HOST}/").partition("/pages/")
    if ref not in state["documents"]:
        raise MCPError(4201, "Document not found", {"doc_ref": ref})
    count = DOCUMENTS.get(ref, 1)
    if page and int(page) >= count:
        raise MCPError(4202, "Page out of range", {"page_index": int(page), "page_count": count})
    body = {"doc_ref": ref, "uri": f"dpe://{HOST}/{ref}", "file_type": "md", "title": ref, "page_count": count}
    text = t.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(body | {"page": page}))
    return t.ReadResourceResult(contents=[text])


async def complete(ctx: Any, params: t.CompleteRequestParams) -> t.CompleteResult:
    chosen = (params.context.arguments if params.context else None) or {}
    if params.argument.name == "page_index":
        values = [str(number) for number in range(DOCUMENTS.get(chosen.get("doc_ref", ""), 0))]
    else:
        values = state["documents"]
    found = [value for value in values if value.startswith(params.argument.value)]
    return t.CompleteResult(completion=t.Completion(values=found, total=len(found), has_more=False))


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


server = Server(
    "desk",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_completion=complete,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=subscribe,
    on_subscriptions_listen=ListenHandler(bus),
)


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=True, tools_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    anyio.run(main)
