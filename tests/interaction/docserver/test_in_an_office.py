"""Folders of a Computer, read by the Agent of its office: file, MCP server, Computer, Server, Agent."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.computer import Computer, parse_config
from a2c_smcp.errors import DocumentNotFound, ElementNotFound, PageOutOfRange
from tests.interaction.server.conftest import Running, run_server, stop_server

CAP = 60
NOTES = "dpe://desk.docs/notes.md"
OFFICE = "an office with documents"

pytestmark = pytest.mark.asyncio(loop_scope="module")  # starting everything takes seconds: the tests share it


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    yield running
    stop_server(process)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    (made / "notes.md").write_text("# Notes\n\nFirst.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n", encoding="utf-8")
    (made / "sales.csv").write_text("year,sum\n2025,10\n2026,12\n", encoding="utf-8")
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent(
    relay: Running, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[AsyncSMCPAgentClient]:
    words = ["-m", "a2c_smcp.cli", "docs", "serve", str(folder), "--host", "desk.docs"]
    server = {
        "type": "stdio",
        "server_parameters": {
            "command": sys.executable,
            "args": [*words, "--cache", str(tmp_path_factory.mktemp("cache")), "--workers", "1"],
            "cwd": str(Path(__file__).parents[3]),
        },
        "default_tool_meta": {"auto_apply": True},
    }
    config = parse_config({"servers": {"docs": server}}).config
    async with (
        Computer(config, name="desk") as computer,
        AsyncSMCPAgentClient(relay.url, name="a", office_id=OFFICE) as client,
    ):
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(relay.url, OFFICE)
        await asyncio.wait_for(client.settled(), CAP)
        yield client


async def titles(agent: AsyncSMCPAgentClient) -> dict[str, int]:
    found = await agent.get_finder("desk")
    return {document["title"]: document["page_count"] for document in found["documents"]}


async def told(agent: AsyncSMCPAgentClient, change: Any, expected: dict[str, int]) -> None:
    """Change something, and return once the Agent was told and finds what is expected."""
    heard = asyncio.Event()
    stop = agent.on("update_finder", lambda _: heard.set())
    await asyncio.to_thread(change)
    async with asyncio.timeout(CAP):
        while True:  # an earlier change may still be told
            await heard.wait()
            heard.clear()
            if await titles(agent) == expected:
                break
    stop()


@pytest.mark.rule("7.3", "7.6", "7.9")
async def test_an_agent_walks_from_the_catalogue_to_an_element(agent: AsyncSMCPAgentClient) -> None:
    assert await titles(agent) == {"Notes": 1, "sales": 1}
    document = await agent.read_resource("desk", f"{NOTES}?depth=pages")
    assert [(page["title"], page["element_count"]) for page in document["pages"]] == [("Notes", 3)]
    page = await agent.read_resource("desk", f"{NOTES}/pages/0?format=markdown")
    assert page["content_markdown"].startswith("# Notes\n\nFirst.")
    element = await agent.read_resource("desk", f"{NOTES}/elements/tbl-001")
    assert element["content"]["rows"] == [["1", "2"]]
    catalogue = await agent.read_resource("desk", "dpe://desk.docs")
    assert catalogue["total_count"] == 2


@pytest.mark.rule("3.3")
async def test_codes_and_details_pass_through_all_hops(agent: AsyncSMCPAgentClient) -> None:
    with pytest.raises(DocumentNotFound):
        await agent.read_resource("desk", "dpe://desk.docs/nothing")
    with pytest.raises(PageOutOfRange) as page:
        await agent.read_resource("desk", f"{NOTES}/pages/9")
    assert page.value.details is not None
    assert (page.value.details["page_index"], page.value.details["page_count"]) == (9, 1)
    with pytest.raises(ElementNotFound):
        await agent.read_resource("desk", f"{NOTES}/elements/nothing")


@pytest.mark.rule("7.5", "7.9")
async def test_a_file_that_comes_changes_and_goes_is_told_to_the_agent(
    agent: AsyncSMCPAgentClient, folder: Path
) -> None:
    assert await titles(agent) == {"Notes": 1, "sales": 1}
    new, before = folder / "new.md", {"Notes": 1, "sales": 1}
    await told(agent, lambda: new.write_text("# New\n\nText.\n", encoding="utf-8"), before | {"New": 1})
    sections = "# One\n\nText.\n\n# Two\n\nText.\n"
    await told(agent, lambda: new.write_text(sections, encoding="utf-8"), before | {"One": 2})
    await told(agent, new.unlink, before)


async def test_an_agent_searches_what_it_cannot_see(agent: AsyncSMCPAgentClient) -> None:
    async with asyncio.timeout(CAP):
        while True:  # the index is filled in the background
            result = await agent.call_tool("desk", "search_documents", {"query": "first"})
            if hits := (result.get("structuredContent") or {}).get("hits"):
                break
    assert hits[0]["uri"] == f"{NOTES}/elements/txt-001"
