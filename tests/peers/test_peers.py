"""Released clients, as Agent and as Computer, talk through the server."""

import asyncio
from typing import Any

import pytest

from tests.peers.conftest import SDK_AGENTS, SDK_COMPUTERS, Pair, pair_id
from tests.peers.environments import PATIENCE

# The peers' processes outlive a test, so every test runs on the session's loop.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(PATIENCE)]

BOARD = "window://demo/board?priority=50\n\nNothing is due today."
LONG_MS = 60_000
VERSIONS = {"a2c-smcp-0.1.6": {}, "a2c-smcp-0.4.2": {"a2c_version": "0.4.0"}, "socket.io-client": {}}


def text_of(result: dict[str, Any]) -> str:
    return "".join(part["text"] for part in result["content"] if part["type"] == "text")


@pytest.mark.rule("1.2", "2.join")
async def test_an_agent_lists_the_computer_it_shares_an_office_with(pair: Pair) -> None:
    await pair.meet()

    (listed,) = await pair.agent.ask("list_room", office=pair.office)

    assert listed.pop("sid")
    assert listed == {
        "name": pair.computer_name,
        "role": "computer",
        "office_id": pair.office,
        **VERSIONS[pair.computer_sdk],
    }


async def test_an_agent_that_does_not_wait_for_its_seat_is_served(pair: Pair) -> None:
    await pair.computer.ask("join", office=pair.office)

    # The SDK's Agent asks for no ack of its join, so its next request is on the wire right behind it.
    _, listed = await asyncio.gather(
        pair.agent.ask("join", office=pair.office), pair.agent.ask("list_room", office=pair.office)
    )

    assert [session["name"] for session in listed] == [pair.computer_name]


@pytest.mark.rule("2.1.forward")
async def test_an_agent_learns_the_tools_of_a_computer(pair: Pair) -> None:
    await pair.meet()

    tools = await pair.agent.ask("get_tools", computer=pair.computer_name)

    (echo,) = [tool for tool in tools if tool["name"].endswith("echo")]
    assert (echo["description"], echo["params_schema"], echo["return_schema"]) == (
        "Say it again.",
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        None,
    )


@pytest.mark.rule("2.1.forward")
async def test_an_agent_calls_a_tool_of_a_computer(pair: Pair) -> None:
    await pair.meet()

    result = await pair.agent.ask(
        "tool_call", computer=pair.computer_name, tool=await pair.tool("echo"), params={"text": "你好 🌍"}
    )

    assert (text_of(result), result["isError"]) == ("你好 🌍", False)


@pytest.mark.rule("2.1.forward")
async def test_many_calls_at_once_each_get_their_own_answer(pair: Pair) -> None:
    await pair.meet()
    echo = await pair.tool("echo")
    said = [f"number {number}" for number in range(20)]

    results = await asyncio.gather(
        *(pair.agent.ask("tool_call", computer=pair.computer_name, tool=echo, params={"text": text}) for text in said)
    )

    assert [text_of(result) for result in results] == said


async def test_a_call_of_a_tool_that_does_not_exist_is_an_error(pair: Pair) -> None:
    await pair.meet()

    result = await pair.agent.ask("tool_call", computer=pair.computer_name, tool="nowhere", params={})

    assert result["isError"] is True


@pytest.mark.rule("1.4.requests", "3.1.tool")
async def test_a_call_to_a_computer_that_is_not_there_is_an_error_the_agent_can_read(pair: Pair) -> None:
    await pair.meet()

    result = await pair.agent.ask("tool_call", computer="nobody", tool="echo", params={"text": "?"})

    assert result["isError"] is True
    assert text_of(result)


@pytest.mark.rule("2.1.forward")
async def test_an_agent_reads_the_desktop_of_a_computer(pair: Pair) -> None:
    await pair.meet()

    assert await pair.agent.ask("get_desktop", computer=pair.computer_name) == [BOARD]


@pytest.mark.rule("2.notify")
async def test_an_agent_hears_a_computer_come_and_go(pair: Pair) -> None:
    await pair.agent.ask("join", office=pair.office)
    await pair.agent.ask("list_room", office=pair.office)

    await pair.computer.ask("join", office=pair.office)
    came = await pair.agent.next_event("notify:enter_office")
    await pair.computer.ask("leave", office=pair.office)
    went = await pair.agent.next_event("notify:leave_office")

    seat = {"office_id": pair.office, "computer": pair.computer_name}
    assert (came, went) == (seat, seat)


