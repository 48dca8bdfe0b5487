"""`a2c up` as a new user runs it: one command, then a browser, a shell and an MCP client that all work."""

import asyncio
import json
import os
import shlex
import signal
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.errors import Unauthorized
from tests.interaction.cli.running_up import CAP, ECHO, EXAMPLES, Running, up
from tests.interaction.console import enter
from tests.interaction.server.programs import until

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),  # starting everything takes seconds: the tests share it
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    except OSError:
        return ""


def mode_and_text(path: Path) -> tuple[int, str]:
    return stat.S_IMODE(path.stat().st_mode), path.read_text(encoding="ascii").strip()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("up")
    (folder / "cwd").mkdir()
    config = {"mcpServers": {"own": {"command": sys.executable, "args": [str(ECHO)]}}}
    (folder / "cwd" / "mcp.json").write_text(json.dumps(config), encoding="utf-8")
    async with up(folder, str(EXAMPLES), "--name", "desk", "--trust") as running:
        await running.hear(event="ready")
        await running.hear(event="server", name="documents", state="running")
        yield running


@pytest.fixture
def ready(office: Running) -> dict[str, Any]:
    return next(event for event in office.told if event["event"] == "ready")


async def test_it_says_what_it_started(office: Running, ready: dict[str, Any]) -> None:
    assert (ready["name"], ready["office"], ready["pid"]) == ("desk", "home", office.process.pid)
    assert ready["folders"] == [str(EXAMPLES)]
    assert ready["servers"] == ["own", "documents"]
    assert Path(ready["config"]).name == "mcp.json"
    assert ready["notes"] == [
        "mcp.json is in this folder, and you trust it: its MCP servers are started; --no-config starts none of them"
    ]


def poison(folder: Path, mark: str, **more: Any) -> Path:
    """Put a configuration into a folder that starts a program, and return the file that this leaves."""
    (folder / "cwd").mkdir(exist_ok=True)
    proof = folder / mark
    server = {"command": "touch", "args": [str(proof)], **more}
    (folder / "cwd" / "mcp.json").write_text(json.dumps({"mcpServers": {"found": server}}), encoding="utf-8")
    return proof


async def test_a_configuration_that_lies_in_the_folder_starts_nothing_unasked(tmp_path: Path) -> None:
    proof = poison(tmp_path, "ran", alwaysAllow=["x"], default_tool_meta={"auto_apply": True})
    async with up(tmp_path, str(EXAMPLES)) as running:
        ready = await running.hear(event="ready")
        assert (ready["config"], ready["servers"]) == (None, ["documents"])
        assert "you have not agreed to what it starts" in ready["notes"][0]
        await running.hear(event="server", name="documents", state="running")
        assert not proof.exists()


async def test_a_trusted_configuration_that_changes_is_held_back_until_it_is_trusted_again(tmp_path: Path) -> None:
    first = poison(tmp_path, "first")
    async with up(tmp_path, str(EXAMPLES), "--trust") as running:
        await running.hear(event="ready")
        await until(first.exists)
        second = poison(tmp_path, "second\x1b[2J")
        held = await running.hear(event="configuration")
        assert "has changed since you trusted it" in held["problem"]
        assert held["starts"] == [f"  server \"found\": runs touch '{tmp_path}/second\\u001b[2J'"]
        assert not second.exists()
        os.write(running.keyboard, b"yes\n")
        await running.hear(event="configuration", problem="None")
        await until(second.exists)


async def test_the_console_opens_once_with_the_address_that_was_printed(ready: dict[str, Any]) -> None:
    async with httpx.AsyncClient(base_url=ready["console"].partition("/#")[0]) as browser:
        assert (await browser.get("/api/state")).status_code == 401
        assert (await enter(browser, ready["console"])).status_code == 200
        state = (await browser.get("/api/state")).json()
        assert (state["name"], state["connection"]["state"]) == ("desk", "joined")
    async with httpx.AsyncClient() as other:
        assert (await enter(other, ready["console"])).status_code == 401


async def test_enter_gives_a_new_address_for_another_browser(office: Running) -> None:
    os.write(office.keyboard, b"\n")
    event = await office.hear(event="console")
    async with httpx.AsyncClient() as browser:
        assert (await enter(browser, event["console"])).status_code == 200


