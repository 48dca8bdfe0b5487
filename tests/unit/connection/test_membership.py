"""A seat before and after there is a connection."""

import asyncio
import logging
from typing import Any

import pytest

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.connection.connection import ServerAddress
from a2c_smcp.connection.membership import Membership, MembershipCallbacks
from a2c_smcp.errors import BadRequest, NotInOffice

CAP = 60.0
NOWHERE = "http://127.0.0.1:1"


def seat(office_id: str | None = None, **callbacks: Any) -> Membership:
    return Membership(
        "agent",
        "a",
        ServerAddress(url=NOWHERE),
        lambda *_: None,
        office_id=office_id,
        backoff=Backoff(base=0.001, longest=0.001),
        callbacks=MembershipCallbacks(**callbacks),
        log=logging.getLogger("test"),
    )


@pytest.mark.parametrize("office_id", ["", "x" * 257, "a\nb"])
def test_an_office_that_cannot_be_one_is_refused(office_id: str) -> None:
    with pytest.raises(BadRequest, match="office_id"):
        seat(office_id)


async def test_a_seat_that_was_never_connected_says_so() -> None:
    one = seat("o")
    assert (one.open, one.joined_connection, one.connection, one.office_id, one.wanted) == (
        False,
        None,
        None,
        None,
        "o",
    )
    with pytest.raises(ConnectionError, match="not connected"):
        await one.wait_joined()


async def test_a_seat_that_wants_no_office_is_in_none() -> None:
    one = seat()
    await one.connect(wait=False)
    with pytest.raises(NotInOffice, match="join one first"):
        await one.wait_joined()
    await one.close()


async def test_closing_ends_every_wait() -> None:
    one = seat("o")
    await one.connect(wait=False)
    waiting = [asyncio.create_task(one.wait_joined()), asyncio.create_task(one.wait_joined())]
    await asyncio.sleep(0)
    await one.close()
    assert [type(problem) for problem in await asyncio.gather(*waiting, return_exceptions=True)] == [
        ConnectionError,
        ConnectionError,
    ]


async def test_a_server_that_is_not_there_ends_the_attempt_that_was_waited_for() -> None:
    states: list[str] = []
    one = seat("o", status=lambda status: states.append(status.state))
    with pytest.raises(ConnectionError):
        await asyncio.wait_for(one.connect(), CAP)
    assert (one.open, states[-1]) == (False, "offline")


async def test_joining_without_a_connection_is_a_wish() -> None:
    one = seat()
    assert await one.join("o") is False
    assert one.wanted == "o"
    await one.leave()
    assert one.wanted is None
