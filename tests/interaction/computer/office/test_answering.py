"""Every request of an Agent gets an answer."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.computer.office import SMCPComputerClient
from a2c_smcp.errors import PageOutOfRange, ToolNotFound
from a2c_smcp.smcp import EVENTS
from tests.interaction.computer.office.conftest import Agents
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running

Make = Callable[..., SMCPComputerClient]

FIELDS: dict[str, dict[str, Any]] = {
    "client:tool_call": {"tool_name": "echo", "params": {"text": "财务"}, "timeout": 5},
    "client:read_resource": {"uri": "dpe://docs/report"},
    "client:get_finder": {"keywords": ["财务"], "offset": 0, "limit": 10},
    "client:get_desktop": {"desktop_size": 3},
    "client:get_resources": {"mcp_server": "docs"},
    "client:get_resource_templates": {"mcp_server": "docs"},
    "client:complete": {"mcp_server": "docs", "ref": {}, "argument": {}},
    "client:subscribe_resource": {"uri": "memo://a", "mcp_server": "docs"},
    "client:unsubscribe_resource": {"uri": "memo://a"},
}
ASKED = sorted(event for event in EVENTS if event.startswith("client:") and event != "client:get_chunk")


@pytest.mark.rule("2.1.forward", "2.2.read", "2.2.more")
@pytest.mark.parametrize("event", ASKED)
async def test_every_request_is_validated_answered_and_acknowledged(
    server: Running, office: str, computer: Make, agent: Agents, event: str
) -> None:
    answerer = Scripted()
    answerer.answers[event] = {"reply": [event, "中文", None, 1.5, {"deep": [True]}]}
    await computer(answerer, server.url, office).connect()
    request = {"agent": "a", "req_id": "r-1", "computer": "c"} | FIELDS.get(event, {})
    answer = await (await agent(server.url, office)).call(event, request | {"unknown": "ignored"})
    assert answer == {"req_id": "r-1", "reply": [event, "中文", None, 1.5, {"deep": [True]}]}
    assert answerer.asked == [(event, request)]


@pytest.mark.rule("3.3", "3.1.ack")
async def test_an_error_arrives_with_its_code_and_details(
    server: Running, office: str, computer: Make, agent: Agents
) -> None:
    error = PageOutOfRange("Page 99 is out of range", details={"page_index": 99, "page_count": 12})
    await computer(Scripted(read_resource=error), server.url, office).connect()
    answer = await (await agent(server.url, office)).ask("client:read_resource", "c", uri="dpe://docs/r/pages/99")
    assert answer == {
        "error": {
            "code": 4202,
            "message": "Page 99 is out of range",
            "details": {"page_index": 99, "page_count": 12},
        },
        "code": 4202,
        "message": "Page 99 is out of range",
    }


@pytest.mark.rule("3.1.tool")
async def test_a_refused_tool_call_also_parses_as_a_result(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    await computer(Scripted(tool_call=ToolNotFound("No tool 'echo'")), ready.url, office).connect()
    assert await (await agent(ready.url, office)).tool("c") == {
        "error": {"code": 4001, "message": "No tool 'echo'"},
        "content": [{"type": "text", "text": "No tool 'echo'"}],
        "isError": True,
        "req_id": "r-1",
    }


@pytest.mark.rule("3.4")
async def test_an_unforeseen_failure_tells_nothing_and_is_logged_with_the_request(
    ready: Running, office: str, computer: Make, agent: Agents, caplog: pytest.LogCaptureFixture
) -> None:
    await computer(Scripted(tool_call=KeyError("s3cret")), ready.url, office).connect()
    with caplog.at_level(logging.INFO, "a2c_smcp.computer.office"):
        answer = await (await agent(ready.url, office)).tool("c", key="s3cret")
    assert answer["error"] == {"code": 500, "message": "client:tool_call failed on the computer; it is logged there"}
    assert {getattr(record, "req_id", None) for record in caplog.records} == {"r-1"}
    assert "KeyError" in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    ("event", "payload", "code"),
    [
        ("client:get_finder", {"agent": "a", "req_id": "r-1", "computer": "c", "limit": 500}, 400),
        ("client:get_tools", {"agent": "a", "req_id": "r-1"}, 400),
        ("client:get_tools", "text", 400),
        ("client:get_tools", None, 400),
        ("client:get_tools", {"agent": "a", "req_id": "r-1", "computer": "another"}, 404),
        ("client:later", {"agent": "a", "req_id": "r-1", "computer": "c"}, 400),
        ("client:" + "x" * 5000, {"agent": "a", "req_id": "r-1", "computer": "c"}, 400),
        ("server:join_office", {"role": "agent", "name": "a", "office_id": "o"}, 400),
        ("surprise", {}, 400),
        ("connect", {}, 400),
    ],
)
async def test_what_cannot_be_answered_is_refused_even_by_a_careless_server(
    computer: Make, event: str, payload: Any, code: int
) -> None:
    answerer = Scripted()
    async with Relay() as relay:
        await computer(answerer, relay.url, "o").connect()
        answer = await relay.call(event, payload)
        assert answer["error"]["code"] == code
        assert len(str(answer)) < 1000
        assert answerer.asked == []
        assert await relay.ask("client:get_tools") == {"req_id": "r-1"}


@pytest.mark.rule("4.7")
async def test_a_cancellation_reaches_the_answerer(server: Running, office: str, computer: Make, agent: Agents) -> None:
    answerer = Scripted()
    await computer(answerer, server.url, office).connect()
    await (await agent(server.url, office)).emit("server:tool_call_cancel", {"agent": "a", "req_id": "r-9"})
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r-9")


async def test_a_malformed_cancellation_and_other_notifications_are_ignored(computer: Make) -> None:
    answerer = Scripted()
    async with Relay() as relay:
        await computer(answerer, relay.url, "o").connect()
        await relay.tell("notify:tool_call_cancel", {"req_id": 5})
        await relay.tell("notify:later", {"any": "thing"})
        await relay.tell("notify:enter_office", {"office_id": "o", "agent": "a"})
        await relay.tell("notify:tool_call_cancel", {"agent": "a", "req_id": "r-2"})
        assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r-2")


async def test_a_slow_request_holds_up_no_other(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    gate = Gate({"slow": True})
    await computer(Scripted(tool_call=gate, get_tools={"tools": []}), ready.url, office).connect()
    asking = await agent(ready.url, office)
    slow = asyncio.create_task(asking.tool("c", req_id="slow"))
    await gate.entered.get()
    assert await asking.ask("client:get_tools", "c") == {"req_id": "r-1", "tools": []}
    assert not slow.done()
    gate.open()
    assert await slow == {"req_id": "slow", "slow": True}


async def test_more_requests_than_the_computer_takes_at_once_are_refused(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    gate = Gate({"done": True})
    client = computer(Scripted(tool_call=gate), ready.url, office, at_once=2)
    await client.connect()
    asking = await agent(ready.url, office)
    taken = [asyncio.create_task(asking.tool("c", req_id=f"r-{number}")) for number in range(2)]
    for _ in taken:
        await gate.entered.get()
    assert client.running == 2
    refused = await asking.tool("c", req_id="r-3")
    assert refused["error"] == {
        "code": 429,
        "message": "Limit exceeded: requests at once per computer (2)",
        "details": {"limit": "requests at once per computer", "value": 2},
    }
    gate.open()
    assert await asyncio.gather(*taken) == [{"req_id": f"r-{number}", "done": True} for number in range(2)]


@pytest.mark.parametrize(
    "packet",
    [
        "2/smcp,99[",
        "2/smcp,99[]",
        '2/smcp,99[5,{"a":1}]',
        '2/smcp,["client:get_tools"',
        '3/smcp,77["nobody asked"]',
        "9/smcp,1[]",
        "4/smcp",
        "51-/smcp,1[",
        "",
        "?",
    ],
)
async def test_a_malformed_packet_changes_nothing(computer: Make, packet: str) -> None:
    async with Relay() as relay:
        await computer(Scripted(), relay.url, "o").connect()
        eio_sid = relay.sio.manager.eio_sid_from_sid(relay.sid, "/smcp")
        await relay.sio.eio.send(eio_sid, packet)
        assert await relay.ask("client:get_tools") == {"req_id": "r-1"}


async def test_closing_ends_what_is_still_being_answered(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    gate = Gate({})
    client = computer(Scripted(tool_call=gate), ready.url, office)
    await client.connect()
    slow = asyncio.create_task((await agent(ready.url, office)).tool("c"))
    await gate.entered.get()
    await client.close()
    assert client.running == 0
    assert (await slow)["error"]["code"] == 404
