"""Whatever a client sends, the Server answers or drops it, logs no traceback, and nobody else notices."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.smcp import EVENTS
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Connect, Running
from tests.interaction.server.raw import RawClient

GOOD: dict[str, Any] = {
    "agent": "a",
    "req_id": "r",
    "computer": "c",
    "office_id": "o",
    "role": "agent",
    "name": "a",
    "tool_name": "t",
    "params": {},
    "timeout": 5,
    "uri": "dpe://h",
    "mcp_server": "m",
    "ref": {},
    "argument": {},
}
WRONG: list[Any] = [None, True, 0, -1, 1.5, 1e308, "", "x" * 10_000, "\u0000", "a\nb", [], {}, [[]], {"a": {"b": []}}]
CLIENT_EVENTS = sorted(event for event in EVENTS if not event.startswith("notify:"))

DEEP = "[" * 100_000 + "]" * 100_000

FRAMES = [
    "",
    "4",
    "9",
    "x",
    "42",
    "42/smcp",
    "42/smcp,",
    "42/smcp,1",
    "42/smcp,7[]",
    "42/smcp,7{}",
    "42/smcp,7[1]",
    '42/smcp,7["client:tool_call"',
    '42/smcp,7["client:tool_call",]',
    '42/smcp,7["client:tool_call",{]',
    '42/smcp,7["client:tool_call",{}],[]',
    '42/smcp,7["client:tool_call",{"a":1}{"b":2}]',
    '42/smcp,7["client:tool_call",{},{}]',
    '42/smcp,7["client:tool_call",{"agent":"\\ud800"}]',
    f'42/smcp,7["client:tool_call",{DEEP}]',
    f'42/smcp,7["server:join_office",{DEEP}]',
    '42/smcp,7["server:join_office",{"role":NaN}]',
    '42/smcp,99999999999999999999999["client:tool_call",{}]',
    '42/other,7["client:tool_call",{}]',
    '42["client:tool_call",{}]',
    "43/smcp,7[]",
    "43/smcp,7",
    "43/smcp,[1]",
    "43/smcp,1[",
    "43/smcp,1{}",
    "44/smcp,{}",
    "45/smcp,",
    "451-/smcp,",
    '451-/smcp,7["client:tool_call",{"_placeholder":true,"num":5}]',
    '45999999999-/smcp,7["client:tool_call",{}]',
    '450-/smcp,7["client:tool_call",{}]',
    '461-/smcp,7[{"_placeholder":true,"num":0}]',
    "47/smcp,",
    "4z",
    "41/nowhere,",
    "40/smcp,",
    '40/smcp,{"token":',
    "2probe",
    "3probe",
    "5",
    "6",
    b"",
    b"\x00\x01",
    b"4binary",
    "b4AAAA",
    "4\ud7ff\ue000",
]


def without_traceback(server: Running) -> None:
    logged = server.logged()
    assert "Traceback" not in logged, logged[-3_000:]
    assert not re.search(r"^(ERROR|CRITICAL)", logged, re.MULTILINE), logged[-3_000:]


@pytest.fixture
async def witnesses(ready: Running, connect: Connect, office: str) -> AsyncIterator[tuple[Client, Client]]:
    """An Agent and a Computer that talk to each other while others misbehave."""
    agent, computer = await connect(ready), await connect(ready)
    await agent.join("agent", "w", office)
    await computer.join("computer", "c", office)

    async def answer(_: str, data: Any) -> Any:
        return data["req_id"]

    computer.answers["*"] = answer
    yield agent, computer
    assert await agent.tool("c", req_id="still here") == "still here"
    assert not agent.gone.is_set()
    assert not computer.gone.is_set()
    without_traceback(ready)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: repr(frame)[:40])
async def test_a_frame_that_is_no_message_harms_nobody(
    ready: Running, witnesses: tuple[Client, Client], frame: str | bytes
) -> None:
    client = await RawClient.open(ready.url)
    await client.send(frame)
    if len(frame) > ServerLimits().early_bytes:  # more than a client that has not joined may send
        await client.closed()
    elif isinstance(frame, bytes) or not frame.startswith(("45", "46", "41", "40")):
        # It is still served on the same connection.
        reply = await client.call(3, "server:leave_office", {"office_id": "nowhere"})
        assert reply[0] is False
    await client.close()


@pytest.mark.parametrize("event", CLIENT_EVENTS)
async def test_every_event_answers_every_wrong_payload(
    ready: Running, witnesses: tuple[Client, Client], event: str, office: str
) -> None:
    client = await RawClient.open(ready.url)
    joined = await client.call(1, "server:join_office", {"role": "agent", "name": "a", "office_id": office + "fuzz"})
    assert joined == [True, None]
    payloads: list[Any] = [*WRONG, *({**GOOD, field: wrong} for field in GOOD for wrong in WRONG)]
    payloads += [{key: value for key, value in GOOD.items() if key != field} for field in GOOD]
    for number, payload in enumerate(payloads, start=2):
        reply = await client.call(number, event, payload)
        if EVENTS[event].reply is not None:
            assert reply, (event, payload)
            refused = reply[0] is False or (isinstance(reply[0], dict) and "error" in reply[0])
            assert refused or reply == [True, None] or "sessions" in reply[0], (event, payload, reply)
    await client.close()


@pytest.mark.parametrize("arguments", ["[]", '["x"]', "[1]", "[null]", '[{"a":1},{"b":2}]', '["server:join_office"]'])
async def test_an_event_with_too_few_or_too_many_arguments_is_answered(ready: Running, arguments: str) -> None:
    client = await RawClient.open(ready.url)
    for event in ("server:join_office", "server:list_room", "client:get_tools"):
        body = json.dumps([event, *json.loads(arguments)])
        reply = await client.ack(5, f"42/smcp,5{body}")
        assert reply[0] is False or "error" in reply[0]
    await client.close()


MALFORMED_REPLIES = [
    "",
    "{",
    "{}",
    '"text"',
    "null",
    "[",
    "[{]",
    '["a"',
    "[1,]",
    "[NaN]",
    "[Infinity]",
    "[1e999]",
    '[{"a":[-1E400]}]',
    f"[{DEEP}]",
]


async def asked(computer: RawClient) -> str:
    """Return the number of the next request."""
    number = re.match(r"42/smcp,(\d+)", await computer.receive("42/smcp,"))
    assert number is not None
    return number[1]


async def joined_client(running: Running, connect: Connect, office: str) -> tuple[Client, RawClient]:
    """Return an Agent and a Computer that the test plays by hand."""
    agent = await connect(running)
    await agent.join("agent", "a", office)
    computer = await RawClient.open(running.url)
    await computer.call(1, "server:join_office", {"role": "computer", "name": "c", "office_id": office})
    return agent, computer


@pytest.mark.parametrize("reply", MALFORMED_REPLIES, ids=lambda reply: reply[:20])
async def test_a_malformed_reply_of_a_computer_fails_the_call_at_once(
    ready: Running, connect: Connect, office: str, reply: str
) -> None:
    agent, computer = await joined_client(ready, connect, office)
    call = asyncio.create_task(agent.tool("c"))
    await computer.send(f"43/smcp,{await asked(computer)}{reply}")
    assert (await call)["error"]["code"] == 500
    await computer.close()
    without_traceback(ready)


@pytest.mark.parametrize(
    ("head", "attachment"),
    [
        ('461-/smcp,{}[{"_placeholder":true,"num":5}]', b"x"),
        ('461-/smcp,{}[{"_placeholder":true,"num":-1}]', b"x"),
        ('461-/smcp,{}[{"_placeholder":true,"num":"0"}]', b"x"),
        ('461-/smcp,{}[{"_placeholder":true,"num":0},{"_placeholder":true,"num":0}]', b"x"),
        ('461-/smcp,{}{"_placeholder":true,"num":0}', b"x"),
        ('461-/smcp,{}[NaN,{"_placeholder":true,"num":0}]', b"x"),
        ('461-/smcp,{}[1e999,{"_placeholder":true,"num":0}]', b"x"),
        ("461-/smcp,{}[1]", b"x"),
        ("460-/smcp,{}[1]", b"x"),
        ('46999-/smcp,{}[{"_placeholder":true,"num":0}]', b"x"),
        ('461-/smcp,{}[{"_placeholder":true,"num":0}]', "42/smcp,[]"),
    ],
)
async def test_a_malformed_binary_reply_fails_the_call_at_once(
    ready: Running, connect: Connect, office: str, head: str, attachment: str | bytes
) -> None:
    agent, computer = await joined_client(ready, connect, office)
    call = asyncio.create_task(agent.tool("c"))
    await computer.send(head.replace("{}", await asked(computer), 1))
    await computer.send(attachment)
    assert (await call)["error"]["code"] == 500
    # What comes next on the same connection is read as usual.
    call = asyncio.create_task(agent.tool("c"))
    await computer.send(f'461-/smcp,{await asked(computer)}[{{"_placeholder":true,"num":0}}]')
    await computer.send(b"binary")
    assert await call == b"binary"
    await computer.close()
    without_traceback(ready)


async def test_a_packet_that_comes_in_place_of_an_attachment_is_read(
    ready: Running, connect: Connect, office: str
) -> None:
    agent, computer = await joined_client(ready, connect, office)
    calls = [asyncio.create_task(agent.tool("c", req_id=f"r{number}")) for number in range(2)]
    first, second = await asked(computer), await asked(computer)
    await computer.send(f'461-/smcp,{first}[{{"_placeholder":true,"num":0}}]')
    await computer.send(f'43/smcp,{second}["fine"]')
    replies = await asyncio.gather(*calls)
    assert replies[0]["error"]["code"] == 500
    assert replies[1] == "fine"
    await computer.close()


FOREIGN_ACKS = ["43/smcp,0[]", "43/smcp,0[1]", "43/smcp,00[]", "43/smcp,999[1]", f"43/smcp,{'9' * 90}[1]", "43,0[]"]
FOREIGN_ACKS += ["43/other,1[1]", '461-/smcp,0[{"_placeholder":true,"num":0}]', "43/smcp,0", "43/smcp,0{}"]


async def test_acks_that_nobody_asked_for_change_nothing(server: Running, connect: Connect, office: str) -> None:
    agent, computer = await joined_client(server, connect, office)
    call = asyncio.create_task(agent.tool("c", req_id="before"))
    number = await asked(computer)
    for ack in FOREIGN_ACKS:
        await computer.send(ack)
        if ack.startswith("461-"):
            await computer.send(b"x")
    await computer.send(f'43/smcp,{number}["answer"]')
    assert await call == "answer"
    other = asyncio.create_task(agent.tool("c", req_id="after"))
    await computer.send(f'43/smcp,{await asked(computer)}["answer"]')
    assert await other == "answer"
    await computer.close()


async def test_an_agent_cannot_answer_for_a_computer(ready: Running, connect: Connect, office: str) -> None:
    computer = await connect(ready)
    await computer.join("computer", "c", office)
    go = asyncio.Event()

    async def answer(_: str, data: Any) -> Any:
        await go.wait()
        return data["req_id"]

    computer.answers["*"] = answer
    agent = await RawClient.open(ready.url)
    await agent.call(1, "server:join_office", {"role": "agent", "name": "a", "office_id": office})
    payload = {"agent": "a", "req_id": "r", "computer": "c", "tool_name": "t", "params": {}, "timeout": 60}
    await agent.send(f"42/smcp,2{json.dumps(['client:tool_call', payload])}")
    for number in range(4):
        await agent.send(f'43/smcp,{number}["forged"]')
    go.set()
    assert json.loads((await agent.receive("43/smcp,2["))[len("43/smcp,2") :]) == ["r"]
    await agent.close()


@pytest.mark.parametrize("reply", ["", "{}", '"text"', "null", "[NaN]", "[1e999]"])
async def test_every_kind_of_server_fails_a_call_whose_reply_is_malformed(
    server: Running, connect: Connect, office: str, reply: str
) -> None:
    agent, computer = await joined_client(server, connect, office)
    call = asyncio.create_task(agent.tool("c"))
    await computer.send(f"43/smcp,{await asked(computer)}{reply}")
    assert (await call)["error"]["code"] == 500
    await computer.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.sampled_from(sorted(GOOD)) | st.text(max_size=8), children, max_size=6)
    ),
    max_leaves=15,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(CLIENT_EVENTS) | st.text(max_size=20), json_values), min_size=1, max_size=8))
def test_random_conversations_end_well(ready: Running, events: list[tuple[str, Any]]) -> None:
    async def converse() -> None:
        client = await RawClient.open(ready.url)
        for number, (event, payload) in enumerate(events, start=1):
            assert await client.call(number, event, payload) is not None
        await client.close()

    asyncio.run(converse())
    without_traceback(ready)
