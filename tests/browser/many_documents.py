"""An MCP server with 10 000 documents at level 0."""

import json
from typing import Any

import anyio
import mcp.types as t
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server

COUNT = 10_000
HOST = "archive"
KINDS = ("pdf", "docx", "xlsx", "md")
DOCUMENTS = [
    {
        "doc_ref": f"report-{number:05}",
        "uri": f"dpe://{HOST}/report-{number:05}",
        "file_uri": f"file:///archive/report-{number:05}.{KINDS[number % 4]}",
        "file_type": KINDS[number % 4],
        "title": f"Report {number:05}",
        "page_count": number % 40 + 1,
        "summary": f"What happened in week {number}",
        "last_modified": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
    }
    for number in range(COUNT)
]


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    uris = [f"dpe://{HOST}", *(document["uri"] for document in DOCUMENTS)]
    return t.ListResourcesResult(resources=[t.Resource(uri=str(uri), name=str(uri)) for uri in uris])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    text = json.dumps({"documents": DOCUMENTS, "total_count": COUNT})
    contents = t.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
    return t.ReadResourceResult(contents=[contents])


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


server = Server(
    HOST,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=subscribe,
)


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    anyio.run(main)
