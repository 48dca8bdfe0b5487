"""The server of the guide, as a process."""

import sys
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from tests.interaction.docserver.clients import ERAS, connected

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_server.py"


@pytest.mark.parametrize("era", ERAS)
async def test_the_example_offers_a_document_and_a_window(era: str) -> None:
    async with connected(StdioServerParameters(command=sys.executable, args=[str(EXAMPLE)]), era) as client:
        assert await client.uris() == [
            "window://com.example.kitchen/clock?priority=50",
            "dpe://com.example.kitchen",
            "dpe://com.example.kitchen/pancakes",
        ]
        assert (await client.text("window://com.example.kitchen/clock")).startswith("It is ")
        page = await client.text("dpe://com.example.kitchen/pancakes/pages/0?format=markdown")
        assert page == "# Pancakes\n\n- 2 eggs\n- milk\n- flour\n\nMix, wait, fry."


def test_the_example_is_ten_lines() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line.strip() and not line.lstrip().startswith(('"""', "import ", "from "))]
    assert len(code) <= 10
