"""What the owner of a Computer learns about names that clash, although nobody has asked for the tools."""

import asyncio
import logging

import pytest

from a2c_smcp.computer.computer import Computer
from tests.interaction.computer.conftest import office_config

CAP = 60


@pytest.mark.rule("4.3")
async def test_once_settled_the_status_names_every_clash() -> None:
    async with Computer(office_config("one", "two")) as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        clashes = {clash["tool"]: clash["servers"] for clash in computer.status()["tool_names"]}
    assert clashes["write"] == ("one", "two")


class Waiting(logging.Handler):
    """Knows when something about a tool was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.told: asyncio.Queue[str] = asyncio.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.told.put_nowait(record.getMessage())


@pytest.mark.rule("4.3")
async def test_clashes_are_logged_in_one_line_when_the_computer_starts() -> None:
    waiting = Waiting()
    log = logging.getLogger("a2c_smcp.computer.tools.tool_cache")
    log.addHandler(waiting)
    try:
        async with Computer(office_config("one", "two")):
            first = await asyncio.wait_for(waiting.told.get(), CAP)
    finally:
        log.removeHandler(waiting)
    assert first.startswith("tool names clash: count=10 'echo' of one and two, ")
    assert "Set an alias in tool_meta" in first
