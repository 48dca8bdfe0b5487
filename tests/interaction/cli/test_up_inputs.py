"""A missing input of `a2c up`: typed at the terminal, given in the console, or on the command line."""

import json
import os
import sys
from pathlib import Path

import httpx
import pytest

from tests.interaction.cli.running_up import ECHO, EXAMPLES, Running, up
from tests.interaction.console import enter

pytestmark = pytest.mark.timeout(300)
SECRET = "s3cret-value"


def configured(folder: Path) -> tuple[str, ...]:
    """Return the options of a run whose server leaves its input in a file."""
    leave = 'printf %s "$KEY" > "$0"; exec "$@"'
    config = {
        "inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": True}],
        "servers": {
            "own": {
                "command": "sh",
                "args": ["-c", leave, str(folder / "left"), sys.executable, str(ECHO)],
                "env": {"KEY": "${input:key}"},
            }
        },
    }
    (folder / "mcp.json").write_text(json.dumps(config), encoding="utf-8")
    return (str(EXAMPLES), "--config", str(folder / "mcp.json"))


async def started(running: Running, folder: Path) -> None:
    while True:
        event = await running.hear(event="server", name="own")
        if event["state"] != "starting":
            break
    assert (event["state"], event["problem"]) == ("running", None)
    assert (folder / "left").read_text(encoding="utf-8") == SECRET
    assert SECRET not in json.dumps(running.told)


async def test_it_is_asked_for_at_the_terminal(tmp_path: Path) -> None:
    async with up(tmp_path, *configured(tmp_path)) as running:
        asked = await running.hear(event="input")
        assert (asked["id"], asked["description"], asked["hidden"]) == ("key", "API key", True)
        os.write(running.keyboard, f"{SECRET}\n".encode())
        await started(running, tmp_path)
        os.set_blocking(running.keyboard, False)
        assert SECRET.encode() not in os.read(running.keyboard, 4096)


async def test_it_can_be_given_in_the_console_meanwhile(tmp_path: Path) -> None:
    async with up(tmp_path, *configured(tmp_path)) as running:
        ready = await running.hear(event="ready")
        await running.hear(event="input")
        async with httpx.AsyncClient(base_url=ready["console"].partition("/#")[0]) as browser:
            assert (await enter(browser, ready["console"])).status_code == 200
            wanted = {"id": "key", "description": "API key", "hidden": True, "options": []}
            assert (await browser.get("/api/approvals")).json()["inputs"] == [wanted]
            assert (await browser.get("/api/state")).json()["approvals"] == 1
            given = await browser.post("/api/input", json={"id": "key", "value": SECRET})
            assert (given.status_code, given.json()) == (200, {"ok": True})
            await started(running, tmp_path)
            assert (await browser.get("/api/approvals")).json()["inputs"] == []


async def test_it_can_be_given_on_the_command_line(tmp_path: Path) -> None:
    async with up(tmp_path, *configured(tmp_path), "--input", f"key={SECRET}") as running:
        await started(running, tmp_path)


async def test_without_a_terminal_the_server_fails_and_the_console_mends_it(tmp_path: Path) -> None:
    async with up(tmp_path, *configured(tmp_path), attended=False) as running:
        ready = await running.hear(event="ready")
        failed = await running.hear(event="server", name="own", state="failed")
        for way in ("pass --input key=VALUE", "set A2C_INPUT_KEY", "type it under Approvals in the console"):
            assert way in failed["problem"]
        async with httpx.AsyncClient(base_url=ready["console"].partition("/#")[0]) as browser:
            await enter(browser, ready["console"])
            await browser.post("/api/input", json={"id": "key", "value": SECRET})
        await started(running, tmp_path)
