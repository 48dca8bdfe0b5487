"""A digest asked for by the Agent of an office: tool call, progress, a new document in the Finder, read by page."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.computer import Computer, parse_config
from a2c_smcp.computer.tools.progress import CallEvent, CallStage
from tests.interaction.digest.conftest import DOCUMENTS
from tests.interaction.server.conftest import Running, run_server, stop_server
from tests.interaction.server.programs import until

CAP = 120
HOST = "desk.docs"
INVOICE = "invoice.pdf"
OFFICE = "an office with digests"

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),  # starting everything takes seconds: the tests share it
    pytest.mark.timeout(300),
]


class Office(NamedTuple):
    agent: AsyncSMCPAgentClient
    steps: "asyncio.Queue[CallEvent]"
    digests: Path


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    yield running
    stop_server(process)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(relay: Running, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    folder, digests = tmp_path_factory.mktemp("documents"), tmp_path_factory.mktemp("made") / "digests"
    shutil.copy(DOCUMENTS / "pdf_table_repair_inv.pdf", folder / INVOICE)
    (folder / "notes.md").write_text("# Notes\n\nText.\n", encoding="utf-8")
    words = ["-m", "a2c_smcp.cli", "docs", "serve", str(folder), "--host", HOST, "--digests", str(digests)]
    server = {
        "type": "stdio",
        "server_parameters": {
            "command": sys.executable,
            "args": [*words, "--cache", str(tmp_path_factory.mktemp("cache")), "--workers", "1"],
            "cwd": str(Path(__file__).parents[3]),
        },
        "default_tool_meta": {"auto_apply": True},
    }
    steps: asyncio.Queue[CallEvent] = asyncio.Queue()
    config = parse_config({"servers": {"docs": server}}).config
    async with (
        Computer(config, name="desk", observer=steps.put_nowait) as computer,
        AsyncSMCPAgentClient(relay.url, name="a", office_id=OFFICE) as client,
    ):
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(relay.url, OFFICE)
        await asyncio.wait_for(client.settled(), CAP)
        yield Office(client, steps, digests)


async def step_of(steps: "asyncio.Queue[CallEvent]", wanted: Callable[[CallEvent], bool]) -> CallEvent:
    async with asyncio.timeout(CAP):
        while not wanted(step := await steps.get()):
            pass
    return step


def members(*groups: int) -> list[bytes]:
    """Return the command lines of the processes in these groups."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, (state, _, group) = (entry / "cmdline").read_bytes(), _stat(entry)
        except OSError:  # it has just ended
            continue
        if state not in "ZX" and int(group) in groups:
            found.append(words)
    return found


def _stat(entry: Path) -> list[str]:
    return (entry / "stat").read_text().rpartition(")")[2].split()[:3]


