"""What `a2c up` prints works together: MCP clients of both kinds, `a2c agent` and programs, at the same time."""

import asyncio
import json
import shlex
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from a2c_smcp.agent import AsyncSMCPAgentClient, ToolProgress, local_office
from a2c_smcp.errors import ConfirmationRequired, Forbidden
from tests.docs.pages import DOCS, blocks
from tests.interaction.cli.running_up import CAP, ECHO, EXAMPLES, ROOT, Running, remember_ports, up
from tests.interaction.console import enter

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("together")
    config = {"mcpServers": {"own": {"command": sys.executable, "args": [str(ECHO)]}}}
    (folder / "own.json").write_text(json.dumps(config), encoding="utf-8")
    words = ("--name", "desk", "--config", str(folder / "own.json"))
    async with up(folder, str(EXAMPLES), *words) as running:
        running.ready = await running.hear(event="ready")
        waiting = {"documents", "own"}
        while waiting:
            waiting.discard((await running.hear(event="server", state="running"))["name"])
        yield running


class Everybody:
    """Counts clients in, so that all of them are connected at the same time."""

    def __init__(self, number: int) -> None:
        self._barrier = asyncio.Barrier(number)

    async def __call__(self) -> None:
        async with asyncio.timeout(CAP):
            await self._barrier.wait()


async def by_stdio(office: Running, together: Everybody, mode: Any) -> list[str]:
    (server,) = office.ready["mcp"]["mcpServers"].values()
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=office.env)
    async with Client(parameters, mode=mode) as client:
        await together()
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("desk__search_documents", {"query": "office", "limit": 1})
        assert not result.is_error
        await together()
        return names


async def by_http(office: Running, together: Everybody) -> list[str]:
    (server,) = office.ready["mcp_http"]["servers"].values()
    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=CAP) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        await together()
        names = [tool.name for tool in (await client.list_tools()).tools]
        await together()
        return names


async def by_program(office: Running, together: Everybody, *words: str) -> str:
    await together()
    process = await asyncio.create_subprocess_exec(
        *words, env=office.env, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    await together()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_everything_that_is_printed_works_at_the_same_time(office: Running) -> None:
    (sample,) = blocks(ROOT / "README.md", "python")
    (short,) = blocks(DOCS / "how-to" / "start-in-one-command.md", "python")
    agent = [*shlex.split(office.ready["agent"])[:-1], "tools", "--json"]
    together = Everybody(8)
    async with asyncio.timeout(CAP):
        first, second, web, other, listed, also, said, seen = await asyncio.gather(
            by_stdio(office, together, "legacy"),
            by_stdio(office, together, "auto"),
            by_http(office, together),
            by_http(office, together),
            by_program(office, together, *agent),
            by_program(office, together, *agent),
            by_program(office, together, sys.executable, "-W", "error", "-c", sample.text),
            by_program(office, together, sys.executable, "-W", "error", "-c", short.text),
        )
    assert first == second == web == other
    assert "desk__search_documents" in first
    assert listed == also
    (desk,) = json.loads(str(listed))
    assert (desk["computer"], "search_documents" in str(desk["tools"])) == ("desk", True)
    assert seen == "['desk']\n"
    assert "desk can " in said
    assert "dpe://a2c.docs/glossary.txt" in said


async def test_bearer_tokens_keep_others_from_the_bridge(office: Running) -> None:
    (server,) = office.ready["mcp_http"]["servers"].values()
    async with httpx.AsyncClient() as stranger:
        assert (await stranger.post(server["url"], json={})).status_code == 401


async def test_an_office_of_another_name_is_refused(office: Running) -> None:
    seat = local_office("ada", office.env)
    seat["office_id"] = "another"
    agent = AsyncSMCPAgentClient(**seat)
    with pytest.raises(Forbidden, match="'home'"):
        await agent.connect()
    await agent.close()


async def test_a_call_waits_for_somebody_to_open_the_console(office: Running) -> None:
    base = office.ready["console"].partition("/#")[0]
    async with AsyncSMCPAgentClient(**local_office("ada", office.env)) as agent:
        said: list[str | None] = []

        def tell(progress: ToolProgress) -> None:
            said.append(progress.message)

        call = asyncio.create_task(agent.call_tool("desk", "echo", {"text": "hi"}, timeout=CAP, on_progress=tell))
        asked = await office.hear(event="approval")
        assert (asked["agent"], asked["tool"], asked["server"], asked["console"]) == ("ada", "echo", "own", base)
        async with httpx.AsyncClient(base_url=base) as browser:
            assert (await enter(browser, office.ready["console"])).status_code == 200
            answer = {"number": asked["number"], "answer": "always"}
            assert (await browser.post("/api/approve", json=answer)).status_code == 200
            # Whoever sends the form consents to it: nobody is asked.
            assert (await browser.post("/api/run", json={"tool": "count"})).status_code == 200
        assert "hi" in str((await call)["content"])
        assert said == ["waiting for the owner of the Computer to allow this call"]
    # "Always" is for the Agent of this name, whatever office it sits in.
    async with AsyncSMCPAgentClient(**local_office("ada", office.env)) as agent:
        assert "ho" in str((await agent.call_tool("desk", "echo", {"text": "ho"}, timeout=CAP))["content"])


async def test_a_call_that_nobody_allows_names_the_console_and_not_what_opens_it(office: Running) -> None:
    base, _, secret = office.ready["console"].partition("/#token=")
    async with AsyncSMCPAgentClient(**local_office("bob", office.env)) as agent:
        with pytest.raises(ConfirmationRequired) as caught:
            await agent.call_tool("desk", "echo", {"text": "hi"}, timeout=2)
    assert (await office.hear(event="approval"))["agent"] == "bob"
    told = f"nobody answered within 2 s. Its owner can answer such questions in the console at {base}."
    assert told in str(caught.value)
    assert secret not in str(caught.value)
    assert secret not in str(caught.value.details)


async def test_it_is_the_same_at_the_next_start_and_agents_come_back_by_themselves(tmp_path: Path) -> None:
    words = (str(EXAMPLES), "--name", "desk", "--no-config")
    remember_ports(tmp_path)
    async with up(tmp_path, *words) as running:
        ready = await running.hear(event="ready")
        agent = AsyncSMCPAgentClient(**local_office("ada", running.env))
        await agent.connect()
        running.process.send_signal(signal.SIGTERM)
        await running.hear(event="stopped")
        assert await running.process.wait() == 0
    assert list((tmp_path / "state" / "a2c-smcp" / "running").iterdir()) == []
    async with up(tmp_path, *words) as running:
        again = await running.hear(event="ready")
        for key in ("url", "mcp_url", "mcp", "mcp_http"):
            assert again[key] == ready[key]
        assert again["console"].partition("#")[0] == ready["console"].partition("#")[0]
        await running.hear(event="server", name="documents", state="running")
        async with asyncio.timeout(CAP):
            assert "search_documents" in str(await agent.get_tools("desk"))
        await agent.close()


async def test_a_port_that_another_program_has_taken_is_said(tmp_path: Path) -> None:
    words = (str(EXAMPLES), "--no-config")
    remember_ports(tmp_path)
    async with up(tmp_path, *words) as running:
        ready = await running.hear(event="ready")
    port = int(ready["url"].rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        async with up(tmp_path, *words) as running:
            again = await running.hear(event="ready")
    assert again["url"] != ready["url"]
    assert any(note.startswith(f"port {port} is taken by another program: the server is at") for note in again["notes"])
