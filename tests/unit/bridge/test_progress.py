"""What a client is told while its tool runs."""

import asyncio
from itertools import pairwise

import pytest

from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.bridge.progress import reporting
from tests.unit.computer.virtual_time import in_virtual_time, now

DOING = "search is running on desk"


class Client:
    """Remembers what it was told, and when."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []
        self.moments: list[float] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message))
        self.moments.append(now())


@in_virtual_time
async def test_what_the_tool_says_is_passed_on_as_it_is() -> None:
    client = Client()
    async with reporting(client, DOING, 5) as tell:
        for step in (0, 50, 100):
            await tell(ToolProgress(step, 100, f"{step} %"))
    assert client.told == [(0, 100, "0 %"), (50, 100, "50 %"), (100, 100, "100 %")]


@in_virtual_time
async def test_a_tool_that_is_silent_gives_signs_of_life() -> None:
    client = Client()
    async with reporting(client, DOING, 5):
        await asyncio.sleep(12)
    assert client.moments == [pytest.approx(5), pytest.approx(10)]
    assert client.told == [(0, None, f"{DOING} (5 s)"), (pytest.approx(0, abs=1e-6), None, f"{DOING} (10 s)")]


@in_virtual_time
async def test_a_tool_that_speaks_often_needs_no_signs_of_life() -> None:
    client = Client()
    async with reporting(client, DOING, 5) as tell:
        for step in range(1, 5):
            await asyncio.sleep(4)
            await tell(ToolProgress(step))
    assert [progress for progress, _, _ in client.told] == [1, 2, 3, 4]


@in_virtual_time
async def test_progress_always_increases_and_the_numbers_of_the_tool_stay_its_own() -> None:
    client = Client()
    async with reporting(client, DOING, 5) as tell:
        await asyncio.sleep(6)
        await tell(ToolProgress(0, 10, "reading"))
        await tell(ToolProgress(3, 10, "reading"))
        await asyncio.sleep(11)
        await tell(ToolProgress(3, 10, "writing"))
        await tell(ToolProgress(4, 10, "writing"))
    numbers = [progress for progress, _, _ in client.told]
    assert all(before < after for before, after in pairwise(numbers))
    assert client.told == [
        (0, None, f"{DOING} (5 s)"),
        (pytest.approx(0, abs=1e-6), 10, "reading"),
        (3, 10, "reading"),
        (pytest.approx(3), 10, "reading (11 s)"),
        (pytest.approx(3), 10, "reading (16 s)"),
        (pytest.approx(3), 10, "writing"),
        (4, 10, "writing"),
    ]


@in_virtual_time
async def test_after_the_end_there_are_no_signs_of_life() -> None:
    client = Client()
    async with reporting(client, DOING, 5):
        await asyncio.sleep(6)
    await asyncio.sleep(20)
    assert len(client.told) == 1
