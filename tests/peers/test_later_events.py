"""What 0.4 says that this server does not define: it passes all the same."""

import base64

import pytest

from tests.peers.conftest import LATEST, Pair, pair_id
from tests.peers.environments import PATIENCE
from tests.peers.peer import PeerError

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(PATIENCE),
    pytest.mark.parametrize("pair", LATEST, ids=pair_id, indirect=True),
]


async def test_the_agent_reads_the_configuration_by_bundle_id(pair: Pair) -> None:
    await pair.meet()

    config = await pair.agent.ask("get_config", computer=pair.computer_name)

    assert (list(config["servers"]), config["servers"]["demo"]["bundle_id"]) == (["demo"], "demo")


async def test_the_agent_lists_the_resources_of_an_mcp_server(pair: Pair) -> None:
    await pair.meet()

    assert await pair.agent.ask("get_resources", computer=pair.computer_name, mcp_server="demo") == [
        {"uri": "window://demo/board?priority=50", "name": "board", "mime_type": "text/plain"}
    ]


async def test_an_error_of_the_computer_reaches_the_agent_as_it_was(pair: Pair) -> None:
    await pair.meet()

    with pytest.raises(PeerError, match=r"SMCPProtocolError: \[4014\] MCP Server not registered"):
        await pair.agent.ask("get_resources", computer=pair.computer_name, mcp_server="nowhere")


async def test_an_error_of_the_server_is_one_the_agent_knows(pair: Pair) -> None:
    await pair.meet()

    with pytest.raises(PeerError, match=r"SMCPProtocolError: \[404\]"):
        await pair.agent.ask("get_resources", computer="nobody", mcp_server="demo")


async def test_the_agent_hears_that_skills_have_changed_and_fetches_them(pair: Pair) -> None:
    await pair.meet()

    await pair.computer.ask("emit_update", what="skills")

    assert await pair.agent.next_event("notify:update_skills") == {"computer": pair.computer_name}
    assert await pair.agent.next_event("peer:skills_received") == {"computer": pair.computer_name, "skills": []}


async def test_a_picture_too_large_for_one_message_arrives_whole(pair: Pair) -> None:
    await pair.meet()

    result = await pair.agent.ask(
        "tool_call", computer=pair.computer_name, tool=await pair.tool("picture"), params={"size": 1_500_000}
    )

    assert base64.b64decode(result["content"][0]["data"]) == bytes(1_500_000)
