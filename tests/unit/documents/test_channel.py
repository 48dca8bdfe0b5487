"""A process that does not keep to the form is at its end, whatever it says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from a2c_smcp.documents import channel
from a2c_smcp.documents.channel import Answer, Channel
from a2c_smcp.documents.worker_main import ANSWER_HEAD, MAX_BODY, Setup

Run = Callable[..., AbstractAsyncContextManager[Channel]]

MESSAGE = Setup((), 0, 0)
DEEP = 50_000
PROCESS = """
import os, struct, sys
for said in {said}:
    sys.stdin.buffer.read(*struct.unpack(">I", sys.stdin.buffer.read(4)))
    for part in said:
        os.write(1, part)
{last}
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A process that answers each message with some writes, and then does one thing more."""

    @asynccontextmanager
    async def running(*said: list[bytes], last: str = "sys.stdin.buffer.read()") -> AsyncIterator[Channel]:
        monkeypatch.setattr(channel, "_CODE", PROCESS.format(said=said, last=last))
        made = await Channel.start()
        try:
            yield made
        finally:
            await made.end()

    return running


def frame(head: object, body: bytes = b"") -> bytes:
    written = b"" if head is None else json.dumps(head).encode()
    return ANSWER_HEAD.pack(len(written), len(body)) + written + body


async def ask(process: Channel, seconds: float = 60) -> Answer:
    return await process.ask(MESSAGE, seconds)


async def test_answers_come_back_in_turn(run: Run) -> None:
    async with run([frame(None, b"one")], [frame({"kind": "changed"})]) as process:
        assert [await ask(process), await ask(process)] == [({}, b"one"), ({"kind": "changed"}, b"")]


def test_a_part_of_an_answer_is_waited_with() -> None:
    whole = frame({"a": 1}, b"body")
    parts = [channel._cut(bytearray(whole[:length]), wanted=True) for length in range(len(whole) + 1)]
    assert parts == [*[None] * len(whole), ({"a": 1}, b"body")]


async def test_an_answer_in_pieces_is_put_together(run: Run) -> None:
    body = b"x" * 90_000  # more than a pipe holds
    whole = frame({"a": 1}, body)
    async with run([whole[:3], whole[3:10], whole[10:80_000], whole[80_000:]]) as process:
        assert await ask(process) == ({"a": 1}, body)


@pytest.mark.parametrize(
    "said",
    [
        frame([1]),
        ANSWER_HEAD.pack(3, 0) + b"{]}",
        ANSWER_HEAD.pack(DEEP, 0) + b"[" * DEEP,
        ANSWER_HEAD.pack(0, MAX_BODY + 1),
        ANSWER_HEAD.pack(channel.MAX_HEAD + 1, 0),
        frame(None, b"answer") + b"and more",
    ],
    ids=["no object", "no JSON", "nested deep", "a large body", "a large head", "too much"],
)
async def test_what_is_no_answer_ends_the_process(run: Run, said: bytes) -> None:
    async with run([said]) as process:
        with pytest.raises(ValueError, match=r"answer|Expecting"):
            await ask(process)
        assert process.is_silent
        with pytest.raises(EOFError):
            await ask(process)


async def test_a_process_that_speaks_without_being_asked_is_ended(run: Run) -> None:
    async with run(last="sys.stdin.buffer.read(1); os.write(1, b'!'); sys.stdin.buffer.read()") as process:
        pipe = process._process.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        pipe.write(b"?")
        assert await process.end(60) is not None


@pytest.mark.parametrize("said", [[], [frame(None, b"answer")[:9]]], ids=["nothing", "half an answer"])
async def test_a_process_that_ends_says_so_at_once(run: Run, said: list[bytes]) -> None:
    async with run(said, last="sys.exit(3)") as process:
        with pytest.raises(EOFError):
            await ask(process)
        assert (process.is_silent, await process.end(60)) == (True, 3)


async def test_a_process_that_ended_before_it_was_asked_does_not_keep_anybody_waiting(run: Run) -> None:
    async with run(last="sys.exit()") as process:
        await process.end(60)
        with pytest.raises(EOFError):
            await ask(process)


async def test_an_answer_that_does_not_come_in_time_is_given_up(run: Run) -> None:
    async with run([frame(None, b"one")], []) as process:
        await ask(process)  # whose timer is still set, for later
        async with asyncio.timeout(30):
            with pytest.raises(TimeoutError):
                await ask(process, 0.1)


async def test_a_timer_that_was_set_for_an_earlier_answer_leaves_the_later_its_time(run: Run) -> None:
    async with run([frame(None, b"one")], [frame(None, b"two")]) as process:
        await ask(process)
        second = asyncio.create_task(ask(process))
        await asyncio.sleep(0)
        process._watch()
        assert await second == ({}, b"two")
        process._watch()  # now nobody waits
        assert not process.is_silent


async def test_who_leaves_does_not_spoil_the_end(run: Run) -> None:
    async with run([]) as process:
        leaver = asyncio.create_task(ask(process))
        await asyncio.sleep(0)
        leaver.cancel()
        assert await process.end() is None


@pytest.mark.parametrize("own", [None, "1"], ids=["by default", "as its user says"])
async def test_a_process_keeps_some_memory_for_its_next_page(
    run: Run, monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if own is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", own)
    tell = "told = os.environb[b'MALLOC_TRIM_THRESHOLD_']; os.write(1, struct.pack('>II', 0, len(told)) + told)"
    async with run(last=f"sys.stdin.buffer.read(1); {tell}; sys.stdin.buffer.read()") as process:
        assert await ask(process) == ({}, (own or channel.HEAP["MALLOC_TRIM_THRESHOLD_"]).encode())
