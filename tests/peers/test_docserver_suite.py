"""`a2c docs serve` under the official MCP conformance suite and in the MCP Inspector."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.peers.environments import PATIENCE
from tests.peers.mcp_suite import InspectorError, conformance, inspect

ROOT = Path(__file__).parents[2]
EXAMPLES = str(ROOT / "examples" / "documents")
EXPECTED = Path(__file__).parent / "conformance_docserver.yml"
SERVE = [sys.executable, "-m", "a2c_smcp.cli", "docs", "serve", EXAMPLES]
CHEAT_SHEET = "dpe://a2c.docs/guides-uri-cheat-sheet.md"

pytestmark = pytest.mark.timeout(PATIENCE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    cache = tmp_path_factory.mktemp("cache")
    options = ("--http", "127.0.0.1:0", "--no-auth", "--json", "--cache", str(cache))
    process = await asyncio.create_subprocess_exec(*SERVE, *options, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.terminate()
        await process.wait()


async def test_the_conformance_suite_passes_for_what_is_offered(url: str) -> None:
    verdict = await conformance(url, EXPECTED)
    assert verdict.sound, verdict.output
    assert verdict.passed >= {
        "completion-complete",
        "dns-rebinding-protection",
        "ping",
        "resources-list",
        "resources-subscribe",
        "resources-unsubscribe",
        "server-initialize",
        "server-sse-multiple-streams",
        "tools-list",
    }


async def test_the_inspector_lists_and_reads_over_http(url: str) -> None:
    listed = await inspect([url], "resources/list")
    assert {"dpe://a2c.docs", CHEAT_SHEET} <= {resource["uri"] for resource in listed["resources"]}
    read = await inspect([url], "resources/read", "--uri", f"{CHEAT_SHEET}/pages/0?format=markdown")
    assert read["contents"][0]["mimeType"] == "text/markdown"
    assert "dpe://" in read["contents"][0]["text"]


async def test_the_inspector_starts_the_server_itself(tmp_path: Path) -> None:
    command = [*SERVE, "--cache", str(tmp_path)]
    templates = await inspect(command, "resources/templates/list")
    assert [template["uriTemplate"] for template in templates["resourceTemplates"]] == [
        "dpe://a2c.docs/{doc_ref}/pages/{page_index}",
        "dpe://a2c.docs/{doc_ref}/elements/{element_id}",
    ]


async def test_the_inspector_finds_no_fault_with_the_tools(url: str) -> None:
    listed = await inspect([url], "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == ["search_documents", "render_page", "get_element_image"]


async def test_the_inspector_calls_a_tool(url: str) -> None:
    found = await inspect([url], "tools/call", "--tool-name", "search_documents", arguments={"query": "dpe"})
    assert not found["isError"]
    assert found["structuredContent"]["hits"][0]["uri"].startswith("dpe://a2c.docs/")


async def test_the_inspector_tells_what_is_not_there(url: str) -> None:
    with pytest.raises(InspectorError, match="no document"):
        await inspect([url], "resources/read", "--uri", "dpe://a2c.docs/nothing")
