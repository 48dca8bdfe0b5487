"""Every kind of our server serves the Agent."""

from collections.abc import Iterator

import pytest

from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import Scripted
from tests.interaction.server.conftest import Running, run_server, stop_server
from tests.interaction.server.serve import KINDS


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    process, running = run_server(request.param, tmp_path_factory.mktemp("server"))
    yield running
    stop_server(process)


@pytest.mark.parametrize("transports", [("websocket",), ("polling", "websocket")])
async def test_an_agent_works_through_every_kind_of_server(
    server: Running, office: str, agent: Agents, computer: Computers, transports: tuple[str, ...]
) -> None:
    large = [{"type": "text", "text": "x" * 600_000}]
    await computer(Scripted(get_tools={"tools": []}, tool_call={"content": large}), server.url, office)
    client = agent(server.url, office, transports=transports)
    await client.connect()
    assert (await client.call_tool("c", "t"))["content"] == large
    await client.settled()
    assert client.office.computers["c"].tools == []