@pytest.mark.rule("2.notify")
async def test_a_computer_hears_an_agent_come_and_go(pair: Pair) -> None:
    await pair.computer.ask("join", office=pair.office)

    await pair.agent.ask("join", office=pair.office)
    came = await pair.computer.next_event("notify:enter_office")
    await pair.agent.ask("leave", office=pair.office)
    went = await pair.computer.next_event("notify:leave_office")

    seat = {"office_id": pair.office, "agent": pair.agent_name}
    assert (came, went) == (seat, seat)


@pytest.mark.rule("1.6.told")
async def test_an_agent_hears_that_a_computer_has_disconnected(pair: Pair) -> None:
    await pair.meet()

    await pair.computer.ask("close")

    assert await pair.agent.next_event("notify:leave_office") == {
        "office_id": pair.office,
        "computer": pair.computer_name,
    }


@pytest.mark.rule("1.6.inflight")
async def test_a_call_to_a_computer_that_disconnects_fails_at_once(pair: Pair) -> None:
    await pair.meet()
    call = asyncio.create_task(
        pair.agent.ask(
            "tool_call",
            computer=pair.computer_name,
            tool=await pair.tool("sleep_ms"),
            params={"ms": LONG_MS},
            timeout=LONG_MS // 1000,
        )
    )
    await pair.computer.next_event("client:tool_call")

    await pair.computer.ask("close")
    async with asyncio.timeout(LONG_MS / 2_000):
        result = await call

    assert result["isError"] is True


@pytest.mark.rule("2.notify")
@pytest.mark.parametrize("what", ["tool_list", "desktop", "config"])
async def test_an_agent_hears_what_a_computer_has_changed(pair: Pair, what: str) -> None:
    await pair.meet()

    await pair.computer.ask("emit_update", what=what)

    assert await pair.agent.next_event(f"notify:update_{what}") == {"computer": pair.computer_name}


async def test_a_cancel_reaches_the_computer(pair: Pair) -> None:
    await pair.meet()
    # 0.1 does not act on a cancel and runs the tool to its end, which must therefore be near.
    obeys = pair.computer_sdk != "a2c-smcp-0.1.6"
    params = {"ms": LONG_MS if obeys else 500}
    call = asyncio.create_task(
        pair.agent.ask(
            "tool_call", computer=pair.computer_name, tool=await pair.tool("sleep_ms"), params=params, timeout=60
        )
    )
    await pair.computer.next_event("client:tool_call")
    req_id = (await pair.agent.next_event("peer:tool_call"))["req_id"]

    await pair.agent.ask("cancel", req_id=req_id)
    told = await pair.computer.next_event("notify:tool_call_cancel")
    result = await call

    assert told == {"agent": pair.agent_name, "req_id": req_id}
    assert result["isError"] is obeys


@pytest.mark.parametrize("pair", SDK_AGENTS, ids=pair_id, indirect=True)
async def test_an_agent_fetches_the_tools_of_a_computer_that_has_come(pair: Pair) -> None:
    await pair.agent.ask("join", office=pair.office)
    await pair.agent.ask("list_room", office=pair.office)

    await pair.computer.ask("join", office=pair.office)
    fetched = await pair.agent.next_event("peer:tools_received")

    assert fetched["computer"] == pair.computer_name
    assert await pair.tool("echo") in fetched["tools"]


@pytest.mark.rule("2.notify")
@pytest.mark.parametrize("pair", SDK_COMPUTERS, ids=pair_id, indirect=True)
@pytest.mark.parametrize(("changed", "told"), [("tools", "tool_list"), ("window", "desktop")])
async def test_a_change_at_the_mcp_server_reaches_the_agent(pair: Pair, changed: str, told: str) -> None:
    await pair.meet()

    announce = await pair.tool("announce")
    await pair.agent.ask("tool_call", computer=pair.computer_name, tool=announce, params={"what": changed})

    assert await pair.agent.next_event(f"notify:update_{told}") == {"computer": pair.computer_name}


@pytest.mark.parametrize("pair", SDK_COMPUTERS, ids=pair_id, indirect=True)
async def test_an_event_the_computer_does_not_know_comes_back_as_an_error(pair: Pair) -> None:
    await pair.meet()
    request = {"agent": pair.agent_name, "req_id": "1", "computer": pair.computer_name}

    # The SDK acknowledges what it does not know, with nothing.
    answer = await pair.agent.ask("call", event="client:not_yet_invented", data=request)

    assert isinstance(answer["error"]["code"], int)
