"""The command line of the MCP Inspector as the Agent of an office."""

import pytest

from tests.peers.bridged import bridged, command, seated
from tests.peers.environments import PATIENCE
from tests.peers.mcp_suite import InspectorError, inspect

pytestmark = pytest.mark.timeout(PATIENCE)


async def test_the_inspector_starts_the_bridge_and_calls_a_tool(server_url: str, api_key: str) -> None:
    async with seated(server_url, api_key, "inspected"):
        result = await inspect(
            command(server_url, "inspected"),
            "tools/call",
            "--tool-name",
            "desk__test_simple_text",
            "-e",
            f"A2C_AGENT_API_KEY={api_key}",
        )
    assert result["content"] == [{"type": "text", "text": "This is a simple text response for testing."}]


async def test_the_inspector_lists_and_reads_over_http(server_url: str, api_key: str) -> None:
    async with bridged(server_url, api_key, "inspected-http") as url:
        tools = await inspect([url], "tools/list")
        listed = await inspect([url], "resources/list")
        read = await inspect([url], "resources/read", "--uri", "a2c://desk/test/static-text")
        with pytest.raises(InspectorError, match="No MCP server"):
            await inspect([url], "resources/read", "--uri", "a2c://desk/other/nothing")
    assert "desk__test_image_content" in [tool["name"] for tool in tools["tools"]]
    assert [one["uri"] for one in listed["resources"]] == [
        "a2c://desk/@everything/test/static-binary",
        "a2c://desk/@everything/test/static-text",
        "a2c://desk/@everything/test/watched-resource",
    ]
    assert read["contents"] == [{"uri": "a2c://desk/test/static-text", "mimeType": "text/plain", "text": "some text"}]
