"""All who wait for a request are told, and who leaves does not end it."""

import asyncio

import pytest

from a2c_smcp.documents.in_flight import InFlightRequest, Outcome
from a2c_smcp.documents.worker_main import WorkerRequest
from a2c_smcp.documents.workers import Unreadable
from a2c_smcp.errors import DocumentError

REQUEST = WorkerRequest("page", "/a", (1, 2, 3), (0,), None, 30.0)


def flight(landed: list[Outcome] | None = None) -> InFlightRequest:
    return InFlightRequest(REQUEST, background=False, landed=None if landed is None else landed.append)


async def test_everybody_is_told_those_who_come_late_too() -> None:
    landed: list[Outcome] = []
    made = flight(landed)
    waiting = [asyncio.create_task(made.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    made.land(b"answer")
    assert [*await asyncio.gather(*waiting), await made.wait(), *landed] == [b"answer"] * 4


async def test_everybody_hears_why_there_is_no_answer() -> None:
    made = flight()
    waiting = asyncio.create_task(made.wait())
    await asyncio.sleep(0)
    made.land(Unreadable("no", lasting=False, details={"page": 0}))
    for told in (waiting, made.wait()):
        with pytest.raises(Unreadable) as caught:
            await told
        error = caught.value
        assert (error.message, error.lasting, error.details) == ("no", False, {"page": 0})


async def test_each_who_waits_hears_it_in_an_error_of_its_own() -> None:
    made, cause, raised = flight(), EOFError(), list[DocumentError]()
    error = DocumentError("no")
    error.__cause__ = cause
    waiting = [asyncio.create_task(made.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    made.land(error)
    for told in (*waiting, made.wait()):
        with pytest.raises(DocumentError) as caught:
            await told
        raised.append(caught.value)
    assert len({id(one) for one in (error, *raised)}) == 4
    assert [one.__cause__ for one in raised] == [cause] * 3
    assert error.__traceback__ is None


async def test_nobody_is_left_waiting_where_the_outcome_cannot_be_remembered() -> None:
    def forget(_: Outcome) -> None:
        raise ValueError("no")

    made = InFlightRequest(REQUEST, background=False, landed=forget)
    waiting = asyncio.create_task(made.wait())
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="no"):
        made.land(b"answer")
    assert await waiting == b"answer"


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
