"""Every Python block of the guides for Agents runs as it stands, one after the other on a page."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient
from tests.interaction.agent.conveniences.conftest import Place
from tests.interaction.agent.conveniences.documents_office import CAP

GUIDES = Path(__file__).parents[4] / "docs" / "how-to"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


async def run(code: str, names: dict[str, Any]) -> None:
    waiting = eval(compile(code, "guide", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(waiting):
        await asyncio.wait_for(waiting, CAP)


@pytest.mark.parametrize(("page", "blocks"), [("walk-documents.md", 7), ("use-with-llms.md", 6)])
async def test_the_blocks_of_a_guide_run(page: str, blocks: int, visitor: AsyncSMCPAgentClient) -> None:
    found = BLOCK.findall((GUIDES / page).read_text(encoding="utf-8"))
    said: list[str] = []
    names: dict[str, Any] = {"agent": visitor, "print": lambda *words: said.append(" ".join(map(str, words)))}
    for code in found:
        if "def main(" not in code:
            await run(code, names)
    assert len(found) == blocks
    assert said


async def test_the_programs_of_the_guide_run(place: Place) -> None:
    programs = [
        code for code in BLOCK.findall((GUIDES / "walk-documents.md").read_text("utf-8")) if "def main(" in code
    ]
    assert len(programs) == 2
    for code in programs:
        said: list[str] = []
        names: dict[str, Any] = {"print": lambda *words, said=said: said.append(" ".join(map(str, words)))}
        await run(code, names)
        if inspect.iscoroutinefunction(names["main"]):
            await asyncio.wait_for(names["main"](place.url, place.office), CAP)
        else:
            await asyncio.wait_for(asyncio.to_thread(names["main"], place.url, place.office), CAP)
        assert said[0].startswith("A1 合同")


async def test_a_desktop_looks_as_the_guide_prints_it(visitor: AsyncSMCPAgentClient) -> None:
    guide = (GUIDES / "use-with-llms.md").read_text(encoding="utf-8")
    printed = guide.partition("```text\n")[2].partition("```")[0]
    shown = await visitor.render_context(budget=200)
    assert shown.splitlines()[:6] == printed.splitlines()[:6]
    assert shown.splitlines()[-1] == printed.splitlines()[-1]
