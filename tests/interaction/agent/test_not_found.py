"""A 404 comes from the server, who has lost the Computer, or from the Computer, who has not got what was asked for."""

import asyncio

import pytest

from a2c_smcp.errors import NotFound
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.connection.fakes import CAP, Scripted
from tests.interaction.server.conftest import Running


async def test_what_a_computer_itself_has_not_found_is_told_at_once(
    ready: Running, office: str, agent: Agents, computer: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2c_smcp.agent.asking.BLIP", 10 * CAP)
    problem = NotFound("No MCP server offers x:", details={"uri": "x:y", "mcp_servers": []})
    await computer(Scripted(get_tools={"tools": []}, read_resource=problem), ready.url, office)
    client = agent(ready.url, office, timeout=5 * CAP)
    await client.connect()
    with pytest.raises(NotFound, match="No MCP server"):
        await asyncio.wait_for(client.read_resource("c", "x:y"), CAP)
