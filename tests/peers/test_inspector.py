"""The command line of the MCP Inspector as the Agent of an office."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.peers.bridged import CAP, INSPECTOR, ROOT, bridged, command, node_modules, seated


async def inspect(home: Path, *arguments: str) -> Any:
    """Run the Inspector once and return what it prints."""
    launcher = await asyncio.to_thread(node_modules) / INSPECTOR
    process = await asyncio.create_subprocess_exec(
        "node",
        str(launcher),
        "--cli",
        *arguments,
        cwd=ROOT,
        env=os.environ | {"HOME": str(home), "MCP_INSPECTOR_SECRET_STORE": "memory"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(process.communicate(), CAP)
    assert process.returncode == 0, errors.decode()
    return json.loads(out)


async def test_the_inspector_starts_the_bridge_and_calls_a_tool(server_url: str, api_key: str, tmp_path: Path) -> None:
    started = command(server_url, "inspected")
    entry = {"command": started[0], "args": started[1:], "cwd": str(ROOT), "env": {"A2C_AGENT_API_KEY": api_key}}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"office": entry}}), encoding="utf-8")
    async with seated(server_url, api_key, "inspected"):
        ours = ("--config", str(config), "--server", "office")
        result = await inspect(tmp_path, *ours, "--method", "tools/call", "--tool-name", "desk__test_simple_text")
    assert result["content"] == [{"type": "text", "text": "This is a simple text response for testing."}]


async def test_the_inspector_lists_and_reads_over_http(server_url: str, api_key: str, tmp_path: Path) -> None:
    async with bridged(server_url, api_key, "inspected-http") as url:
        tools = await inspect(tmp_path, url, "--transport", "http", "--method", "tools/list")
        listed = await inspect(tmp_path, url, "--transport", "http", "--method", "resources/list")
        read = await inspect(
            tmp_path, url, "--transport", "http", "--method", "resources/read", "--uri", "a2c://desk/test/static-text"
        )
    assert "desk__test_image_content" in [tool["name"] for tool in tools["tools"]]
    assert [one["uri"] for one in listed["resources"]] == [
        "a2c://desk/test/static-binary",
        "a2c://desk/test/static-text",
        "a2c://desk/test/watched-resource",
    ]
    assert read["contents"] == [{"uri": "a2c://desk/test/static-text", "mimeType": "text/plain", "text": "some text"}]
