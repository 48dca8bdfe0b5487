"""The whole Computer: real MCP servers, a real Server, and an Agent that asks."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.computer import Computer
from tests.interaction.computer.conftest import CAP, heard, office_config, text_of
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running


@pytest.mark.rule("4.1.list", "4.2")
async def test_an_agent_lists_and_calls_tools(computer: Computer, agent: Client) -> None:
    listed = await agent.ask("client:get_tools", "c")
    assert {tool["name"] for tool in listed["tools"]} >= {"echo", "wait", "write"}
    assert {tool["bundle_id"] for tool in listed["tools"]} == {"office"}
    result = await agent.tool("c", "echo", text="hello 世界")
    assert (text_of(result), result.get("isError", False)) == ("hello 世界", False)


@pytest.mark.rule("4.1.list")
async def test_unknown_and_forbidden_tools_have_their_codes(relay: Running, agent: Client, request: Any) -> None:
    async with Computer(office_config("office", forbidden_tools=["die"]), name="c") as computer:
        await computer.settled()
        await computer.connect(relay.url, request.node.name)
        assert (await agent.tool("c", "nothing"))["error"]["code"] == 4001
        assert (await agent.tool("c", "die"))["error"]["code"] == 4002


@pytest.mark.rule("4.4")
async def test_without_consent_a_tool_does_not_run(relay: Running, agent: Client, request: Any) -> None:
    async with Computer(office_config("office", default_tool_meta=None), name="c") as computer:
        await computer.settled()
        await computer.connect(relay.url, request.node.name)
        reply = await agent.tool("c", "echo", text="no")
        assert (reply["error"]["code"], reply["isError"]) == (4005, True)


@pytest.mark.rule("4.8")
async def test_the_same_request_runs_once(computer: Computer, agent: Client) -> None:
    answers = await asyncio.gather(*(agent.tool("c", "echo", req_id="same", text="x") for _ in range(5)))
    assert {text_of(answer) for answer in answers} == {"x"}
    assert text_of(await agent.tool("c", "count", req_id="count")).split()[0] == "1"


@pytest.mark.rule("4.6")
async def test_a_tool_that_takes_too_long_is_cancelled_at_its_server(computer: Computer, agent: Client) -> None:
    result = await agent.tool("c", "wait", timeout=1)
    assert (result["isError"], bool(result["meta"]["timeout"])) == (True, True)
    assert text_of(await agent.tool("c", "count", req_id="count")).split()[1] == "1"


@pytest.mark.rule("4.7")
async def test_cancelling_reaches_the_mcp_server(computer: Computer, agent: Client) -> None:
    call = asyncio.create_task(agent.tool("c", "wait", req_id="long", timeout=60))
    assert text_of(await agent.tool("c", "echo", req_id="after it", text="x")) == "x"
    await agent.emit("server:tool_call_cancel", {"agent": "a", "req_id": "long"})
    result = await asyncio.wait_for(call, CAP)
    assert (result["isError"], bool(result["meta"]["cancelled"])) == (True, True)
    assert text_of(await agent.tool("c", "count", req_id="count")).split()[1] == "1"


async def test_progress_extends_the_time_out(computer: Computer, agent: Client) -> None:
    assert text_of(await agent.tool("c", "progress", timeout=3, steps=18)) == "done"


@pytest.mark.rule("5.5")
async def test_a_server_that_dies_in_a_call_fails_it_and_comes_back(computer: Computer, agent: Client) -> None:
    states: list[str] = []
    back = asyncio.Event()

    def look(what: str) -> None:
        if what == "servers":
            states.append(computer.status()["servers"][0]["state"])
            if states[-1] == "running" and "running" not in states[:1]:
                back.set()

    computer.on_change(look)
    result = await asyncio.wait_for(agent.tool("c", "die", timeout=60), CAP)
    assert result["isError"] is True
    await asyncio.wait_for(back.wait(), CAP)
    assert text_of(await agent.tool("c", "echo", req_id="again", text="back")) == "back"


@pytest.mark.rule("2.2.more")
async def test_resources_templates_and_completion_pass_through(computer: Computer, agent: Client) -> None:
    listed = await agent.ask("client:get_resources", "c", mcp_server="office")
    assert listed["resources"][0]["uri"] == "window://office/board?priority=50"
    done = await agent.ask(
        "client:complete",
        "c",
        mcp_server="office",
        ref={"type": "ref/resource", "uri": "dpe://office/{doc_ref}"},
        argument={"name": "doc_ref", "value": "gloss"},
    )
    assert done["completion"]["values"] == ["glossary.txt"]


@pytest.mark.rule("4.3")
async def test_two_servers_with_the_same_tools_are_both_reachable(relay: Running, agent: Client, request: Any) -> None:
    async with Computer(office_config("one", "two"), name="c") as computer:
        await computer.settled()
        await computer.connect(relay.url, request.node.name)
        tools = (await agent.ask("client:get_tools", "c"))["tools"]
        writers = [tool["name"] for tool in tools if tool["name"].endswith("write")]
        assert len(writers) == 2
        for number, name in enumerate(writers):
            await agent.tool("c", name, req_id=f"w{number}", text=f"by {name}")
        desktop = (await agent.ask("client:get_desktop", "c"))["desktops"]
        assert {window.rsplit("by ", 1)[1] for window in desktop} == set(writers)
        assert computer.status()["tool_names"]


@pytest.mark.rule("5.3")
async def test_a_server_added_while_running_is_told_and_usable(computer: Computer, agent: Client) -> None:
    await agent.ask("client:get_tools", "c")
    more = office_config("extra").servers["extra"]
    await computer.settings.add_server(more)
    assert await asyncio.wait_for(heard(agent, "notify:update_config"), CAP) == {"computer": "c"}
    await computer.settled()
    config = await agent.ask("client:get_config", "c")
    assert set(config["servers"]) == {"office", "extra"}
    await computer.settings.remove_server("extra")
    assert await asyncio.wait_for(heard(agent, "notify:update_config"), CAP) == {"computer": "c"}


async def test_an_application_hears_what_changes_until_it_asks_no_more(computer: Computer, agent: Client) -> None:
    changes: list[str] = []
    told = asyncio.Event()

    def hear(what: str) -> None:
        changes.append(what)
        if what == "servers" and computer.status()["servers"][-1]["state"] == "running":
            told.set()

    def fail(_: str) -> None:
        raise RuntimeError("a listener that fails hurts nobody")

    computer.on_change(fail)
    stop = computer.on_change(hear)
    await computer.settings.add_server(office_config("extra").servers["extra"])
    await asyncio.wait_for(told.wait(), CAP)
    assert {"config", "tool_list", "servers"} <= set(changes)
    stop()
    stop()
    changes.clear()
    await computer.settings.remove_server("extra")
    assert changes == []


@pytest.mark.rule("5.2")
async def test_secrets_stay_on_this_side(relay: Running, agent: Client, request: Any, tmp_path: Path) -> None:
    config = office_config("office").servers["office"].model_dump(mode="json", exclude_unset=True)
    config["server_parameters"]["env"] = {"API_TOKEN": "planted-secret-1234567", "FROM_INPUT": "${input:key}"}
    from a2c_smcp.computer import parse_config

    whole = parse_config(
        {
            "servers": {"office": config},
            "inputs": [{"id": "key", "type": "promptString", "description": "k", "password": True}],
        }
    )
    async with Computer(whole.config, name="c") as computer:
        computer.inputs.set("key", "planted-secret-7654321")
        await computer.servers.restart("office")
        await computer.settled()
        await computer.connect(relay.url, request.node.name)
        reply = await agent.ask("client:get_config", "c")
        everything = f"{reply} {computer.status()} {relay.logged()}"
        assert "planted-secret" not in everything
        assert reply["servers"]["office"]["server_parameters"]["env"]["FROM_INPUT"] == "${input:key}"


async def test_an_unknown_request_is_an_error(computer: Computer, agent: Client) -> None:
    assert (await agent.ask("client:from_the_future", "c"))["error"]["code"] == 400


async def test_a_computer_without_servers_answers_too(relay: Running, agent: Client, request: Any) -> None:
    async with Computer(name="c") as computer:
        await computer.connect(relay.url, request.node.name)
        assert (await agent.ask("client:get_tools", "c"))["tools"] == []
        assert (await agent.ask("client:get_desktop", "c"))["desktops"] == []
        assert (await agent.ask("client:get_finder", "c"))["total_count"] == 0


async def test_a_result_over_the_limit_fails_at_once_with_its_size_and_the_limit() -> None:
    async with Computer(office_config("a", max_message=100_000), name="c") as computer:
        await computer.settled()
        request: Any = {"agent": "me", "computer": "c", "tool_name": "large", "timeout": 600}
        result = await computer.call_tool(request | {"req_id": "1", "params": {"size": 1_000_000}})
        assert (result["isError"], result["meta"]["code"]) == (True, 400)
        assert result["meta"]["details"]["value"] == 100_000
        assert result["meta"]["details"]["size"] > 1_000_000
        assert "over the limit of 100000 bytes" in result["content"][0]["text"]
        result = await computer.call_tool(request | {"req_id": "2", "params": {"size": 10_000}})
        assert result["content"][0]["text"] == "x" * 10_000