def groups() -> list[int]:
    """Return the process groups of the runs."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _leads(entry)]


def _leads(entry: Path) -> bool:
    try:
        return b"cli.digest_tool" in (entry / "cmdline").read_bytes() and _stat(entry)[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.rule("7.5", "8.4", "8.6")
async def test_an_agent_has_a_digest_made_is_told_of_it_and_reads_it_by_page(office: Office) -> None:
    agent, steps, digests = office
    heard = asyncio.Event()
    stop = agent.on("update_finder", lambda _: heard.set())
    before = await agent.get_finder("desk")
    assert sorted(document["title"] for document in before["documents"]) == ["Notes", "invoice"]

    result = await agent.call_tool("desk", "digest_document", {"doc_ref": INVOICE, "dpi": 50}, timeout=CAP)

    assert result["isError"] is False
    made = result["structuredContent"] or {}
    assert made["uri"] == f"dpe://{HOST}/invoice.digest.md"
    assert (made["doc_ref"], made["by"], made["source_pages"]) == ("invoice.digest.md", "extract", 3)
    assert [section["pages"] for section in made["sections"]] == [[1, 3]]
    async with asyncio.timeout(CAP):
        await heard.wait()
    stop()
    found = await agent.get_finder("desk", keywords=[made["title"]])
    assert made["uri"] in [document["uri"] for document in found["documents"]]
    assert found["total_count"] <= before["total_count"] + 1

    document = await agent.read_resource("desk", f"{made['uri']}?depth=pages")
    pages = [
        await agent.read_resource("desk", f"{made['uri']}/pages/{page['page_index']}?format=markdown")
        for page in document["pages"]
    ]
    text = "\n\n".join(page["content_markdown"] for page in pages)
    assert "without a language model" in text
    assert "[p1" in text
    # Citations lead to the pages, and the pictures can be looked at.
    target = f"dpe://{HOST}/{INVOICE}/pages/0"
    assert target in text
    source = await agent.read_resource("desk", f"{target}?format=markdown")
    assert source["content_markdown"]
    shown = [
        element
        for page in document["pages"]
        for element in (await agent.read_resource("desk", f"{made['uri']}/pages/{page['page_index']}"))["elements"]
        if element["category"] == "image"
    ]
    arguments = {"doc_ref": made["doc_ref"], "element_id": shown[0]["element_id"]}
    seen = await agent.call_tool("desk", "get_element_image", arguments, timeout=CAP)
    assert seen["isError"] is False
    assert seen["content"][0]["mimeType"] == "image/png"
    # The images lie beside it, and are no documents of their own.
    assert (digests / ".images" / "invoice" / "page1.png").is_file()
    assert (await agent.get_finder("desk"))["total_count"] == before["total_count"] + 1

    told = [step.progress for step in _all(steps) if step.progress is not None]
    assert [told[0], told[-1]] == [(0, 3, "pages: 0 of 3"), (4, 4, "sections: 1 of 1")]
    done = [progress[0] for progress in told]
    assert done == sorted(set(done))


def _all(steps: "asyncio.Queue[CallEvent]") -> list[CallEvent]:
    return [steps.get_nowait() for _ in range(steps.qsize())]


async def test_asked_for_again_it_is_the_same_and_nothing_is_read_twice(office: Office) -> None:
    picture = office.digests / ".images" / "invoice" / "page2.png"
    first = await office.agent.call_tool("desk", "digest_document", {"doc_ref": INVOICE, "dpi": 50}, timeout=CAP)
    before = picture.stat().st_mtime_ns
    second = await office.agent.call_tool("desk", "digest_document", {"doc_ref": INVOICE, "dpi": 50}, timeout=CAP)
    assert second["structuredContent"] == first["structuredContent"]
    assert picture.stat().st_mtime_ns == before


async def test_sections_are_as_they_are_asked_for(office: Office) -> None:
    arguments = {"doc_ref": INVOICE, "dpi": 50, "section_ranges": [[1, 1], [2, 3]]}
    result = await office.agent.call_tool("desk", "digest_document", arguments, timeout=CAP)
    assert [section["pages"] for section in (result["structuredContent"] or {})["sections"]] == [[1, 1], [2, 3]]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"doc_ref": "nothing.pdf"}, "There is no document 'nothing.pdf'"),
        ({"doc_ref": "notes.md"}, "Digests are made of PDFs, and 'notes.md' is 'md'"),
        ({"doc_ref": INVOICE, "section_ranges": [[9, 12]]}, "There can be no digest of 'invoice.pdf'"),
        ({"doc_ref": INVOICE, "dpi": 9_999}, "dpi must be at most"),
        ({"doc_ref": INVOICE, "section_ranges": [[1]]}, "section_ranges.0 must have at least 2 items"),
    ],
)
async def test_what_cannot_be_digested_is_said(office: Office, arguments: dict[str, Any], why: str) -> None:
    result = await office.agent.call_tool("desk", "digest_document", arguments, timeout=CAP)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(why)
    assert str(office.digests.parent) not in str(result)


@pytest.mark.rule("4.7")
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked up in /proc")  # noqa: PTH112
async def test_a_digest_that_is_cancelled_ends_with_its_processes(office: Office) -> None:
    _all(office.steps)
    arguments = {"doc_ref": INVOICE, "dpi": 600}  # long enough to be in the middle of it
    call = asyncio.create_task(office.agent.call_tool("desk", "digest_document", arguments, timeout=CAP))
    await step_of(office.steps, lambda step: step.stage is CallStage.PROGRESS)
    leaders = groups()
    assert any(b"worker_main" in words for words in members(*leaders))
    call.cancel()
    await step_of(office.steps, lambda step: step.stage is CallStage.CANCELLED)
    await until(lambda: not members(*leaders))
    # The next one does not wait for it.
    result = await office.agent.call_tool("desk", "digest_document", {"doc_ref": INVOICE, "dpi": 50}, timeout=CAP)
    assert result["isError"] is False