async def test_the_command_that_was_printed_lists_the_documents(office: Running, ready: dict[str, Any]) -> None:
    words = shlex.split(ready["agent"])
    process = await asyncio.create_subprocess_exec(
        *words, "--json", env=office.env, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(CAP):
        out, _ = await process.communicate()
    (desk,) = json.loads(out)
    assert desk["computer"] == "desk"
    assert "Glossary" in str(desk["documents"])


async def test_the_configuration_that_was_printed_makes_an_mcp_client_an_agent(
    office: Running, ready: dict[str, Any]
) -> None:
    (server,) = ready["mcp"]["mcpServers"].values()
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=office.env)
    async with asyncio.timeout(CAP), Client(parameters, mode="legacy") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert any("search_documents" in name for name in names)
        assert any("digest_document" in name for name in names)


async def test_nobody_gets_in_without_the_token(ready: dict[str, Any]) -> None:
    for token in (None, "guessed"):
        agent = AsyncSMCPAgentClient(ready["url"], name="thief", office_id="home", token=token)
        with pytest.raises(Unauthorized):
            await agent.connect()
        await agent.close()


async def test_the_token_is_for_the_eyes_of_one_user(office: Running, ready: dict[str, Any]) -> None:
    mode, token = mode_and_text(Path(ready["token_file"]))
    assert mode == 0o600
    tree = office.tree()
    assert len(tree) >= 3
    assert not any(token in words_of(pid) for pid in tree)
    assert token not in json.dumps(office.told)


async def test_progress_is_told_until_everything_can_be_searched(office: Running) -> None:
    told = [event for event in office.told if event["event"] == "indexing"]
    while not told or told[-1]["indexed"] < told[-1]["total"]:
        told.append(await office.hear(event="indexing"))
    assert told[-1]["total"] == sum(path.is_file() for path in EXAMPLES.rglob("*") if path.suffix != "")


async def test_ctrl_c_ends_all_of_it(tmp_path: Path) -> None:
    async with up(tmp_path, str(EXAMPLES), "--no-config") as running:
        await running.hear(event="server", name="documents", state="running")
        tree = running.tree()
        assert len(tree) >= 2
        running.process.send_signal(signal.SIGINT)
        await running.hear(event="stopped")
        assert await running.ended(tree) == 0


async def test_a_port_that_is_taken_is_said(tmp_path: Path, ready: dict[str, Any]) -> None:
    port = ready["url"].rpartition(":")[2]
    async with up(tmp_path, str(EXAMPLES), "--port", port) as running:
        event = await running.hear(error="")
        assert "is in use; choose another port" in event["error"]["message"]
        assert await running.process.wait() == 1


async def test_the_demonstration_joins_reads_searches_and_waits_for_consent(tmp_path: Path) -> None:
    async with up(tmp_path, str(EXAMPLES), "--demo", "--no-config", "--name", "desk") as running:
        ready = await running.hear(event="ready")
        async with httpx.AsyncClient(base_url=ready["console"].partition("/#")[0], timeout=CAP) as browser:
            await enter(browser, ready["console"])
            async with browser.stream("GET", "/api/events") as page:  # an open page is somebody to ask
                lines = page.aiter_lines()  # kept: without it the page closes
                await anext(lines)
                await running.hear(event="demo", words="finds ")
                await running.hear(event="demo", words="searches for digest: ")
                await running.hear(event="demo", words="looks at the Desktop: 2 windows")
                await running.hear(event="demo", words="asks for a digest")
                async with asyncio.timeout(CAP):
                    while not (waiting := (await browser.get("/api/approvals")).json()["approvals"]):
                        await asyncio.sleep(0.01)
                assert waiting[0]["tool"] == "digest_document"
                answer = {"number": waiting[0]["number"], "answer": "once"}
                assert (await browser.post("/api/approve", json=answer)).status_code == 200
                await running.hear(event="demo", words="has a digest: A tour of the office")
        tree = running.tree()
        running.process.send_signal(signal.SIGTERM)
        await running.hear(event="stopped")
        assert await running.ended(tree) == 0
    made_for_it = Path(ready["folders"][-1])
    assert made_for_it.name == "demo"
    assert not await asyncio.to_thread(made_for_it.exists)
