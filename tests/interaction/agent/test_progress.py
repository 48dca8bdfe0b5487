"""A tool's own progress, from real MCP servers through a real Server to both kinds of Agents."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from a2c_smcp.agent import SMCPAgentClient, ToolProgress
from a2c_smcp.computer import Computer
from a2c_smcp.errors import BadRequest, NotFound
from tests.interaction.agent.conftest import Agents, Computers
from tests.interaction.agent.progressing import CAP, Told, over_http, over_stdio, seated
from tests.interaction.computer.office.fakes import Scripted
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running

Either = Callable[..., Any]

HALF, WHOLE = ToolProgress(1, 2, "half"), ToolProgress(2, 2, "whole")


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """A server with tools that say how far they are, of either transport."""
    if request.param == "stdio":
        yield over_stdio()
    else:
        with over_http() as parameters:
            yield parameters


@pytest.fixture
async def desk(ready: Running, office: str) -> AsyncIterator[Computer]:
    """A Computer with such a server in the office of the test."""
    async with seated(over_stdio(), ready.url, office) as computer:
        yield computer


async def until_idle(desk: Computer) -> None:
    """Wait until no tool runs any more."""
    async with asyncio.timeout(CAP):
        while desk.calls._running:
            await asyncio.sleep(0.01)


async def test_every_report_of_a_tool_that_is_done_at_once_comes_before_its_result(
    ready: Running, office: str, either: Either, server: dict[str, Any]
) -> None:
    async with seated(server, ready.url, office):
        client = either(ready.url, office, live=False)
        await client.connect()
        for _ in range(30):
            told = Told()
            result = await client.call_tool("c", "steps", {"steps": 3}, on_progress=told)
            assert told.reports == [ToolProgress(step, 3, f"step {step}") for step in (1, 2, 3)]
            assert result == {"content": [{"type": "text", "text": "done"}], "isError": False}


async def test_a_report_arrives_while_the_tool_runs(
    ready: Running, office: str, either: Either, desk: Computer
) -> None:
    told = Told()
    client = either(ready.url, office, live=False)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
    await told.until(1)
    assert told.reports == [HALF]
    await client.call_tool("c", "finish")
    await call
    assert told.reports == [HALF, WHOLE]


async def test_a_coroutine_function_may_listen(ready: Running, office: str, agent: Agents, desk: Computer) -> None:
    heard: list[float] = []

    async def told(report: ToolProgress) -> None:
        await asyncio.sleep(0)
        heard.append(report.progress)

    client = agent(ready.url, office, live=False)
    await client.connect()
    await client.call_tool("c", "steps", {"steps": 2}, on_progress=told)
    assert heard[-1] == 2


async def test_a_tool_that_reports_thousands_of_steps_makes_few_messages(
    ready: Running, office: str, agent: Agents, desk: Computer
) -> None:
    told = Told()
    client = agent(ready.url, office, live=False)
    await client.connect()
    began = asyncio.get_running_loop().time()
    await client.call_tool("c", "steps", {"steps": 3_000}, on_progress=told)
    seconds = asyncio.get_running_loop().time() - began
    numbers = [report.progress for report in told.reports]
    assert len(numbers) <= 5 + 10 * seconds + 1
    assert (numbers, told.reports[-1]) == (sorted(numbers), ToolProgress(3_000, 3_000, "step 3000"))


async def test_who_does_not_ask_for_progress_is_told_nothing(ready: Running, office: str, desk: Computer) -> None:
    client = await Client(ready.url).connect()
    await client.join("agent", "a", office)
    result = await client.tool("c", "steps", steps=3)
    # Whatever came before this answer would have been heard.
    await client.ask("client:get_tools", "c")
    assert (sorted(result), client.heard.qsize()) == (["content", "isError"], 0)
    await client.close()


async def test_without_a_listener_nothing_is_asked_for(either: Either) -> None:
    async with Relay() as relay:
        relay.answers["client:tool_call"] = {"content": []}
        client = either(relay.url, "o", live=False)
        await client.connect()
        await client.call_tool("c", "t", req_id="r")
        assert "accept_progress" not in await relay.next("client:tool_call")


async def test_progress_of_other_calls_and_malformed_progress_is_ignored(either: Either) -> None:
    told = Told()
    async with Relay() as relay:
        entered = asyncio.Event()
        leave = asyncio.Event()

        async def answer(_sid: str, _data: Any) -> Any:
            entered.set()
            await leave.wait()
            return {"content": []}

        relay.sio.on("client:tool_call", answer, namespace="/smcp")
        client = either(relay.url, "o", live=False)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "t", req_id="r", on_progress=told))
        await asyncio.wait_for(entered.wait(), CAP)
        good = {"agent": "a", "computer": "c", "req_id": "r", "progress": 5}
        for odd in (
            good | {"req_id": "another"},
            good | {"computer": "another"},
            good | {"progress": "much"},
            good | {"progress": True},
            {"computer": "c"},
            ["progress"],
            good,
            good,
            good | {"progress": 4},
            good | {"message": 1, "progress": 6, "total": "ten"},
        ):
            await relay.tell("notify:update_progress", odd)
        await told.until(2)
        leave.set()
        await call
    assert told.reports == [ToolProgress(5), ToolProgress(6)]


async def test_a_call_across_a_broken_line_goes_on_telling(
    ready: Running, office: str, either: Either, desk: Computer
) -> None:
    told = Told()
    async with Proxy(ready.url) as proxy:
        client = either(proxy.url, office, live=False)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
        await told.until(1)
        proxy.cut()
        proxy.mend()
        await client.call_tool("c", "finish")
        assert (await call)["isError"] is False
    assert (told.reports, len(desk.calls.history.records())) == ([HALF, WHOLE], 2)


async def test_the_last_word_of_a_tool_that_ended_while_the_line_was_broken_is_told(
    ready: Running, office: str, agent: Agents, desk: Computer
) -> None:
    told = Told()
    async with Proxy(ready.url) as proxy:
        client = agent(proxy.url, office, live=False)
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
        await told.until(1)
        proxy.cut()
        finish: Any = {
            "agent": "a",
            "req_id": "own",
            "computer": "c",
            "tool_name": "finish",
            "params": {},
            "timeout": 9,
        }
        await desk.call_tool(finish)
        await until_idle(desk)
        proxy.mend()
        await call
    assert told.reports == [HALF, WHOLE]


async def test_a_cancelled_call_tells_nothing_more(ready: Running, office: str, agent: Agents, desk: Computer) -> None:
    told = Told()
    client = agent(ready.url, office, live=False)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
    await told.until(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async def cancelled() -> bool:
        return bool((await client.call_tool("c", "cancelled"))["content"][0]["text"] == "1")

    async with asyncio.timeout(CAP):
        while not await cancelled():
            await asyncio.sleep(0.01)
    assert told.reports == [HALF]


async def test_a_listener_that_fails_is_logged_and_the_call_goes_on(
    ready: Running, office: str, either: Either, desk: Computer, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: ToolProgress) -> None:
        raise ValueError("oops")

    client = either(ready.url, office, live=False)
    await client.connect()
    with caplog.at_level(logging.ERROR):
        result = await client.call_tool("c", "steps", {"steps": 1}, on_progress=broken)
    assert result["isError"] is False
    assert [record.message for record in caplog.records] == ["a handler of progress failed"]


async def test_only_the_agent_of_the_call_is_told(ready: Running, office: str, agent: Agents, desk: Computer) -> None:
    other = await Client(ready.url).connect()
    await other.join("computer", "other", office)
    client = agent(ready.url, office, live=False)
    await client.connect()
    await client.call_tool("c", "steps", {"steps": 3}, on_progress=lambda _: None)
    await client.close()
    heard: list[str] = []
    while not heard or heard[-1] != "notify:leave_office":
        heard.append((await other.next())[0])
    assert heard == ["notify:enter_office", "notify:leave_office"]
    await other.close()


async def test_a_call_that_was_left_behind_in_another_office_is_not_told_of(
    ready: Running, office: str, agent: Agents, desk: Computer
) -> None:
    told = Told()
    client = agent(ready.url, office, live=False)
    await client.connect()
    call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
    await told.until(1)
    other = await Client(ready.url).connect()
    await other.join("agent", "a", f"another {office}"[:200])
    await desk.join(f"another {office}"[:200])
    with pytest.raises(NotFound):
        await call
    await other.tool("c", "finish")
    await until_idle(desk)
    await other.ask("client:get_tools", "c")
    assert [other.heard.get_nowait()[0] for _ in range(other.heard.qsize())] == ["notify:enter_office"]
    await other.close()


async def test_progress_passes_a_network_without_websockets(ready: Running, office: str, agent: Agents) -> None:
    told = Told()
    async with seated(over_stdio(), ready.url, office, transports=("polling",)):
        client = agent(ready.url, office, live=False, transports=("polling",))
        await client.connect()
        call = asyncio.create_task(client.call_tool("c", "begin", on_progress=told))
        await told.until(1)
        await client.call_tool("c", "finish")
        await call
    assert told.reports == [HALF, WHOLE]


async def test_a_computer_cannot_speak_for_another(ready: Running, office: str) -> None:
    agent, other = await Client(ready.url).connect(), await Client(ready.url).connect()
    await agent.join("agent", "a", office)
    await other.join("computer", "other", office)
    report = {"agent": "a", "req_id": "r", "computer": "c", "progress": 1}
    await other.call("server:update_progress", report)
    assert [await agent.next() for _ in range(2)][1] == ("notify:update_progress", report | {"computer": "other"})
    await other.close()
    await agent.close()


async def test_a_message_does_not_tell_what_a_server_was_configured_with(
    ready: Running, office: str, agent: Agents
) -> None:
    told = Told()
    async with seated(over_stdio(env={"SECRET": "open-sesame-42"}), ready.url, office):
        client = agent(ready.url, office, live=False)
        await client.connect()
        await client.call_tool("c", "secret", on_progress=told)
    assert told.reports == [ToolProgress(1, None, "with the key <redacted>")]


async def test_a_computer_that_does_not_tell_answers_all_the_same(
    ready: Running, office: str, either: Either, computer: Computers
) -> None:
    told = Told()
    await computer(Scripted(tool_call={"content": []}), ready.url, office)
    client = either(ready.url, office, live=False)
    await client.connect()
    assert (await client.call_tool("c", "t", on_progress=told))["content"] == []
    assert told.reports == []


async def test_a_blocking_listener_has_a_thread_of_its_own_and_may_use_the_client(
    ready: Running, office: str, desk: Computer
) -> None:
    heard: list[tuple[str, int]] = []

    def ask() -> None:
        with SMCPAgentClient(ready.url, name="a", office_id=office, live=False) as client:

            def told(_: ToolProgress) -> None:
                heard.append((threading.current_thread().name, len(client.get_tools("c"))))

            client.call_tool("c", "steps", {"steps": 1}, on_progress=told)

    await asyncio.to_thread(ask)
    assert heard == [("a2c-agent-handler", 6)]
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("a2c-agent")] == []


async def test_a_blocking_client_refuses_a_coroutine_function(ready: Running, office: str) -> None:
    async def told(_: ToolProgress) -> None: ...

    def ask() -> None:
        with SMCPAgentClient(ready.url, name="a", office_id=office, live=False) as client:
            client.call_tool("c", "steps", on_progress=told)  # type: ignore[arg-type]

    with pytest.raises(BadRequest, match="needs AsyncSMCPAgentClient"):
        await asyncio.to_thread(ask)
