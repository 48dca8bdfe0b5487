"""The programs of the guide run as they are printed, but for the address."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from a2c_smcp.computer import Computer
from tests.interaction.computer.conftest import office_config
from tests.interaction.server.conftest import Running, run_server, stop_server

CAP = 60.0
GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "write-an-agent.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SAID = [
    "agent ada\ncomputer desk\necho – echo it",
    "hello",
    "it failed: The tool 'wait' did not finish within 1 s and was cancelled",
    "at 2 \ndone",
    "desk has 10 tools\nupdate_desktop desk\ndesk shows ['window://office/board?priority=50\\n\\nnews']",
    "'page_index': 10000",
]


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Running]:
    """An office with a Computer, as the guide has it."""
    process, running = run_server("ready", tmp_path)
    async with Computer(office_config("office"), name="desk") as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(running.url, "lab")
        yield running
    stop_server(process)


async def test_the_programs_of_the_guide_say_what_they_should(lab: Running) -> None:
    assert len(BLOCKS) == len(SAID)
    for block, said in zip(BLOCKS, SAID, strict=True):
        program = block.replace("http://127.0.0.1:8000", lab.url)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        printed, complaints = await asyncio.wait_for(process.communicate(), CAP)
        assert complaints.decode() == ""
        assert [line for line in said.splitlines() if line not in printed.decode()] == [], printed.decode()
