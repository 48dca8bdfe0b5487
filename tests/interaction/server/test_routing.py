"""Requests from Agents to Computers and back, on live sockets, with every kind of server."""

import asyncio
import time
from typing import Any

import pytest
from socketio.exceptions import ConnectionError as SocketIOConnectionError

from tests.interaction.server.client import CAP, Client
from tests.interaction.server.conftest import Connect, Running, run_server, stop_server

RESULT = {
    "content": [{"type": "text", "text": 'hello 世界 \u2028 \\ " \U0001f600'}],
    "isError": False,
    "meta": None,
    "n": 1.5,
}


async def pair(connect: Connect, server: Running, office: str) -> tuple[Client, Client]:
    agent, computer = await connect(server), await connect(server)
    await agent.join("agent", "a", office)
    await computer.join("computer", "c", office)
    await agent.next()
    return agent, computer


def answering(value: Any) -> Any:
    async def answer(_: str, __: Any) -> Any:
        return value

    return answer


@pytest.mark.rule("2.1.forward")
async def test_a_request_reaches_its_computer_and_the_ack_comes_back_unchanged(
    server: Running, connect: Connect, office: str
) -> None:
    agent, computer = await pair(connect, server, office)
    asked: list[Any] = []

    async def answer(event: str, data: Any) -> Any:
        asked.append((event, data))
        return RESULT

    computer.answers["client:tool_call"] = answer
    assert await agent.tool("c", text="x|y", nested={"deep": [1, None, True]}) == RESULT
    assert asked == [
        (
            "client:tool_call",
            {
                "agent": "a",
                "req_id": "r-1",
                "computer": "c",
                "tool_name": "echo",
                "params": {"text": "x|y", "nested": {"deep": [1, None, True]}},
                "timeout": 60,
            },
        )
    ]


@pytest.mark.rule("2.1.forward")
@pytest.mark.parametrize(
    "event",
    [
        "client:get_tools",
        "client:get_config",
        "client:get_desktop",
        "client:get_finder",
        "client:read_resource",
        "client:get_resources",
        "client:get_resource_templates",
        "client:complete",
        "client:from_the_future",
        'client:with "quotes" and 中文',
    ],
)
async def test_every_client_event_is_routed_known_or_not(
    server: Running, connect: Connect, office: str, event: str
) -> None:
    agent, computer = await pair(connect, server, office)
    computer.answers[event] = answering({"said": event})
    assert await agent.ask(event, "c", extra=1) == {"said": event}


@pytest.mark.rule("2.1.forward")
@pytest.mark.parametrize("value", [0, False, "", [], {}, [None], "text", 12.5, {"a": b"bytes"}, b"raw bytes"])
async def test_any_value_passes_as_an_answer(server: Running, connect: Connect, office: str, value: Any) -> None:
    agent, computer = await pair(connect, server, office)
    computer.answers["*"] = answering(value)
    assert await agent.ask("client:get_tools", "c") == value


async def test_binary_parameters_pass(server: Running, connect: Connect, office: str) -> None:
    agent, computer = await pair(connect, server, office)

    async def echo(_: str, data: Any) -> Any:
        return {"back": data["params"]["blob"]}

    computer.answers["*"] = echo
    assert await agent.tool("c", blob=b"\x00\xff") == {"back": b"\x00\xff"}


@pytest.mark.rule("1.4.requests")
@pytest.mark.parametrize("exists", [True, False])
async def test_a_computer_in_another_office_looks_like_one_that_does_not_exist(
    server: Running, connect: Connect, office: str, exists: bool
) -> None:
    agent, _ = await pair(connect, server, office)
    if exists:
        other = await connect(server)
        await other.join("computer", "elsewhere", office + "2")
    assert await agent.tool("elsewhere") == {
        "error": {
            "code": 404,
            "message": "No computer 'elsewhere' in this office",
            "kind": "computer_lost",
            "details": {"computer": "elsewhere"},
        },
        "content": [{"type": "text", "text": "No computer 'elsewhere' in this office"}],
        "isError": True,
        "req_id": "r-1",
    }


