"""The programs of pages that need an office, an MCP client or a Redis, run as they are printed."""

import ast
import asyncio
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import StdioServerParameters

from a2c_smcp.computer import Computer, parse_config_text
from a2c_smcp.server import ApiKeyAuth
from tests.docs.pages import DOCS, ROOT, blocks
from tests.interaction.docserver.clients import connected
from tests.interaction.redis_server import redis_or_skip
from tests.interaction.server.conftest import run_server, stop_server
from tests.unit.computer.resource_servers import FakeServer, Office

CAP = 110.0
ADDRESS = "http://127.0.0.1:8000"
AGENT_PAGE = DOCS / "start" / "agent-developer.md"
AUTHOR_PAGE = DOCS / "start" / "mcp-author.md"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine where `a2c` and `python` are on the path, and whose caches are the test's own."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


async def output_of(*words: str, cwd: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *words, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    printed, complaints = await asyncio.wait_for(process.communicate(), CAP)
    assert process.returncode == 0, complaints.decode()
    return printed.decode()


async def run(code: str, names: dict[str, Any]) -> None:
    waiting = eval(compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(waiting):
        await asyncio.wait_for(waiting, CAP)


@pytest.fixture
async def office(machine: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The office of the quick start: a server, and a Computer with the configuration that the page prints."""
    monkeypatch.chdir(ROOT)
    (config,) = blocks(AGENT_PAGE, "json")
    process, running = run_server("ready", machine)
    try:
        async with Computer(parse_config_text(config.text).config, name="desk") as computer:
            await asyncio.wait_for(computer.settled(), CAP)
            await computer.connect(running.url, "lab")
            yield running.url
    finally:
        stop_server(process)


async def test_the_programs_of_the_quick_start_find_the_office(office: str) -> None:
    programs = blocks(AGENT_PAGE, "python")
    said = [
        ["search_documents –", "URI cheat sheet 3 dpe://a2c.docs/guides-uri-cheat-sheet.md", '"query": "office"'],
        ["'desk__search_documents'"],
    ]
    for program, words in zip(programs, said, strict=True):
        printed = await output_of(sys.executable, "-W", "error", "-c", program.text.replace(ADDRESS, office), cwd=ROOT)
        assert [word for word in words if word not in printed] == [], printed


def test_the_agent_of_the_readme_takes_twenty_lines() -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    assert len([line for line in program.text.splitlines() if line.strip()]) <= 20


async def test_the_server_of_the_quick_start_for_authors_is_seen_by_a_computer(machine: Path) -> None:
    (program,), (config,) = blocks(AUTHOR_PAGE, "python"), blocks(AUTHOR_PAGE, "json")
    (machine / "kitchen.py").write_text(program.text, encoding="utf-8")
    (machine / "mcp.json").write_text(config.text, encoding="utf-8")
    words = ("a2c", "computer", "--config", "mcp.json", "--json", "--do", "desktop", "--do", "finder")
    assert f"$ {' '.join(word for word in words if word != '--json')}\n" in AUTHOR_PAGE.read_text(encoding="utf-8")
    desktop, finder = (await output_of(*words, cwd=machine)).splitlines()
    assert "window://com.example.kitchen/clock?priority=50" in desktop
    assert [document["title"] for document in json.loads(finder)["documents"]] == ["Pancakes"]


async def test_the_offer_of_the_guide_goes_with_a_server_of_ones_own(machine: Path) -> None:
    program = "\n".join(block.text for block in blocks(DOCS / "how-to" / "offer-your-own-resources.md", "python"))
    (machine / "program.py").write_text(program, encoding="utf-8")
    (machine / "log.txt").write_text("lit the stove\n", encoding="utf-8")
    start = "exec(open('program.py').read(), {'__name__': 'kitchen'})"
    parameters = StdioServerParameters(command=sys.executable, args=["-c", start], cwd=machine)
    async with connected(parameters, "auto") as listener:
        assert [tool.name for tool in (await listener.client.list_tools()).tools] == ["fry"]
        assert set(await listener.uris()) == {
            "window://com.example.kitchen/clock?priority=50",
            "dpe://com.example.kitchen",
            "dpe://com.example.kitchen/pancakes",
            "dpe://com.example.kitchen/log",
        }
        page = await listener.text("dpe://com.example.kitchen/log/pages/0?format=markdown")
        assert page == "# Log\n\n- lit the stove"


async def test_a_program_serves_folders_as_in_serve_documents_md(machine: Path) -> None:
    (block,) = blocks(DOCS / "how-to" / "serve-documents.md", "python")
    environment = {**os.environ, "HOME": str(machine)}
    parameters = StdioServerParameters(command=sys.executable, args=["-c", block.text], cwd=ROOT, env=environment)
    async with connected(parameters, "auto") as listener:
        assert "dpe://com.example.documents/glossary.txt" in await listener.uris()


def test_the_example_of_the_guide_is_the_one_in_the_examples() -> None:
    first = blocks(DOCS / "how-to" / "offer-your-own-resources.md", "python")[0]
    assert (ROOT / "examples" / "own_server.py").read_text(encoding="utf-8").endswith(first.text)


async def test_the_rooms_for_resources_are_wired_as_in_desktop_and_finder_md() -> None:
    (block,) = blocks(DOCS / "explanation" / "desktop-and-finder.md", "python")
    uri = "window://board/main"
    sessions = Office(FakeServer("board", {uri: "news"}))
    names: dict[str, Any] = {"sessions": sessions, "uri": uri, "history": (), "keywords": None, "file_type": None}
    told: list[str] = []
    names |= {"offset": 0, "limit": 20, "pushes": SimpleNamespace(trigger=told.append)}
    await run(block.text, names)
    assert names["windows"] == [f"{uri}\n\nnews"]
    assert told == ["desktop"]
    assert (names["found"].total, names["contents"]["contents"][0]["text"]) == (0, "news")


async def test_a_namespace_with_a_registry_starts_and_stops_as_in_scale_out_md() -> None:
    (block,) = blocks(DOCS / "how-to" / "scale-out.md", "python")
    redis = redis_or_skip(tcp=True)
    try:
        names: dict[str, Any] = {"auth": ApiKeyAuth("key")}
        await run(block.text.replace("redis://localhost", redis.url), names)
        assert names["namespace"] is not None
    finally:
        redis.close()
