"""All who wait for a request are told, and who leaves does not end it."""

import asyncio

import pytest

from a2c_smcp.documents.flights import Flight, Outcome
from a2c_smcp.documents.worker_main import Request
from a2c_smcp.errors import DocumentError

REQUEST = Request("page", "/a", (1, 2, 3), (0,), None, 30.0)


def flight(landed: list[Outcome] | None = None) -> Flight:
    return Flight(REQUEST, background=False, landed=None if landed is None else landed.append)


async def test_everybody_is_told_those_who_come_late_too() -> None:
    landed: list[Outcome] = []
    made = flight(landed)
    waiting = [asyncio.create_task(made.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    made.land(b"answer")
    assert [*await asyncio.gather(*waiting), await made.wait(), *landed] == [b"answer"] * 4


async def test_everybody_hears_why_there_is_no_answer() -> None:
    made, error = flight(), DocumentError("no")
    waiting = asyncio.create_task(made.wait())
    await asyncio.sleep(0)
    made.land(error)
    for told in (waiting, made.wait()):
        with pytest.raises(DocumentError) as caught:
            await told
        assert caught.value is error


async def test_who_leaves_does_not_end_it_for_the_others() -> None:
    made = flight()
    leaver, other = asyncio.create_task(made.wait()), asyncio.create_task(made.wait())
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.sleep(0)
    made.land(b"answer")
    assert (await other, leaver.cancelled()) == (b"answer", True)


async def test_a_flight_that_is_cancelled_sends_everybody_away() -> None:
    made = flight()
    waiting = asyncio.create_task(made.wait())
    await asyncio.sleep(0)
    made.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
