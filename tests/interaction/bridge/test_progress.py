"""A tool's own progress on its way to MCP clients, over both transports and in both eras."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from mcp import Client

from a2c_smcp.bridge import BridgeSettings
from a2c_smcp.computer import Computer
from tests.interaction.agent.progressing import over_stdio, seated
from tests.interaction.bridge.conftest import Signs, bridge_to, give_up, program
from tests.interaction.server.conftest import Running

OWN = [(1, 2, "half"), (2, 2, "whole")]


@pytest.fixture
async def desk(relay: Running, office: str) -> AsyncIterator[Computer]:
    """A Computer whose tools say how far they are."""
    async with seated(over_stdio(), relay.url, office, "desk") as computer:
        yield computer


async def heard(client: Client) -> list[tuple[float, float | None, str | None]]:
    """What a client is told of a tool that reports, waits for another, and reports again."""
    signs = Signs()
    call = asyncio.create_task(client.call_tool("desk__begin", progress_callback=signs))
    await signs.until(1)
    await client.call_tool("desk__finish")
    await call
    return signs.told


async def test_a_client_over_stdio_hears_the_tool_itself(relay: Running, office: str, era: str, desk: Computer) -> None:
    async with Client(program(relay, office), mode=era) as client:
        assert await heard(client) == OWN


async def test_a_client_over_http_hears_the_tool_itself(relay: Running, office: str, era: str, desk: Computer) -> None:
    async with bridge_to(relay.url, office) as url, Client(url, mode=era) as client:
        assert await heard(client) == OWN


async def test_clients_hear_of_their_own_calls_alone(relay: Running, office: str, era: str, desk: Computer) -> None:
    signs = Signs()
    settings = BridgeSettings(progress=0.01)
    async with (
        bridge_to(relay.url, office, settings) as url,
        Client(url, mode=era) as one,
        Client(url, mode=era) as other,
    ):
        waiting = asyncio.create_task(other.call_tool("desk__wait", progress_callback=signs))
        await one.call_tool("desk__steps", {"steps": 3}, progress_callback=Signs())
        await signs.until(3)
        await give_up(waiting)
    assert {total for _, total, _ in signs.told} == {None}


async def test_a_tool_that_falls_silent_gives_signs_of_life_that_go_on_from_what_it_said(
    relay: Running, office: str, era: str, desk: Computer
) -> None:
    signs = Signs()
    settings = BridgeSettings(progress=0.05)
    async with bridge_to(relay.url, office, settings) as url, Client(url, mode=era) as client:
        call = asyncio.create_task(client.call_tool("desk__begin", progress_callback=signs))
        while not (signs.told and signs.told[-1][2] == "half (0 s)"):
            await signs.until(len(signs.told) + 1)
        await client.call_tool("desk__finish")
        await call
    numbers = [number for number, _, _ in signs.told]
    assert numbers == sorted(set(numbers))
    assert (signs.told[-1], OWN[0] in signs.told) == (OWN[1], True)


async def test_for_a_client_that_does_not_ask_nothing_is_kept(
    relay: Running, office: str, era: str, desk: Computer
) -> None:
    async with bridge_to(relay.url, office) as url, Client(url, mode=era) as client:
        await client.call_tool("desk__steps", {"steps": 3})
    assert [kept.outcome.progress for kept in desk.calls._completed._calls.values()] == [None]