@pytest.mark.rule("1.5")
async def test_a_request_in_another_agents_name_arrives_under_the_joined_name(
    server: Running, connect: Connect, office: str
) -> None:
    agent, computer = await pair(connect, server, office)
    asked: list[Any] = []

    async def answer(_: str, data: Any) -> Any:
        asked.append(data)
        return RESULT

    computer.answers["*"] = answer
    agent.name = "somebody else"
    assert await agent.tool("c", agent="somebody else") == RESULT
    assert asked[0]["agent"] == "a"
    assert asked[0]["params"] == {"agent": "somebody else"}


async def test_a_computer_may_not_send_requests(server: Running, connect: Connect, office: str) -> None:
    _, computer = await pair(connect, server, office)
    reply = await computer.ask("client:get_tools", "c")
    assert reply["error"]["code"] == 403


async def test_a_request_before_joining_is_4103(server: Running, connect: Connect) -> None:
    client = await connect(server)
    client.name = "a"
    assert (await client.ask("client:get_tools", "c"))["error"]["code"] == 4103


@pytest.mark.rule("2.1.forward")
async def test_an_event_that_the_computer_does_not_know_is_an_error(
    server: Running, connect: Connect, office: str
) -> None:
    agent, _ = await pair(connect, server, office)
    reply = await agent.ask("client:unheard_of", "c")
    assert (reply["error"]["code"], reply["code"], "req_id" in reply) == (400, 400, False)
    assert "does not know client:unheard_of" in reply["message"]


