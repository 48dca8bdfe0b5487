"""A Computer with its console, and visits to it by a real browser that minds every complaint."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from a2c_smcp.computer import parse_config
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import ApprovalQueue
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console

ROOT = Path(__file__).parents[2]
OFFICE_SERVER = ROOT / "tests" / "interaction" / "mcp_servers" / "office_server.py"
DOCUMENTS = ROOT / "tests" / "data" / "documents"
CAP = 60.0

expect.set_options(timeout=60_000)


@dataclass
class Place:
    """A Computer and where its console is served."""

    computer: Computer
    console: Console
    desk: ApprovalQueue
    base: str

    def url(self) -> str:
        """A fresh one-time address."""
        return self.console.app.url(self.base)

    def ask(self, tool: str, seconds: int = 60, agent: str = "planner", **arguments: Any) -> asyncio.Task[Any]:
        """An Agent's call of a tool, under way."""
        return asyncio.create_task(
            self.computer.call_tool(
                {
                    "agent": agent,
                    "req_id": uuid4().hex,
                    "computer": self.computer.name,
                    "tool_name": tool,
                    "params": arguments,
                    "timeout": seconds,
                }
            )
        )


@dataclass
class Visit:
    """A page of the browser at the console, and what it complained about."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    async def go(self, section: str) -> None:
        """Open a section by its address."""
        await self.page.goto(f"{self.base}/#/{section}")

    def watch(self) -> None:
        """Note errors, broken rules of the content policy, and requests to anybody else."""
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on(
            "console",
            lambda said: (
                self.complaints.append(f"{said.type}: {said.text}") if said.type in ("error", "warning") else None
            ),
        )
        self.page.on("request", lambda request: self._check(request.url))

    def _check(self, url: str) -> None:
        if not url.startswith((self.base, "data:", f"blob:{self.base}")):
            self.complaints.append(f"asks {url}")


def program(*words: str, **settings: Any) -> dict[str, Any]:
    """The configuration of an MCP server that is a Python program."""
    parameters = {"command": sys.executable, "args": [*words], "cwd": str(ROOT)} | settings.pop("parameters", {})
    return {"type": "stdio", "server_parameters": parameters, **settings}


@asynccontextmanager
async def place(servers: Mapping[str, Any], inputs: list[Any] | None = None) -> AsyncIterator[Place]:
    """Run a Computer with these MCP servers, and its console."""
    config = parse_config({"servers": dict(servers), "inputs": inputs or []}).config
    log, desk = CallLog(), ApprovalQueue()
    async with Computer(config, name="study", confirm=desk, observer=log) as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        console = Console(computer, desk, log)
        async with serve_console(console) as base:
            yield Place(computer, console, desk, base)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Run Debian's chromium; without one the tests are skipped, and in strict mode they fail."""
    program = os.environ.get("A2C_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def visit(browser: Browser, where: Place, *, url: str | None = None, **look: Any) -> AsyncIterator[Visit]:
    """Open the console in a browser of its own: no cookies, no memory; it must end without a complaint."""
    look = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "color_scheme": "light"} | look
    context = await browser.new_context(**look)
    try:
        made = Visit(await context.new_page(), where.base)
        made.page.set_default_timeout(60_000)
        made.watch()
        await made.page.goto(url or where.url())
        if url is None:
            await made.page.wait_for_url(f"{where.base}/")
            await made.page.wait_for_selector("html[data-live]")  # from now on it hears of everything
        yield made
        assert made.complaints == []
    finally:
        await context.close()
