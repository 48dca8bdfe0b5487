"""A 404 comes from the server, who has lost the Computer, or from the Computer, who has not got what was asked for."""

import asyncio

import pytest

from a2c_smcp.errors import ComputerLost, NotFound, SMCPError
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import CAP, Scripted
from tests.interaction.server.conftest import Running


@pytest.mark.parametrize(
    "problem",
    [
        NotFound("No MCP server offers x:", details={"uri": "x:y", "mcp_servers": []}),
        NotFound("No MCP server offers x:"),
        SMCPError("No MCP server offers x:", code=404, details={"kind": "computer_lost", "computer": "c"}),
    ],
)
async def test_what_a_computer_itself_has_not_found_is_told_at_once(
    ready: Running,
    office: str,
    agent: Agents,
    computer: Computers,
    monkeypatch: pytest.MonkeyPatch,
    problem: SMCPError,
) -> None:
    monkeypatch.setattr("a2c_smcp.agent.retrying_requests.BRIEF_LOSS_SECONDS", 10 * CAP)
    await computer(Scripted(get_tools={"tools": []}, read_resource=problem), ready.url, office)
    client = agent(ready.url, office, timeout=5 * CAP)
    await client.connect()
    with pytest.raises(NotFound, match="No MCP server") as told:
        await asyncio.wait_for(client.read_resource("c", "x:y"), CAP)
    assert not isinstance(told.value, ComputerLost)


async def test_a_computer_that_is_not_there_is_lost(ready: Running, office: str, agent: Agents) -> None:
    client = agent(ready.url, office)
    await client.connect()
    with pytest.raises(ComputerLost, match="No computer 'c' in this office"):
        await client.get_tools("c")