@pytest.mark.rule("1.6.inflight")
@pytest.mark.parametrize("how", ["disconnects", "leaves", "moves"])
async def test_a_call_to_a_computer_that_goes_fails_at_once(
    server: Running, connect: Connect, office: str, how: str
) -> None:
    agent, computer = await pair(connect, server, office)
    asked = asyncio.Event()

    async def hang(*_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    computer.answers["*"] = hang
    call = asyncio.create_task(agent.tool("c", timeout=600))
    await asked.wait()
    if how == "disconnects":
        await computer.close()
    elif how == "leaves":
        await computer.call("server:leave_office", {"office_id": office})
    else:
        await computer.join("computer", "c", office + "2")
    reply = await asyncio.wait_for(call, CAP)
    assert (reply["error"]["code"], reply["isError"], reply["req_id"]) == (404, True, "r-1")


@pytest.mark.rule("2.1.timeout")
async def test_an_answer_that_does_not_come_is_408_and_a_late_one_is_dropped(
    server: Running, connect: Connect, office: str
) -> None:
    agent, computer = await pair(connect, server, office)
    release = asyncio.Event()

    async def late(_: str, data: Any) -> Any:
        if data["tool_name"] == "late":
            await release.wait()
        return data["tool_name"]

    computer.answers["*"] = late
    started = time.monotonic()
    reply = await agent.tool("c", "late", timeout=1)
    assert reply["error"]["code"] == 408
    assert time.monotonic() - started >= 1
    release.set()
    assert await agent.tool("c", "prompt") == "prompt"


async def test_many_calls_at_once_each_get_their_own_answer(server: Running, connect: Connect, office: str) -> None:
    agent, computer = await pair(connect, server, office)

    async def echo(_: str, data: Any) -> Any:
        return data["req_id"]

    computer.answers["*"] = echo
    answers = await asyncio.gather(*(agent.tool("c", req_id=f"r-{i}") for i in range(200)))
    assert answers == [f"r-{i}" for i in range(200)]


async def test_an_agent_that_goes_leaves_nothing_waiting(server: Running, connect: Connect, office: str) -> None:
    agent, computer = await pair(connect, server, office)
    asked, release = asyncio.Event(), asyncio.Event()

    async def wait(*_: Any) -> Any:
        asked.set()
        await release.wait()
        return "too late"

    computer.answers["*"] = wait
    await agent.emit(
        "client:tool_call",
        {"agent": "a", "req_id": "r", "computer": "c", "tool_name": "t", "params": {}, "timeout": 60},
    )
    await asked.wait()
    await agent.close()
    release.set()
    again = await connect(server)
    assert await again.join("agent", "a", office) == (True, None)
    computer.answers["*"] = answering("fresh")
    assert await again.tool("c") == "fresh"


async def test_polling_clients_are_served_too(ready: Running, connect: Connect, office: str) -> None:
    agent = await connect(ready, transports=["polling"])
    computer = await connect(ready, transports=["polling"])
    assert await agent.join("agent", "a", office) == (True, None)
    assert await computer.join("computer", "c", office) == (True, None)
    computer.answers["*"] = answering(RESULT)
    assert await agent.tool("c") == RESULT


async def test_clients_that_begin_with_polling_are_upgraded(server: Running, connect: Connect, office: str) -> None:
    agent = await connect(server, transports=["polling", "websocket"])
    computer = await connect(server, transports=["polling", "websocket"])
    assert await agent.join("agent", "a", office) == (True, None)
    assert await computer.join("computer", "c", office) == (True, None)
    computer.answers["*"] = answering(RESULT)
    assert await agent.tool("c") == RESULT


async def test_a_request_over_the_message_limit_is_refused_and_the_connection_lives(
    ready: Running, connect: Connect, office: str
) -> None:
    agent, computer = await pair(connect, ready, office)
    computer.answers["*"] = answering("small")
    reply = await agent.tool("c", big="x" * 5_000_000)
    assert reply["error"]["code"] == 400
    assert reply["error"]["details"]["value"] == 4_000_000
    assert await agent.tool("c") == "small"


async def test_a_reply_over_the_message_limit_is_refused_and_the_computer_lives(
    ready: Running, connect: Connect, office: str
) -> None:
    agent, computer = await pair(connect, ready, office)
    computer.answers["*"] = answering({"big": "界" * 1_400_000})  # over it escaped or not
    reply = await agent.tool("c")
    assert (reply["error"]["code"], reply["isError"]) == (400, True)
    assert "over the message limit" in reply["error"]["message"]
    computer.answers["*"] = answering("small")
    assert await agent.tool("c") == "small"


async def test_a_large_message_within_the_limit_passes(ready: Running, connect: Connect, office: str) -> None:
    agent, computer = await pair(connect, ready, office)

    async def echo(_: str, data: Any) -> Any:
        return data["params"]["big"]

    computer.answers["*"] = echo
    assert await agent.tool("c", big="x" * 3_900_000) == "x" * 3_900_000


async def test_limits_tell_what_was_exceeded(tmp_path: Any, connect: Connect) -> None:
    process, server = run_server(
        "ready", tmp_path, requests_per_second=5, in_flight=3, connections_per_address=3, joins_per_second=1
    )
    try:
        agent, computer = await pair(connect, server, "o")
        computer.answers["*"] = answering("ok")
        replies = await asyncio.gather(*(agent.ask("client:get_tools", "c", f"r{i}") for i in range(30)))
        refused = [reply for reply in replies if reply != "ok"]
        assert {reply["error"]["code"] for reply in refused} == {429}
        assert {reply["error"]["details"]["limit"] for reply in refused} <= {
            "requests per second per connection",
            "requests in flight per connection",
        }
        await connect(server)
        one_more = Client(server.url)
        with pytest.raises(SocketIOConnectionError):
            await one_more.connect()
        assert one_more.refusal == {
            "message": "Limit exceeded: connections per address (3)",
            "data": {"code": 429, "message": "Limit exceeded: connections per address (3)"},
        }
    finally:
        stop_server(process)


async def test_joining_over_and_over_is_limited(tmp_path: Any, connect: Connect) -> None:
    process, server = run_server("ready", tmp_path, joins_per_second=1)
    try:
        client = await connect(server)
        answers = [await client.join("computer", "c", f"o{i % 2}") for i in range(8)]
        assert answers[:4] == [(True, None)] * 4
        assert answers[-1][1].startswith("429: Limit exceeded: joins per second")
    finally:
        stop_server(process)
