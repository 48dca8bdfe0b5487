"""Fetching a reply in pieces."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.connection.chunks import ChunkedReply, collect
from a2c_smcp.errors import BadRequest, InternalError, NotFound, SMCPError
from a2c_smcp.smcp import error_ack, parse_reply, parse_request

REPLY = {"contents": [{"uri": "dpe://docs/report", "text": "财务报告 " * 20_000}], "req_id": "r"}


class Computer:
    """Answers requests for pieces; counts how many are asked for at once."""

    def __init__(self, body: bytes, alter: Callable[[int, Any], Any] = lambda _, answer: answer) -> None:
        self.parcel = ChunkedReply(body, 4096)
        self.alter = alter
        self.asked: list[int] = []
        self.at_once = self.most = 0

    def reply(self) -> dict[str, Any]:
        return {"chunked": self.parcel.announce("t-1"), "req_id": "r"}

    async def ask(self, transfer: str, index: int) -> Any:
        request = {"agent": "a", "req_id": f"r-{index}", "computer": "c", "transfer": transfer, "index": index}
        parse_request("client:get_chunk", request)
        self.asked.append(index)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        answer = parse_reply("client:get_chunk", {"data": self.parcel.piece(index), "index": index, "req_id": "r"})
        return self.alter(index, answer)


async def test_a_reply_in_pieces_is_the_reply_itself() -> None:
    computer = Computer(FastJson.encode(REPLY))
    assert await collect(computer.ask, computer.reply()) == REPLY
    assert (sorted(computer.asked), computer.most) == (list(range(computer.parcel.count)), 2)


async def test_any_other_reply_is_returned_as_it_is() -> None:
    computer = Computer(b"{}")
    assert await collect(computer.ask, REPLY) is REPLY
    assert computer.asked == []


async def test_a_refused_piece_is_the_error_that_the_computer_raised() -> None:
    gone = error_ack("client:get_chunk", NotFound("The reply is no longer kept"), "r")
    computer = Computer(FastJson.encode(REPLY), lambda index, answer: gone if index == 3 else answer)
    with pytest.raises(NotFound, match="no longer kept"):
        await collect(computer.ask, computer.reply())
    assert max(computer.asked) < 10


async def test_altered_pieces_never_become_a_reply() -> None:
    computer = Computer(FastJson.encode(REPLY), lambda _, answer: answer | {"data": answer["data"].upper()})
    with pytest.raises(InternalError):
        await collect(computer.ask, computer.reply())


async def test_more_than_the_agent_wants_is_not_fetched() -> None:
    computer = Computer(FastJson.encode(REPLY))
    with pytest.raises(BadRequest, match="limit is 1000 bytes"):
        await collect(computer.ask, computer.reply(), limit=1000)
    assert computer.asked == []


async def test_what_is_no_json_is_told() -> None:
    computer = Computer(b"{" * 5000)
    with pytest.raises(SMCPError, match="not valid JSON"):
        await collect(computer.ask, computer.reply())
