"""The bridge as a program: how clients start it, and how it ends."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests.interaction.bridge.conftest import CAP, ROOT, computer_in, program, text_of
from tests.interaction.server.conftest import Running

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
SECRET = "a-secret-that-stays-here"


@asynccontextmanager
async def started(*options: str, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "a2c_smcp.cli",
        "mcp",
        *options,
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def line_of(process: asyncio.subprocess.Process) -> Any:
    assert process.stdout is not None
    return json.loads(await asyncio.wait_for(process.stdout.readline(), CAP))


async def say(process: asyncio.subprocess.Process, message: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str, str]:
    assert process.stdin is not None
    process.stdin.close()
    out, errors = await asyncio.wait_for(process.communicate(), CAP)
    return process.returncode, out.decode(), errors.decode()


async def test_a_client_that_starts_it_is_the_agent(relay: Running, office: str, era: str) -> None:
    async with computer_in(relay, office), Client(program(relay, office), mode=era) as client:
        assert "desk__echo" in [tool.name for tool in (await client.list_tools()).tools]
        assert text_of(await client.call_tool("desk__echo", {"text": "hi"})) == "hi"


async def test_options_reach_the_bridge(relay: Running, office: str) -> None:
    server = program(relay, office, "--reading-tools", "--plain-names", "--timeout", "1")
    async with computer_in(relay, office), Client(server) as client:
        assert {"a2c_read", "echo"} <= {tool.name for tool in (await client.list_tools()).tools}
        late = await client.call_tool("wait")
        assert (late.is_error, (late.meta or {}).get("timeout")) == (True, True)


async def test_it_ends_when_its_input_ends(relay: Running, office: str) -> None:
    async with computer_in(relay, office), started("--url", relay.url, "--office", office) as process:
        await say(process, HELLO)
        assert (await line_of(process))["result"]["serverInfo"]["name"] == "a2c"
        assert await ended(process) == (0, "", "")


async def test_it_ends_in_silence_when_nobody_reads_its_output(relay: Running, office: str) -> None:
    async with computer_in(relay, office), started("--url", relay.url, "--office", office) as process:
        await say(process, HELLO)
        await line_of(process)
        process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        for _ in range(3):  # the pipe is closed in the next turn of the loop, and must be before there is an answer
            await asyncio.sleep(0)
        await say(process, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert process.stderr is not None
        assert await asyncio.wait_for(process.stderr.read(), CAP) == b""
        assert await asyncio.wait_for(process.wait(), CAP) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_ends_on_a_signal_while_the_client_is_silent(
    relay: Running, office: str, number: signal.Signals
) -> None:
    async with started("--url", relay.url, "--office", office) as process:
        await say(process, HELLO)
        await line_of(process)
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), CAP) == 0


async def test_a_tool_that_runs_when_the_input_ends_is_cancelled(relay: Running, office: str) -> None:
    async with computer_in(relay, office) as computer:
        async with started("--url", relay.url, "--office", office, "--name", "a") as process:
            await say(process, HELLO)
            await line_of(process)
            await say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            call = {"name": "desk__wait", "arguments": {}}
            await say(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
            async with asyncio.timeout(CAP):
                while not computer.calls._running:
                    await asyncio.sleep(0.01)
            assert (await ended(process))[0] == 0
        async with asyncio.timeout(CAP):
            while computer.calls._running:
                await asyncio.sleep(0.01)


async def test_over_http_it_says_where_and_ends_with_open_streams(relay: Running, office: str) -> None:
    options = ("--url", relay.url, "--office", office, "--http", "127.0.0.1:0", "--json", "--no-auth")
    async with computer_in(relay, office), started(*options) as process:
        said = await line_of(process)
        config = {"mcpServers": {f"a2c-{office}": {"type": "http", "url": said["url"]}}}
        assert said == {"url": said["url"], "office": office, "token": None, "mcp": config}
        assert said["url"].startswith("http://127.0.0.1:")
        async with (
            Client(said["url"], mode="legacy") as old,
            Client(said["url"], mode="2026-07-28") as new,
            new.listen(tools_list_changed=True),
        ):
            assert text_of(await old.call_tool("desk__echo", {"text": "old"})) == "old"
            assert text_of(await new.call_tool("desk__echo", {"text": "new"})) == "new"
            process.send_signal(signal.SIGTERM)
            code, _, errors = await ended(process)
    assert (code, errors) == (0, "")


async def test_over_http_other_users_of_the_machine_need_the_token_that_is_printed(
    relay: Running, office: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    options = ("--url", relay.url, "--office", office, "--http", "127.0.0.1:0", "--json")
    async with started(*options) as process, httpx.AsyncClient() as client:
        said = await line_of(process)
        (entry,) = said["mcp"]["mcpServers"].values()
        assert entry["headers"] == {"Authorization": f"Bearer {said['token']}"}
        assert (await client.post(said["url"], json=HELLO)).status_code == 401
        accept = {"Accept": "application/json, text/event-stream"}
        assert (await client.post(said["url"], json=HELLO, headers=entry["headers"] | accept)).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert (await ended(process))[0] == 0
    assert stat.S_IMODE((tmp_path / "a2c-smcp" / "mcp-token").stat().st_mode) == 0o600


async def test_a_server_that_is_not_there_yet_is_waited_for(office: str) -> None:
    async with started("--url", "http://127.0.0.1:9", "--office", office, "--token", SECRET) as process:
        await say(process, HELLO)
        assert (await line_of(process))["id"] == 1
        await say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        await say(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        error = (await line_of(process))["error"]
        code, out, errors = await ended(process)
    assert (error["code"], "cannot be reached now" in error["message"]) == (4103, True)
    assert (code, "connection failed" in errors, SECRET in out + errors + str(error)) == (0, True, False)
