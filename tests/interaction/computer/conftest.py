"""A Computer with a real MCP server, and the Server it dials."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer import ComputerConfig, parse_config
from a2c_smcp.computer.computer import Computer
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running, run_server, stop_server

CAP = 60
SERVERS = Path(__file__).parents[1] / "mcp_servers"
AUTO = {"auto_apply": True}


def office_config(*names: str, **settings: Any) -> ComputerConfig:
    """A configuration with one `office_server.py` for each name."""
    return parse_config(
        {
            "servers": {
                name: {
                    "type": "stdio",
                    "server_parameters": {
                        "command": sys.executable,
                        "args": [str(SERVERS / "office_server.py"), name],
                        "cwd": str(SERVERS.parents[2]),
                    },
                    "default_tool_meta": AUTO,
                }
                | settings
                for name in names
            }
        }
    ).config


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Any:
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    yield running
    stop_server(process)


@pytest.fixture
async def agent(relay: Running, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    client = await Client(relay.url).connect()
    await client.join("agent", "a", request.node.name)
    yield client
    await client.close()


@pytest.fixture
async def computer(relay: Running, agent: Client, request: pytest.FixtureRequest) -> AsyncIterator[Computer]:
    async with Computer(office_config("office"), name="c") as running:
        await asyncio.wait_for(running.settled(), CAP)
        await running.connect(relay.url, request.node.name)
        assert (await agent.next())[0] == "notify:enter_office"
        yield running


async def heard(agent: Client, event: str) -> Any:
    """The data of the next notification of that name; others may come before it."""
    while True:
        name, data = await agent.next()
        if name == event:
            return data


def text_of(result: Any) -> str:
    return str(result["content"][0]["text"])
