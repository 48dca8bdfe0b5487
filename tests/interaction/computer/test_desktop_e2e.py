"""The Desktop from an MCP server through Computer and Server to an Agent."""

import asyncio

import pytest

from a2c_smcp.computer.computer import Computer
from tests.interaction.computer.conftest import CAP, heard, text_of
from tests.interaction.server.client import Client

BOARD = "window://office/board?priority=50\n\n"


@pytest.mark.rule("6.2", "6.6")
async def test_the_desktop_is_read_and_its_changes_are_told(computer: Computer, agent: Client) -> None:
    reply = await agent.ask("client:get_desktop", "c")
    assert reply == {"desktops": [BOARD + "nothing yet"], "req_id": "r-1"}
    await agent.tool("c", "write", req_id="w", text="written")
    async with asyncio.timeout(CAP):
        while (await agent.ask("client:get_desktop", "c"))["desktops"] != [BOARD + "written"]:
            assert await heard(agent, "notify:update_desktop") == {"computer": "c"}
        await agent.tool("c", "open_window", req_id="o")
        while len((await agent.ask("client:get_desktop", "c"))["desktops"]) != 2:
            assert await heard(agent, "notify:update_desktop") == {"computer": "c"}


@pytest.mark.rule("6.6", "7.3")
async def test_what_has_not_changed_is_not_read_again(computer: Computer, agent: Client) -> None:
    async def reads() -> int:
        return int(
            text_of(await agent.tool("c", "count", req_id=f"count {asyncio.get_running_loop().time()}")).split()[2]
        )

    await agent.ask("client:get_desktop", "c")
    await agent.ask("client:get_finder", "c")
    before = await reads()
    for _ in range(5):
        await agent.ask("client:get_desktop", "c")
        await agent.ask("client:get_finder", "c")
    assert await reads() == before


@pytest.mark.rule("6.4")
async def test_one_window_is_asked_for_by_its_uri(computer: Computer, agent: Client) -> None:
    uri = BOARD.strip()
    assert (await agent.ask("client:get_desktop", "c", window=uri))["desktops"] == [BOARD + "nothing yet"]
    assert (await agent.ask("client:get_desktop", "c", window="window://office/none"))["desktops"] == []
    assert (await agent.ask("client:get_desktop", "c", desktop_size=0))["desktops"] == []
