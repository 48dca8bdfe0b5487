"""A client stays connected to the bridge while the Server is away."""

import asyncio

from mcp import Client, MCPError

from a2c_smcp.bridge import BridgeSettings
from tests.interaction.bridge.conftest import CAP, Heard, bridge_to, computer_in, listening, text_of
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.server.conftest import Running

BOARD = "a2c://desk/window/office/board?priority=50"


async def refusal(client: Client) -> MCPError:
    """Ask until it is refused: it takes a moment to notice that a line broke."""
    async with asyncio.timeout(CAP):
        while True:
            try:
                await client.read_resource(BOARD)
            except MCPError as error:
                return error


async def test_it_says_so_meanwhile_and_goes_on_afterwards(relay: Running, office: str, era: str) -> None:
    heard = Heard()
    async with (
        computer_in(relay, office),
        Proxy(relay.url) as line,
        bridge_to(line.url, office, BridgeSettings(patience=3)) as url,
        Client(url, mode=era, message_handler=heard.take) as client,
    ):
        assert text_of(await client.call_tool("desk__echo", {"text": "before"})) == "before"
        async with listening(client, era, heard, BOARD):
            line.cut()
            problem = await refusal(client)
            assert (problem.code, "cannot be reached now" in problem.message) == (4103, True)
            line.mend()
            await heard.until("ToolListChanged")
            await heard.until("ResourceUpdated", BOARD)
        assert text_of(await client.call_tool("desk__echo", {"text": "after"})) == "after"


async def test_a_call_that_was_running_when_the_line_broke_runs_once(relay: Running, office: str) -> None:
    async with (
        computer_in(relay, office) as computer,
        Proxy(relay.url) as line,
        bridge_to(line.url, office) as url,
        Client(url) as client,
    ):
        call = asyncio.create_task(client.call_tool("desk__pause", {"seconds": 1}))
        async with asyncio.timeout(CAP):
            while not computer.calls._running:
                await asyncio.sleep(0.01)
        line.cut()
        line.mend()
        result = await asyncio.wait_for(call, CAP)
        assert (text_of(result), len(computer.calls.history.records())) == ("done", 1)
