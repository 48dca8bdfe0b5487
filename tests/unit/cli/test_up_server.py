"""Offices on demand: the Computer is there before the Agent, and leaves after it."""

import asyncio

import pytest

from a2c_smcp.cli.up_server import MOST, OfficesOnDemand
from a2c_smcp.errors import Forbidden, InternalError, OfficeFull, RateLimited
from a2c_smcp.server.offices import Member


def agent(office: str, sid: str = "1") -> Member:
    return Member(office, "agent", "ada", sid)


class Room:
    """The Computer's seat in an office."""

    def __init__(self, there: set[str], office: str) -> None:
        self._there, self._office = there, office
        there.add(office)

    async def close(self) -> None:
        self._there.discard(self._office)


class Computer:
    def __init__(self) -> None:
        self.there: set[str] = set()
        self.joins = 0
        self.broken = False

    async def attend(self, office: str) -> Room:
        self.joins += 1
        await asyncio.sleep(0)
        if self.broken:
            raise ConnectionError("no such server")
        return Room(self.there, office)


@pytest.fixture
def computer() -> Computer:
    return Computer()


async def test_the_computer_is_there_before_the_agent(computer: Computer) -> None:
    offices = OfficesOnDemand("home")
    seating = asyncio.create_task(offices.add_member(agent("home-ada")))
    await asyncio.sleep(0)
    assert not seating.done()  # it waits for the Computer, which is still starting
    offices.attend_by(computer.attend)
    async with asyncio.timeout(10):
        await seating
    assert computer.there == {"home-ada"}
    with pytest.raises(OfficeFull):
        await offices.add_member(agent("home-ada", "2"))
    await offices.close()
    assert computer.there == set()


async def test_the_first_office_has_its_computer_already(computer: Computer) -> None:
    offices = OfficesOnDemand("home")
    offices.attend_by(computer.attend)
    await offices.add_member(agent("home"))
    await offices.add_member(Member("home-ada", "computer", "desk", "3"))
    assert computer.joins == 0


@pytest.mark.parametrize("office", ["elsewhere", "homely", "Home-a"])
async def test_other_offices_are_refused(computer: Computer, office: str) -> None:
    offices = OfficesOnDemand("home")
    offices.attend_by(computer.attend)
    with pytest.raises(Forbidden, match="begin with 'home-'"):
        await offices.add_member(agent(office))


async def test_the_computer_stays_for_an_agent_that_comes_back_and_then_leaves(computer: Computer) -> None:
    offices = OfficesOnDemand("home", linger=0.05)
    offices.attend_by(computer.attend)
    await offices.add_member(agent("home-ada"))
    await offices.remove_member(agent("home-ada"))
    await offices.add_member(agent("home-ada", "2"))
    assert computer.joins == 1
    await offices.remove_member(agent("home-ada", "2"))
    async with asyncio.timeout(10):
        while computer.there:
            await asyncio.sleep(0.01)


async def test_a_computer_that_cannot_join_is_tried_again_for_the_next_agent(computer: Computer) -> None:
    offices = OfficesOnDemand("home")
    offices.attend_by(computer.attend)
    computer.broken = True
    with pytest.raises(InternalError, match="could not join"):
        await offices.add_member(agent("home-ada"))
    computer.broken = False
    await offices.add_member(agent("home-ada"))
    assert computer.there == {"home-ada"}


async def test_there_is_an_end_to_offices(computer: Computer) -> None:
    offices = OfficesOnDemand("home")
    offices.attend_by(computer.attend)
    for number in range(MOST):
        await offices.add_member(agent(f"home-{number}"))
    with pytest.raises(RateLimited):
        await offices.add_member(agent("home-more"))
    await offices.close()
