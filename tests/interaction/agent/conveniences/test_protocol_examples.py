"""The examples that the protocol's text prints for Agents, run as they are written."""

import ast
import asyncio
import inspect
import re
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from a2c_smcp.agent.adapters import ModelTools, SyncModelTools
from tests.interaction.agent.conveniences.conftest import Place
from tests.interaction.agent.conveniences.documents_office import CAP
from tests.interaction.agent.conveniences.documents_server import REPORT, TEXT
from tools.gen_sync import Generator

SECTION = TEXT.partition("## Agent 端导航")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```python\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
SAID = [
    "A1 合同: 5 页",
    "2026 年度报告: 12 页",
    "  第 0 页: 概览 (8 元素)",
    "  第 1 页: 收入分析 (15 元素)",
    "  [table] tbl-001: 季度收入对比表（4行3列）",
    *[line for n in range(5) for line in (f"--- 第 {n} 页:  ---", "")],
]
BROWSED = "# 2026 年度总结"


def test_the_section_has_its_six_examples() -> None:
    assert len(BLOCKS) == 6
    assert "internal_tool" in BLOCKS[-1]


@pytest.mark.rule("7.7")
async def test_the_examples_run_as_written(visitor: AsyncSMCPAgentClient) -> None:
    said: list[str] = []
    names = {"agent": visitor, "print": said.append}
    for block in BLOCKS:
        code = compile(block, "finder.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waiting = eval(code, names)
        if inspect.iscoroutine(waiting):
            await asyncio.wait_for(waiting, CAP)
    browsed = await ModelTools(visitor).call("browse_document", {"uri": REPORT})
    check(said, names)
    assert BROWSED in browsed.text


@pytest.mark.rule("7.7")
async def test_they_run_in_blocking_code_as_well(place: Place) -> None:
    said: list[str] = []
    names: dict[str, Any] = {"print": said.append}

    def run() -> str:
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
            names["agent"] = agent
            for block in BLOCKS:
                exec(compile(Generator().to_sync(block), "finder.md", "exec"), names)
            return SyncModelTools(agent).call("browse_document", {"uri": REPORT}).text

    browsed = await asyncio.wait_for(asyncio.to_thread(run), CAP)
    check(said, names)
    assert BROWSED in browsed


def check(said: list[str], names: dict[str, Any]) -> None:
    assert said == SAID
    assert names["page_count"] == 12
    assert names["element"]["metadata"] == {"source_range": "A1:C5", "has_formulas": True}
    assert names["element"]["content"]["rows"][0] == ["Q1", "1,250", "+12%"]


def test_the_example_of_a_tool_of_ones_own_is_told_to_models() -> None:
    agent = AsyncSMCPAgentClient("http://127.0.0.1", name="ada")
    exec(compile(BLOCKS[-1], "finder.md", "exec"), {"agent": agent})
    tool = agent.internal_tools["browse_document"].tool
    assert tool["description"] == "浏览文档指定页面"
    assert tool["params_schema"]["required"] == ["uri"]
    assert set(tool["params_schema"]["properties"]) == {"uri", "page"}
