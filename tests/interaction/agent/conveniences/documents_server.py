"""An MCP server that answers with the very JSON that the protocol's text prints, and with a few tools.

`python documents_server.py`: its documents are `dpe://com.example.docs/…`, its windows `window://com.example.docs/…`.
"""

import base64
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import anyio
import mcp.types as t
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from a2c_smcp.agent.document_views import content_of
from a2c_smcp.uris import parse_dpe_uri

TEXT = (Path(__file__).parents[3] / "data" / "protocol" / "finder.md").read_text(encoding="utf-8")
HOST = "com.example.docs"
REPORT = f"dpe://{HOST}/rpt-2026"


def printed(heading: str, number: int = 0) -> dict[str, Any]:
    """The JSON block of that number below a heading of the text."""
    section = TEXT.partition(f"### {heading}")[2]
    block = re.findall(r"^```json\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[number]
    value: dict[str, Any] = json.loads(block)
    return value


CATALOGUE = printed("Level 0")
WITH_PAGES = printed("Level 1", 1)
PAGE = printed("Level 2")
ELEMENT = printed("Level 3")
DOCUMENTS = {document["doc_ref"]: document for document in CATALOGUE["documents"]}
WINDOWS = {
    f"window://{HOST}/editor?priority=80": "def main(): ...",
    f"window://{HOST}/log": "started\n" * 400,
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"config": {"type": "string"}}, "required": ["config"]}
bus = InMemorySubscriptionBus()


def png() -> str:
    """A picture of one white pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    return t.ListToolsResult(
        tools=[
            t.Tool(name="configure", description="Say what it is configured with.", input_schema=SCHEMA),
            t.Tool(name="fs.draw", description="Draw.", input_schema={"type": "object"}),
            t.Tool(name="fail", description="Fail.", input_schema={"type": "object"}),
            t.Tool(name="revise", description="Change the report.", input_schema={"type": "object"}),
            t.Tool(
                name="search_documents",
                description="Search in texts.",
                input_schema={"type": "object", "properties": {"query": {"type": "string"}, "limit": {}}},
            ),
        ]
    )


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    content: list[Any] = [t.TextContent(text=f"{params.name} {json.dumps(arguments, ensure_ascii=False)}")]
    match params.name:
        case "fs.draw":
            content.append(t.ImageContent(data=png(), mime_type="image/png"))
        case "fail":
            return t.CallToolResult(content=[t.TextContent(text="out of paper")], is_error=True)
        case "revise":
            DOCUMENTS["rpt-2026"]["page_count"] += 1
            WITH_PAGES["page_total"] = DOCUMENTS["rpt-2026"]["page_count"]
            await changed(ctx, REPORT)
        case "search_documents":
            hits = [
                {
                    "uri": f"{REPORT}/elements/{element['element_id']}",
                    "title": PAGE["title"],
                    "snippet": element["summary"],
                }
                for element in PAGE["elements"]
                if str(arguments["query"]) in json.dumps(element, ensure_ascii=False)
            ]
            return t.CallToolResult(content=[], structured_content={"hits": hits})
    return t.CallToolResult(content=content)


async def changed(ctx: Any, uri: str) -> None:
    if ctx.protocol_version >= "2026":
        await bus.publish(ResourceUpdated(uri=uri))
    else:
        await ctx.session.send_resource_updated(uri=uri)


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    uris = [*WINDOWS, *(document["uri"] for document in DOCUMENTS.values())]
    return t.ListResourcesResult(resources=[t.Resource(uri=uri, name=uri) for uri in uris])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    if params.uri in WINDOWS:
        text, kind = WINDOWS[params.uri], "text/plain"
    else:
        uri = parse_dpe_uri(params.uri)
        reply = answer(uri)
        text, kind = json.dumps(reply, ensure_ascii=False), "application/json"
        if uri.format == "markdown":
            text, kind = content_of(reply, "markdown"), "text/markdown"
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, mime_type=kind, text=text)])


def answer(uri: Any) -> dict[str, Any]:
    """What the protocol's text prints for a URI; pages that it does not print have nothing on them."""
    if uri.doc_ref is None:
        return CATALOGUE
    document = DOCUMENTS.get(uri.doc_ref)
    if document is None:
        raise MCPError(4201, "Document not found", {"doc_ref": uri.doc_ref})
    if uri.element_id is not None:
        for element in [ELEMENT, *PAGE["elements"]]:
            if element["element_id"] == uri.element_id:
                return {"page_index": 0, **element}
        raise MCPError(4203, "Element not found", {"element_id": uri.element_id})
    if uri.page_index is not None:
        if uri.page_index >= document["page_count"]:
            raise MCPError(4202, "Page out of range", {"page_index": uri.page_index})
        if uri.doc_ref != "rpt-2026" or uri.page_index > 0:
            return {"page_index": uri.page_index, "title": f"{uri.page_index}", "elements": [], "element_count": 0}
        elements = [element for element in PAGE["elements"] if element["category"] in uri.categories]
        return PAGE | {"elements": elements, "element_count": len(elements)}
    if uri.depth == "pages" and uri.doc_ref == "rpt-2026":
        pages = WITH_PAGES["pages"][uri.offset : uri.offset + uri.limit]
        return {**document, **WITH_PAGES, "page_count": document["page_count"], "pages": pages}
    return dict(document)


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


server = Server(
    "documents",
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
