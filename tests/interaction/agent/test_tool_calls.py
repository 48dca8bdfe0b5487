"""Calling tools: time-outs, cancels, large results, many at once; the same for both clients."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.errors import BadRequest
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.conftest import Running

Either = Callable[..., Any]


async def test_a_tool_call_carries_its_parameters_and_returns_its_result(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    result = {"content": [{"type": "text", "text": "done"}], "structuredContent": {"n": 1}, "meta": {"k": "v"}}
    answerer = Scripted(tool_call=result)
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert await client.call_tool("c", "t", {"x": [1, None]}, timeout=2.5, req_id="mine") == result | {
        "isError": False,
        "req_id": "mine",
    }
    sent = {"agent": "a", "req_id": "mine", "computer": "c", "tool_name": "t", "params": {"x": [1, None]}, "timeout": 3}
    assert answerer.asked == [("client:tool_call", sent)]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
async def test_a_time_out_is_above_zero(ready: Running, office: str, either: Either, timeout: float) -> None:
    client = either(ready.url, office, live=False)
    await client.connect()
    with pytest.raises(BadRequest, match="positive number"):
        await client.call_tool("c", "t", timeout=timeout)


async def test_a_call_that_takes_too_long_is_cancelled_and_its_result_says_so(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    answerer = Scripted(tool_call=Gate({}))
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert await client.call_tool("c", "slow", timeout=0.01, req_id="r") == {
        "content": [{"type": "text", "text": "The tool 'slow' did not finish within 0.01 s; the call was cancelled"}],
        "isError": True,
        "meta": {"timeout": True, "a2c_timeout": True, "code": 4004},
        "req_id": "r",
    }
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")


async def test_a_time_out_of_the_server_is_a_result_too(either: Either) -> None:
    async with Relay() as relay:
        late = {"code": 408, "message": "The computer did not answer"}
        relay.answers["client:tool_call"] = {"error": late, "content": [], "isError": True}
        client = either(relay.url, "o", live=False)
        await client.connect()
        result = await client.call_tool("c", "slow", req_id="r")
        assert (result["isError"], result["meta"]["timeout"]) == (True, True)
        assert await relay.next("server:tool_call_cancel") == {"agent": "a", "req_id": "r"}


@pytest.mark.rule("4.7")
async def test_a_call_is_cancelled_by_its_id(ready: Running, office: str, either: Either, computer: Computers) -> None:
    gate = Gate({"content": [], "isError": True, "meta": {"cancelled": True}})
    answerer = Scripted(tool_call=gate)
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "slow", req_id="r"))
    await asyncio.wait_for(gate.entered.get(), CAP)
    await client.cancel("r")
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")
    gate.open()
    assert (await call)["meta"] == {"cancelled": True}


async def test_giving_up_a_call_cancels_it_at_the_computer(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    gate = Gate({})
    answerer = Scripted(tool_call=gate)
    await computer(answerer, ready.url, office)
    client = agent(ready.url, office, live=False)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "slow", req_id="r"))
    await asyncio.wait_for(gate.entered.get(), CAP)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await client.close()  # the cancel goes out before the connection ends
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")


async def test_a_reply_of_several_megabytes_arrives_whole(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    long = json.dumps({"rows": ["年度财务报告" * 10] * 40_000}, ensure_ascii=False)
    content = {"uri": "a:b", "mimeType": "application/json", "text": long}
    answerer = Scripted(
        tool_call={"content": [{"type": "text", "text": long}]},
        read_resource={"contents": [content]},
    )
    await computer(answerer, ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert (await client.call_tool("c", "t"))["content"] == [{"type": "text", "text": long}]
    assert await client.read_resource("c", "a:b") == json.loads(long)
    assert len(answerer.asked) == 2


async def test_a_thousand_calls_at_once_are_all_answered(
    ready: Running, office: str, agent: Agents, computer: Computers
) -> None:
    async def echo(request: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(request["params"]["n"])}]}

    await computer(Scripted(tool_call=echo), ready.url, office)
    client = agent(ready.url, office)
    await client.connect()
    results = await asyncio.gather(*(client.call_tool("c", "echo", {"n": n}) for n in range(1_000)))
    assert [int(result["content"][0]["text"]) for result in results] == list(range(1_000))
