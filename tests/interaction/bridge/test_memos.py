"""What MCP servers say of themselves and their things reaches the Agent and the clients of the bridge, whole."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, MCPError, types

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.computer import Computer, parse_config
from a2c_smcp.errors import BadRequest, ToolNotFound
from tests.interaction.bridge.conftest import CAP, ERAS, Heard, bridge_to, connected, listening, text_of, until
from tests.interaction.server.conftest import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = Path(__file__).parents[1] / "mcp_servers" / "memo_server.py"
TRACE: Any = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "com.example/x": {"y": [1]}}
SAME = "memo://same"


def memos(*labels: str) -> Any:
    """A configuration with a `memo_server.py` for each label."""
    servers = {
        label: {
            "type": "stdio",
            "server_parameters": {"command": sys.executable, "args": ["-I", "-S", str(SERVER), label]},
            "default_tool_meta": {"auto_apply": True},
        }
        for label in labels
    }
    return parse_config({"servers": servers}).config


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def computer(relay: Running) -> AsyncIterator[Computer]:
    async with Computer(memos("red", "blue"), name="desk") as opened:
        await asyncio.wait_for(opened.settled(), CAP)
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent(relay: Running, computer: Computer) -> AsyncIterator[AsyncSMCPAgentClient]:
    await computer.connect(relay.url, "memos")
    async with AsyncSMCPAgentClient(relay.url, name="agent", office_id="memos") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(relay: Running) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        second = await stack.enter_async_context(Computer(memos("red", "blue"), name="desk"))
        await asyncio.wait_for(second.settled(), CAP)
        await second.connect(relay.url, "bridged memos")
        yield await stack.enter_async_context(bridge_to(relay.url, "bridged memos"))


@pytest_asyncio.fixture(loop_scope="module", params=ERAS)
async def client(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Client]:
    async with connected(url, mode=request.param) as opened:
        yield opened


@pytest.mark.rule("10.6.definitions")
async def test_a_tool_keeps_title_icons_execution_and_objects_of_meta(
    agent: AsyncSMCPAgentClient, client: Client
) -> None:
    listed = {tool["name"]: tool for tool in await agent.get_tools("desk")}
    show = listed["show"]
    assert (show["title"], show["execution"]) == ("Show the request", {"taskSupport": "optional"})
    assert show["icons"][0]["sizes"] == ["16x16"]  # type: ignore[index]
    assert show["meta"]["ui"] == json.dumps({"resourceUri": "ui://memo", "n": [1, 2]})  # type: ignore[index]

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    shown = tools["desk__show"]
    assert shown.title == "Show the request"
    assert shown.icons is not None
    assert shown.icons[0].sizes == ["16x16"]
    assert shown.meta is not None
    assert {key: shown.meta[key] for key in ("ui", "simple", "text")} == {
        "ui": {"resourceUri": "ui://memo", "n": [1, 2]},
        "simple": 1,
        "text": "[not JSON",
    }


async def test_a_tool_that_runs_only_as_a_task_is_not_listed_and_the_owner_learns_why(
    computer: Computer, agent: AsyncSMCPAgentClient, client: Client
) -> None:
    assert not [tool["name"] for tool in await agent.get_tools("desk") if "job" in tool["name"]]
    assert not [tool.name for tool in (await client.list_tools()).tools if "job" in tool.name]
    with pytest.raises(ToolNotFound):
        await agent.call_tool("desk", "red__job")
    problems = [problem for problem in computer.status()["tool_names"] if problem["tool"] == "job"]
    assert "only as an MCP task" in problems[0]["problem"]


@pytest.mark.rule("10.6.meta")
async def test_the_meta_of_a_request_reaches_the_mcp_server_and_that_of_a_read_comes_back(
    agent: AsyncSMCPAgentClient, client: Client
) -> None:
    called: Any = await agent.call_tool("desk", "red__show", {"a": 1}, meta=TRACE | {"progressToken": "mine"})
    seen = json.loads(called["content"][0]["text"])["meta"]
    assert {key: seen.get(key) for key in TRACE} == TRACE
    assert seen.get("progressToken") != "mine"
    read: Any = await agent.read_result("desk", SAME, mcp_server="blue", meta=TRACE)
    assert read["meta"] == {"etag": "blue", "asked": TRACE}

    by_client = await client.call_tool("desk__show", {"a": 1}, meta=TRACE)
    seen = json.loads(text_of(by_client))["meta"]
    assert {key: seen.get(key) for key in TRACE} == TRACE
    assert not [key for key in seen if "modelcontextprotocol" in key]
    found = await client.read_resource("a2c://desk/@red/memo/same", meta=TRACE)
    assert found.meta is not None
    assert (found.meta["etag"], found.meta["asked"]) == ("red", TRACE)


@pytest.mark.rule("10.6.servers")
async def test_one_uri_at_two_mcp_servers_is_read_from_the_one_that_is_named(
    agent: AsyncSMCPAgentClient, client: Client
) -> None:
    for server in ("red", "blue"):
        own = await agent.read_resource("desk", SAME, mcp_server=server)
        assert own["content_text"] == server
        bridged: Any = await client.read_resource(f"a2c://desk/@{server}/memo/same")
        assert (bridged.contents[0].uri, bridged.contents[0].text) == (f"a2c://desk/@{server}/memo/same", server)
    with pytest.raises(BadRequest, match="2 MCP servers") as refused:
        await agent.read_resource("desk", SAME)
    assert refused.value.details is not None
    assert refused.value.details["mcp_servers"] == ["red", "blue"]
    theirs = ["a2c://desk/@blue/memo/same", "a2c://desk/@red/memo/same"]
    assert [one.uri for one in (await client.list_resources()).resources if one.uri.endswith("same")] == theirs
    for uri in (SAME, "a2c://desk/memo/same"):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert (caught.value.code, sorted(caught.value.data["uris"])) == (400, theirs)


@pytest.mark.rule("10.6.servers")
async def test_a_completion_comes_from_the_mcp_server_that_is_named(
    agent: AsyncSMCPAgentClient, client: Client
) -> None:
    ref, argument = {"type": "ref/resource", "uri": "memo://t/{name}"}, {"name": "name", "value": ""}
    for server in ("red", "blue"):
        found = await agent.complete("desk", server, ref, argument)
        assert found["completion"]["values"] == [server]
        template = types.ResourceTemplateReference(uri=f"a2c://desk/@{server}/memo/t/{{name}}")
        assert (await client.complete(template, argument)).completion.values == [server]
    with pytest.raises(BadRequest, match="red, blue"):
        await agent.complete("desk", None, ref, argument)


@pytest.mark.rule("10.6.instructions")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_instructions_of_mcp_servers_reach_the_agent_and_the_clients_labelled(
    agent: AsyncSMCPAgentClient, url: str, mode: str
) -> None:
    servers = (await agent.get_config("desk"))["servers"]
    assert [servers[name]["instructions"] for name in ("red", "blue")] == [
        "Use red for memos.",
        "Use blue for memos.",
    ]
    async with Client(url, mode=mode) as client:
        told = client.instructions or ""
    assert "Instructions of blue on desk:\nUse blue for memos." in told
    assert "Instructions of red on desk:\nUse red for memos." in told


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest_asyncio.fixture(loop_scope="module")
async def listener(url: str, era: str, heard: Heard) -> AsyncIterator[Client]:
    async with connected(url, mode=era, message_handler=heard.take) as opened:
        yield opened


async def subscribed_at(client: Client, tool: str) -> list[str]:
    found: list[str] = json.loads(text_of(await client.call_tool(tool)))
    return found


@pytest.mark.rule("10.6.updates")
async def test_an_update_of_any_scheme_is_told_to_the_client_that_subscribed_and_no_longer_wanted_is_ended(
    listener: Client, era: str, heard: Heard
) -> None:
    uri = "a2c://desk/@blue/memo/same"
    async with listening(listener, era, heard, uri):
        assert await subscribed_at(listener, "desk__blue__subscribed") == [SAME]
        await listener.call_tool("desk__touch", {"uri": SAME})  # the other server's: not what was subscribed to
        await listener.call_tool("desk__blue__touch", {"uri": SAME, "text": era})
        await heard.until("ResourceUpdated", uri)
        if era == "legacy":
            with pytest.warns(match="resources/unsubscribe"):
                await listener.unsubscribe_resource(uri)

    async def ended() -> bool:
        return await subscribed_at(listener, "desk__blue__subscribed") == []

    await until(ended)


@pytest.mark.rule("10.6.updates")
async def test_a_list_that_changes_is_told_whatever_its_scheme(listener: Client, era: str, heard: Heard) -> None:
    await listener.list_resources()
    async with listening(listener, era, heard):
        await listener.call_tool("desk__add", {"uri": f"memo://added/{era}"})
        await heard.until("ResourceListChanged")
    uris = [one.uri for one in (await listener.list_resources()).resources]
    assert f"a2c://desk/@red/memo/added/{era}" in uris


@pytest.mark.rule("10.6.updates")
async def test_an_agent_hears_of_what_it_subscribed_to_also_after_the_computer_was_away(
    relay: Running, computer: Computer, agent: AsyncSMCPAgentClient
) -> None:
    events = agent.events()

    async def until_updated(uri: str) -> Any:
        async with asyncio.timeout(CAP):
            while True:
                event = await anext(events)
                if event.kind == "update_resources" and uri in event.data["uris"]:
                    return event

    with pytest.raises(BadRequest, match="2 MCP servers"):
        await agent.subscribe_resource("desk", SAME)
    own = "memo://red/own"
    assert await agent.subscribe_resource("desk", own) == "red"
    await agent.call_tool("desk", "red__touch", {"uri": f"{own}/part"})
    event = await until_updated(own)  # a part of it counts as it
    assert (event.computer, event.data["mcp_server"]) == ("desk", "red")

    await computer.disconnect()
    computer.subscriptions.drop()  # as a Computer that was started anew
    await computer.connect(relay.url, "memos")
    await until_updated(own)
    await agent.call_tool("desk", "red__touch", {"uri": own})
    await until_updated(own)

    await computer.servers.restart("red")
    await until_updated(own)
    await agent.unsubscribe_resource("desk", own)
    shown: Any = await agent.call_tool("desk", "red__subscribed")
    assert json.loads(shown["content"][0]["text"]) == []
