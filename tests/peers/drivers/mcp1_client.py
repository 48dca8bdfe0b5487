# mypy: ignore-errors
# This runs on the MCP library of its environment, which is not the one the type checker sees.
"""A client of `mcp` 1.x that walks a server of documents: `python mcp1_client.py FILE COMMAND...` prints what it saw.

FILE is a document of the server, which this script changes to see whether it is told.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl


async def main(file: Path, command: list[str]) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def told(message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            root = message.root
            heard.put_nowait(str(root.params.uri) if hasattr(root.params, "uri") else root.method)

    seen: dict[str, Any] = {}
    async with (
        stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write),
        ClientSession(read, write, message_handler=told) as session,
    ):
        hello = await session.initialize()
        assert hello.capabilities.resources is not None
        seen["capabilities"] = hello.capabilities.resources.model_dump()
        listed = (await session.list_resources()).resources
        seen["resources"] = [str(resource.uri) for resource in listed]
        document = AnyUrl(seen["resources"][-1])
        page = await session.read_resource(AnyUrl(f"{document}/pages/0?format=markdown"))
        seen["page"] = page.contents[0].model_dump()["text"]
        found = await session.call_tool("search_documents", {"query": "lighthouse"})
        seen["hit"] = (found.structuredContent or {})["hits"][0]["uri"]
        try:
            await session.read_resource(AnyUrl(f"{document}/pages/9"))
        except McpError as error:
            seen["error"] = [error.error.code, error.error.data]
        await session.subscribe_resource(document)
        await asyncio.to_thread(file.write_text, "# Other\n", encoding="utf-8")
        seen["told"] = await asyncio.wait_for(heard.get(), 60)
    sys.stdout.write(f"{json.dumps(seen)}\n")


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
