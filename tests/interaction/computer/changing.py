"""Computers whose MCP servers change their tools while they run."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.ports import Json
from a2c_smcp.smcp import ToolCallReq
from tests.interaction.computer.conftest import SERVERS

CAP = 60


def entry(folder: Path, name: str, *tools: str | Json, gate: Path | None = None, **settings: Any) -> Json:
    """The configuration of a server that lists these tools."""
    file = folder / f"{name}.tools.json"
    file.write_text(json.dumps(listed(tools)), encoding="utf-8")
    args = [str(SERVERS / "changing_server.py"), name, str(file), *([str(gate)] if gate else [])]
    return {"type": "stdio", "server_parameters": {"command": sys.executable, "args": args}, **settings}


def listed(tools: tuple[str | Json, ...]) -> list[Json]:
    return [{"name": tool} if isinstance(tool, str) else tool for tool in tools]


def write(folder: Path, **servers: Json) -> Path:
    """Write a configuration file of these servers."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"servers": servers}), encoding="utf-8")
    return path


async def change(computer: Computer, server: str, *tools: str | Json) -> None:
    """Let a server list other tools, and wait until the Computer knows them."""
    session = computer.servers.get(server)
    assert session is not None
    told = asyncio.Event()
    unfollow = computer.on_change(lambda kind: told.set() if kind == "tool_list" else None)
    try:
        await session.call_tool("set_tools", {"tools": listed(tools)})
        await asyncio.wait_for(told.wait(), CAP)
        await computer.tools()
    finally:
        unfollow()


async def call(computer: Computer, tool: str, **params: Any) -> str:
    """Call a tool as an Agent does, and return its text."""
    request = {"agent": "a", "req_id": uuid4().hex, "computer": computer.name, "tool_name": tool, "params": params}
    result = await computer.call_tool(cast("ToolCallReq", request | {"timeout": CAP}))
    return str(result["content"][0]["text"])
