"""The tools and resources that the official conformance suite asks a server for, as an MCP server on a Computer."""

import base64
import json
from typing import Any

import anyio
import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="  # one red dot
WAV = base64.b64encode(
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x02\x00\x00\x00\x00\x00"
).decode()
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
TEXT = t.TextContent(text="This is a simple text response for testing.")
IMAGE = t.ImageContent(data=PNG, mime_type="image/png")
EMBEDDED = t.TextResourceContents(
    uri="test://embedded-resource", mime_type="text/plain", text="This is an embedded resource content."
)
MIXED = t.TextResourceContents(
    uri="test://mixed-content-resource", mime_type="application/json", text='{"test":"data","value":123}'
)
TOOLS: dict[str, list[Any]] = {
    "test_simple_text": [TEXT],
    "test_image_content": [IMAGE],
    "test_audio_content": [t.AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [t.EmbeddedResource(resource=EMBEDDED)],
    "test_multiple_content_types": [TEXT, IMAGE, t.EmbeddedResource(resource=MIXED)],
    "test_tool_with_progress": [TEXT],
    "test_tool_with_logging": [TEXT],
    "test_sampling": [TEXT],
    "test_elicitation": [TEXT],
    "test_elicitation_sep1034_defaults": [TEXT],
    "test_elicitation_sep1330_enums": [TEXT],
    "test_reconnection": [TEXT],
    "json_schema_2020_12_tool": [TEXT],
}
CONTENTS: dict[str, t.TextResourceContents | t.BlobResourceContents] = {
    "test://static-text": t.TextResourceContents(uri="test://static-text", mime_type="text/plain", text="some text"),
    "test://static-binary": t.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
    "test://watched-resource": t.TextResourceContents(uri="test://watched-resource", mime_type="text/plain", text="w"),
}


async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
    schemas = {"json_schema_2020_12_tool": SCHEMA_2020_12}
    tools = [
        t.Tool(name=name, description=f"{name} for the suite", input_schema=schemas.get(name, {"type": "object"}))
        for name in [*TOOLS, "test_error_handling"]
    ]
    return t.ListToolsResult(tools=tools)


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    if params.name == "test_error_handling":
        failure = t.TextContent(text="This tool intentionally returns an error for testing")
        return t.CallToolResult(content=[failure], is_error=True)
    if params.name == "test_tool_with_progress":
        for step in (0, 50, 100):
            await ctx.session.report_progress(step, 100, None)
            await anyio.sleep(0.2)  # in quicker succession some may be left out on a busy machine
    return t.CallToolResult(content=TOOLS[params.name])


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    return t.ListResourcesResult(
        resources=[
            t.Resource(uri=uri, name=uri.rpartition("/")[2], mime_type=c.mime_type) for uri, c in CONTENTS.items()
        ]
    )


async def list_templates(ctx: Any, params: Any) -> t.ListResourceTemplatesResult:
    template = t.ResourceTemplate(uri_template="test://template/{id}/data", name="data", mime_type="application/json")
    return t.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    if params.uri in CONTENTS:
        return t.ReadResourceResult(contents=[CONTENTS[params.uri]])
    number = params.uri.removeprefix("test://template/").removesuffix("/data")
    text = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
    filled = t.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
    return t.ReadResourceResult(contents=[filled])


server = Server(
    "everything",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
