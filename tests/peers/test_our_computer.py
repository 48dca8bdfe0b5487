"""Node's `socket.io-client`, with the events written out, drives our Computer through our server."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from a2c_smcp.computer import Computer
from tests.interaction.computer.conftest import office_config
from tests.peers.conftest import CREDENTIALS, Pool, credentials
from tests.peers.environments import PATIENCE
from tests.peers.peer import Peer

# The peers' processes outlive a test, so every test runs on the session's loop.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(PATIENCE)]

NODE = "socket.io-client"


@pytest_asyncio.fixture(loop_scope="session")
async def meeting(pool: Pool, server_url: str, api_key: str) -> AsyncIterator[tuple[Peer, Computer]]:
    office = f"office-{uuid4().hex}"
    agent = await pool.take(NODE, "agent")
    await agent.ask("connect", url=server_url, name="agent", office=office, **credentials(CREDENTIALS[NODE], api_key))
    await agent.ask("join", office=office)
    async with Computer(office_config("office"), name="ours") as computer:
        await asyncio.wait_for(computer.settled(), 60)
        await computer.connect(server_url, office, api_key=api_key)
        await agent.next_event("notify:enter_office")
        yield agent, computer
    await agent.ask("close")


async def test_the_agent_lists_our_tools(meeting: tuple[Peer, Computer]) -> None:
    agent, _ = meeting
    tools = await agent.ask("get_tools", computer="ours")
    assert {"echo", "write"} <= {tool["name"] for tool in tools}


async def test_the_agent_calls_our_tools(meeting: tuple[Peer, Computer]) -> None:
    agent, _ = meeting
    result = await agent.ask("tool_call", computer="ours", tool="echo", params={"text": "from afar"})
    assert result["content"][0]["text"] == "from afar"
    assert not result.get("isError")


async def test_the_agent_reads_our_desktop_and_hears_of_its_changes(meeting: tuple[Peer, Computer]) -> None:
    agent, _ = meeting
    before = await agent.ask("get_desktop", computer="ours")
    assert before == ["window://office/board?priority=50\n\nnothing yet"]
    await agent.ask("tool_call", computer="ours", tool="write", params={"text": "news"})
    async with asyncio.timeout(60):
        while await agent.ask("get_desktop", computer="ours") != ["window://office/board?priority=50\n\nnews"]:
            await agent.next_event("notify:update_desktop")


async def test_the_agent_reads_an_error_it_can_understand(meeting: tuple[Peer, Computer]) -> None:
    agent, _ = meeting
    result = await agent.ask("tool_call", computer="ours", tool="no such tool", params={})
    assert result["isError"] is True
