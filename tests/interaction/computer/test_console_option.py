"""`a2c computer --console`: the address it tells opens the console once."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.interaction.console import enter

ROOT = Path(__file__).parents[3]
WORDS = ("-m", "a2c_smcp.cli", "computer", "--headless", "--json", "--name", "study")
CAP = 60


async def test_the_address_of_the_console_is_told_as_an_event(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text('{"mcpServers": {}}')
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *WORDS,
        *("--config", str(config), "--url", "http://127.0.0.1:9", "--office", "lab", "--console", "0"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        address = (await asyncio.wait_for(told(process, "console"), CAP))["url"]
        base = address.partition("/#")[0]
        async with httpx.AsyncClient() as client:
            assert (await enter(client, address)).status_code == 200
            state = (await client.get(f"{base}/api/state")).json()
        async with httpx.AsyncClient() as stranger:
            assert (await enter(stranger, address)).status_code == 401
            process.send_signal(signal.SIGUSR1)
            another = (await asyncio.wait_for(told(process, "console"), CAP))["url"]
            assert (await enter(stranger, another)).status_code == 200
    finally:
        process.terminate()
        await asyncio.wait_for(process.communicate(), CAP)
    assert (state["name"], state["connection"]["office_id"], process.returncode) == ("study", "lab", 0)


async def told(process: asyncio.subprocess.Process, event: str) -> Any:
    assert process.stdout is not None
    async for line in process.stdout:
        value = json.loads(line)
        if value["event"] == event:
            return value
    raise AssertionError(f"{event} was never told")


async def test_a_computer_that_ends_by_itself_has_no_console() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "a2c_smcp.cli", "computer", "--do", "status", "--console", "0"),
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await asyncio.wait_for(process.communicate(), CAP)
    assert process.returncode == 2
    assert b"--console" in errors
