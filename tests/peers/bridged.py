"""An office with one Computer that has what MCP's own test programs ask for, and `a2c mcp` before it."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from a2c_smcp.computer import Computer, parse_config

ROOT = Path(__file__).parents[2]
EVERYTHING = Path(__file__).parent / "conformance" / "everything.py"
CAP = 60.0


@asynccontextmanager
async def seated(server_url: str, api_key: str, office: str) -> AsyncIterator[Computer]:
    """The Computer `desk` in an office."""
    server = {
        "type": "stdio",
        "server_parameters": {"command": sys.executable, "args": [str(EVERYTHING)]},
        "default_tool_meta": {"auto_apply": True},
    }
    async with Computer(parse_config({"servers": {"everything": server}}).config, name="desk") as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(server_url, office, api_key=api_key)
        yield computer


def command(server_url: str, office: str, *options: str) -> list[str]:
    """The bridge as a client starts it; the key is in the environment."""
    return [sys.executable, "-m", "a2c_smcp.cli", "mcp", "--url", server_url, "--office", office, *options]


@asynccontextmanager
async def bridged(server_url: str, api_key: str, office: str, *options: str) -> AsyncIterator[str]:
    """The same office over HTTP; yields the URL."""
    async with seated(server_url, api_key, office):
        process = await asyncio.create_subprocess_exec(
            *command(server_url, office, "--http", "127.0.0.1:0", "--no-auth", "--json", *options),
            cwd=ROOT,
            env=os.environ | {"A2C_AGENT_API_KEY": api_key},
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            yield json.loads(await asyncio.wait_for(process.stdout.readline(), CAP))["url"]
        finally:
            process.terminate()
            assert await asyncio.wait_for(process.wait(), CAP) == 0
