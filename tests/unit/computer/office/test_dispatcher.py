"""Requests are checked, answered and acknowledged."""

import asyncio
import json
import logging
from typing import Any

import pytest

from a2c_smcp.computer.office.dispatcher import IncomingRequest, RequestDispatcher
from a2c_smcp.computer.office.transfers import PendingTransfers
from a2c_smcp.errors import NotFound

TOOLS = {"agent": "a", "req_id": "r-1", "computer": "c"}
CALL = TOOLS | {"tool_name": "echo", "params": {}, "timeout": 5}
CAP = 60.0


class Answers:
    """Answers when it is let go, with what it was given."""

    def __init__(self, reply: Any = None) -> None:
        self.reply = {} if reply is None else reply
        self.go = asyncio.Event()
        self.go.set()
        self.asked: list[str] = []
        self.cancelled: list[str] = []

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request["req_id"])
        await self.go.wait()
        if isinstance(self.reply, Exception):
            raise self.reply
        reply: dict[str, Any] = self.reply
        return reply

    async def cancel(self, agent: str, req_id: str) -> None:
        self.cancelled.append(req_id)
        raise KeyError(agent)

    def office_changed(self, office_id: str | None) -> None:
        pass


class Line:
    """Where acks go."""

    def __init__(self, limit: int = 10_000, *, gone: bool = False) -> None:
        self.limit = limit
        self.gone = gone
        self.acks: asyncio.Queue[Any] = asyncio.Queue()

    async def send(self, body: str) -> bool:
        self.acks.put_nowait(json.loads(body))
        return not self.gone

    def asked(self, event: str, payload: Any) -> IncomingRequest:
        return IncomingRequest(event, payload, self.send, self.limit)

    async def ack(self) -> Any:
        return await asyncio.wait_for(self.acks.get(), CAP)


def desk(answers: Answers, **options: Any) -> RequestDispatcher:
    return RequestDispatcher(answers, "c", PendingTransfers(lambda: 0.0), **options)


async def test_the_answer_is_the_ack() -> None:
    line = Line()
    desk(Answers({"tools": []})).take(line.asked("client:get_tools", TOOLS))
    assert await line.ack() == {"tools": []}


async def test_a_request_for_another_computer_is_not_answered() -> None:
    line, answers = Line(), Answers()
    desk(answers).take(line.asked("client:get_tools", TOOLS | {"computer": "d"}))
    assert (await line.ack())["error"]["code"] == NotFound.code
    assert answers.asked == []


@pytest.mark.parametrize(
    ("payload", "req_id"),
    [(CALL | {"computer": ""}, "r-1"), ({"req_id": 5}, None), ({"req_id": "x" * 300}, None), ([], None)],
)
async def test_a_refused_tool_call_names_the_request_where_it_has_a_name(payload: Any, req_id: str | None) -> None:
    line = Line()
    desk(Answers()).take(line.asked("client:tool_call", payload))
    assert (await line.ack()).get("req_id") == req_id


async def test_a_refusal_of_any_other_request_has_no_req_id_that_released_agents_would_take_for_a_result() -> None:
    line = Line()
    desk(Answers()).take(line.asked("client:get_tools", TOOLS | {"computer": ""}))
    assert "req_id" not in await line.ack()


async def test_beyond_what_it_takes_it_refuses_and_beyond_that_it_drops() -> None:
    line, answers = Line(), Answers()
    answers.go.clear()
    one = desk(answers, at_once=2)
    for number in range(10):
        one.take(line.asked("client:tool_call", CALL | {"req_id": f"r-{number}"}))
    assert [(await line.ack())["req_id"] for _ in range(2)] == ["r-2", "r-3"]
    assert (one.running, answers.asked) == (2, ["r-0", "r-1"])
    answers.go.set()
    assert [await line.ack() for _ in range(2)] == [{}, {}]
    await one.close()
    assert line.acks.empty()


async def test_pieces_are_served_while_it_is_busy() -> None:
    line, answers = Line(), Answers({"contents": ["x" * 20_000]})
    one = desk(answers, at_once=1)
    request = {"uri": "x:y", "accept_chunks": True}
    one.take(line.asked("client:read_resource", TOOLS | request))
    chunked = (await line.ack())["chunked"]
    answers.go.clear()
    one.take(line.asked("client:get_tools", TOOLS))
    one.take(line.asked("client:get_chunk", TOOLS | {"transfer": chunked["transfer"], "index": 0}))
    assert (await line.ack())["index"] == 0
    await one.close()


async def test_only_true_means_that_pieces_are_accepted() -> None:
    line = Line()
    one = desk(Answers({"contents": ["x" * 20_000]}))
    one.take(line.asked("client:read_resource", TOOLS | {"uri": "x:y", "accept_chunks": "yes"}))
    assert (await line.ack())["error"]["details"] == {"limit": "reply size", "size": 20_017, "value": 10_000}


async def test_what_cannot_be_encoded_is_an_internal_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    line = Line()
    desk(Answers({"deep": deep})).take(line.asked("client:get_tools", TOOLS))
    assert (await line.ack())["error"]["code"] == 500


async def test_an_answer_that_comes_too_late_is_logged_with_its_request(caplog: pytest.LogCaptureFixture) -> None:
    line = Line(gone=True)
    with caplog.at_level(logging.INFO, "a2c_smcp.computer.office.dispatcher"):
        one = desk(Answers())
        one.take(line.asked("client:get_tools", TOOLS))
        await line.ack()
        await one.close()
    assert [(record.getMessage(), getattr(record, "req_id", None)) for record in caplog.records] == [
        ("reply too late: event=client:get_tools", "r-1")
    ]


async def test_a_name_that_an_agent_made_up_does_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    line = Line()
    with caplog.at_level(logging.INFO, "a2c_smcp.computer.office.dispatcher"):
        desk(Answers()).take(line.asked("client:\nforged", TOOLS))
        await line.ack()
    assert [record.getMessage() for record in caplog.records] == ["request refused: event=unknown code=400"]


async def test_a_cancellation_that_fails_is_logged_and_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    answers = Answers()
    one = desk(answers)
    one.cancel({"agent": "a", "req_id": "r-9"})
    while one.running:
        await asyncio.sleep(0)
    assert answers.cancelled == ["r-9"]
    assert [(record.getMessage(), getattr(record, "req_id", None)) for record in caplog.records] == [
        ("cancelling a call failed", "r-9")
    ]


async def test_closing_cancels_what_runs_and_forgets_what_waits() -> None:
    line, answers = Line(), Answers({"contents": ["x" * 20_000]})
    transfers = PendingTransfers(lambda: 0.0)
    one = RequestDispatcher(answers, "c", transfers)
    one.take(line.asked("client:read_resource", TOOLS | {"uri": "x:y", "accept_chunks": True}))
    await line.ack()
    answers.go.clear()
    one.take(line.asked("client:get_tools", TOOLS))
    assert (len(transfers), one.running) == (1, 1)
    await one.close()
    assert (len(transfers), one.running) == (0, 0)


async def test_a_reply_that_can_never_wait_is_refused() -> None:
    line = Line()
    one = RequestDispatcher(
        Answers({"contents": ["x" * 20_000]}), "c", PendingTransfers(lambda: 0.0, most_bytes=15_000)
    )
    one.take(line.asked("client:read_resource", TOOLS | {"uri": "x:y", "accept_chunks": True}))
    assert (await line.ack())["error"]["details"] == {"limit": "reply size", "size": 20_017, "value": 15_000}
