"""Walking real documents, over real sockets, until they change."""

import asyncio
import sys
from pathlib import Path

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, OfficeEvent, SMCPAgentClient
from a2c_smcp.agent.documents import SearchHit, SyncDocuments
from a2c_smcp.errors import DocumentNotFound, ElementNotFound, PageOutOfRange
from tests.interaction.agent.conveniences.conftest import Place
from tests.interaction.agent.conveniences.documents_office import CAP, COMPUTER, documents_computer
from tests.interaction.agent.conveniences.documents_server import ELEMENT, PAGE, REPORT
from tests.interaction.server.conftest import Running

IDS = [element["element_id"] for element in PAGE["elements"]]


@pytest.mark.rule("7.7")
async def test_a_walk_a_search_and_a_reading_within_a_budget(visitor: AsyncSMCPAgentClient) -> None:
    documents = visitor.documents(COMPUTER)
    assert [document.title async for document in documents] == ["A1 合同", "2026 年度报告"]
    (report,) = [document async for document in documents.search("年报")]
    assert (report.uri, report.server, report.page_count) == (REPORT, "documents", 12)
    pages = [page async for page in report.pages()]
    assert [(page.index, page.title) for page in pages[:3]] == [(0, "概览"), (1, "收入分析"), (2, "")]
    assert len(pages) == 12
    assert [element.id async for element in pages[0].elements()] == IDS
    (table,) = [element async for element in pages[0].elements("table")]
    assert (await table.detail()).metadata == ELEMENT["metadata"]
    passages = [passage async for passage in report.iter_markdown(token_budget=60)]
    assert [(p.uri, p.complete) for p in passages] == [(f"{REPORT}/pages/0", False)]
    assert passages[0].startswith("# 2026 年度总结")
    assert [hit async for hit in documents.search_text("Q4")] == [
        SearchHit(f"{REPORT}/elements/tbl-001", "概览", "季度收入对比表（4行3列）"),
        SearchHit(f"{REPORT}/elements/chart-001", "概览", "季度收入趋势图"),
    ]


@pytest.mark.rule("7.7")
async def test_news_of_a_document_makes_what_was_read_old(ready: Running, office: str) -> None:
    async with (
        documents_computer(ready.url, office),
        AsyncSMCPAgentClient(ready.url, name="ada", office_id=office) as agent,
    ):
        documents = agent.documents(COMPUTER)
        assert (await documents.open(REPORT)).page_count == 12
        told = asyncio.Event()

        def hear(event: OfficeEvent) -> None:
            told.set()

        agent.on("update_finder", hear)
        await agent.call_tool(COMPUTER, "revise")
        await asyncio.wait_for(told.wait(), CAP)
        assert (await documents.open(REPORT)).page_count == 13


@pytest.mark.rule("3.3")
async def test_what_is_not_there_has_its_error(visitor: AsyncSMCPAgentClient) -> None:
    report = await visitor.documents(COMPUTER).open(REPORT)
    with pytest.raises(DocumentNotFound):
        await visitor.documents(COMPUTER).open(f"{REPORT}-2")
    with pytest.raises(PageOutOfRange):
        await report.page(99)
    with pytest.raises(ElementNotFound):
        await report.element("nothing")


async def test_our_own_document_server_is_searched_and_read(ready: Running, office: str, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# The plan\n\nBuy bread.\n\n## Later\n\nSell the zeppelin.\n", encoding="utf-8")
    (tmp_path / "其他.txt").write_text("没有飞艇。\n", encoding="utf-8")
    command = [sys.executable, "-m", "a2c_smcp.cli", "docs", "serve", str(tmp_path)]
    async with (
        documents_computer(ready.url, office, command=command),
        AsyncSMCPAgentClient(ready.url, name="ada", office_id=office) as agent,
    ):
        documents = agent.documents(COMPUTER)
        assert sorted([document.title async for document in documents]) == ["The plan", "其他"]
        (hit,) = [hit async for hit in documents.search_text("zeppelin")]
        page = await documents.page(hit.uri)
        assert (page.document.title, hit.page_index, "Sell the zeppelin." in await page.markdown()) == (
            "The plan",
            page.index,
            True,
        )
        assert [hit.title async for hit in documents.search_text("飞艇")] == ["其他"]


async def test_blocking_code_walks_the_same_way(place: Place) -> None:
    def walk() -> tuple[list[str], list[str]]:
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
            documents: SyncDocuments = agent.documents(COMPUTER)
            report = documents.open(REPORT)
            told = [passage.uri for passage in report.iter_markdown(token_budget=1_000)]
            return [element.id for element in report.page(0).elements()], told

    assert await asyncio.wait_for(asyncio.to_thread(walk), CAP) == (IDS, [f"{REPORT}/pages/0"])
