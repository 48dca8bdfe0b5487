"""However a Computer ends, nothing it started remains."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.interaction.computer.mcp.conftest import CAP, gone, lives

ROOT = Path(__file__).parents[4]


async def hosting(family: Path, count: int, ending: str) -> tuple[asyncio.subprocess.Process, list[int]]:
    """Start a program that hosts servers with children; return it and every process below it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.interaction.computer.mcp.hosting", str(family), str(count), ending),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    async with asyncio.timeout(CAP):
        assert await process.stdout.readline() == b"ready\n"
    return process, children_of(process.pid) + family_of(family, count)


def family_of(file: Path, count: int) -> list[int]:
    return [pid for index in range(count) for pid in json.loads(Path(f"{file}.{index}").read_text())]


def children_of(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGABRT])
async def test_nothing_remains_of_a_computer_that_was_ended_by_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    process, below = await hosting(tmp_path / "family", 2, "abrupt")
    # Two servers, which ignore every polite ending, their two children each, and the watchdog.
    assert len(below) == 7

    os.kill(process.pid, number)

    async with asyncio.timeout(CAP):
        await process.wait()
    for pid in below:
        await gone(pid)
    assert [pid for pid in below if lives(pid)] == []


async def test_nothing_remains_of_a_computer_that_ends_in_order(tmp_path: Path) -> None:
    process, below = await hosting(tmp_path / "family", 1, "orderly")

    process.terminate()

    async with asyncio.timeout(CAP):
        assert await process.wait() == 0
    # All have ended before the Computer itself.
    assert [pid for pid in below if lives(pid)] == []
