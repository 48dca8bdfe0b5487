"""Take the pictures of the console that the documentation shows: `python tools/screenshots.py [FOLDER]`.

It needs Debian's chromium, which also prints the document that is shown. With `--serve` it is the MCP server that is.
"""

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import mcp.types as t
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from playwright.async_api import Browser, async_playwright

from a2c_smcp.computer import parse_config
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import ApprovalQueue
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console
from a2c_smcp.server import create_app

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples" / "documents"
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

REPORT = """<!doctype html><html lang="en"><title>Harbour wind farm: third quarter</title><style>
body { font: 11pt/1.5 sans-serif; color: #222; margin: 0 }
h1 { font-size: 22pt; color: #17365d; border-bottom: 3px solid #3451c7; padding-bottom: 6pt }
h2 { font-size: 14pt; color: #17365d; margin-top: 18pt }
table { border-collapse: collapse; width: 100%; margin: 8pt 0 }
th, td { border: 1px solid #9aa5b8; padding: 5pt 9pt; text-align: left }
th { background: #e8ecfb }
svg { display: block; margin: 14pt 0 }
</style>
<h1>Harbour wind farm: third quarter</h1>
<p>All twelve turbines ran for more than 96 % of the quarter. Production was eight per cent above plan, mostly because
September was windier than in any of the last ten years.</p>
<h2>Production by month</h2>
<table><thead><tr><th>Month</th><th>Plan, MWh</th><th>Produced, MWh</th><th>Availability</th></tr></thead><tbody>
<tr><td>July</td><td>3,100</td><td>3,042</td><td>96.1 %</td></tr>
<tr><td>August</td><td>3,250</td><td>3,391</td><td>97.4 %</td></tr>
<tr><td>September</td><td>3,600</td><td>4,321</td><td>98.0 %</td></tr></tbody></table>
<svg width="460" height="130"><g fill="#3451c7"><rect x="20" y="49" width="90" height="71"/>
<rect x="180" y="41" width="90" height="79"/><rect x="340" y="19" width="90" height="101"/></g>
<path d="M5 120h440" stroke="#9aa5b8" stroke-width="2"/></svg>
<h2>What comes next</h2>
<ol><li>Gearbox of turbine 7: replaced in November</li><li>Night inspections by drone, from December</li>
<li>New contract for spare parts: signed</li></ol>
<p>The next report is due on 15 January.</p></html>"""


async def serve() -> None:
    """Be an MCP server with two tools and a window."""
    text = {"type": "string"}
    mail = {"type": "object", "properties": {"to": text, "subject": text, "body": text}, "required": ["to", "subject"]}
    move = {"type": "object", "properties": {"source": text, "target": text}, "required": ["source", "target"]}
    board = "window://workbench/today?priority=80"

    async def tools(_: Any, __: Any) -> t.ListToolsResult:
        writes, moves = t.ToolAnnotations(open_world_hint=True), t.ToolAnnotations(destructive_hint=True)
        return t.ListToolsResult(
            tools=[
                t.Tool(name="send_mail", description="Send a mail.", input_schema=mail, annotations=writes),
                t.Tool(name="move_file", description="Move or rename a file.", input_schema=move, annotations=moves),
            ]
        )

    async def call(_: Any, __: Any) -> t.CallToolResult:
        return t.CallToolResult(content=[t.TextContent(text="done")])

    async def resources(_: Any, __: Any) -> t.ListResourcesResult:
        return t.ListResourcesResult(resources=[t.Resource(uri=board, name="today")])

    async def read(_: Any, params: Any) -> t.ReadResourceResult:
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text="2 reports to send")])

    async def subscribe(_: Any, __: Any) -> t.EmptyResult:
        return t.EmptyResult()

    server: Any = Server(
        "workbench",
        version="2.1",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_read_resource=read,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=subscribe,
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


@asynccontextmanager
async def console(folder: Path, cache: Path) -> AsyncIterator[tuple[Computer, Console, str]]:
    """Run a Computer with its console; yield both, and where it is."""
    reading = ["-m", "a2c_smcp.cli", "docs", "serve", str(folder), str(EXAMPLES), "--cache", str(cache)]
    servers = {
        "documents": {"command": sys.executable, "args": reading},
        "workbench": {"command": sys.executable, "args": [__file__, "--serve"]},
    }
    config, log, desk = parse_config({"mcpServers": servers}).config, CallLog(), ApprovalQueue()
    async with Computer(config, name="study", observer=log, confirm=desk) as computer:
        await computer.settled()
        made = Console(computer, desk, log)
        async with office() as url, serve_console(made) as base:
            await computer.connect(url, "harbour")
            yield computer, made, base
            await computer.disconnect()


@asynccontextmanager
async def office() -> AsyncIterator[str]:
    """Run a server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(create_app(), ws="websockets-sansio", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await serving


async def call(computer: Computer, tool: str, arguments: dict[str, Any]) -> Any:
    """Call a tool as an Agent."""
    return await computer.call_tool(
        {
            "agent": "reporter",
            "req_id": uuid4().hex,
            "computer": computer.name,
            "tool_name": tool,
            "params": arguments,
            "timeout": 120,
        }
    )


class Photographer:
    """Visits the console of a Computer, and takes pictures of it."""

    def __init__(self, browser: Browser, images: Path, made: Console, base: str) -> None:
        self._browser = browser
        self._images = images
        self._console = made
        self._base = base

    async def visit(self, section: str, wait: str, **look: Any) -> Any:
        """Open a section in a browser of its own, and wait for something there."""
        context = await self._browser.new_context(locale="en-GB", reduced_motion="reduce", **look)
        page = await context.new_page()
        await page.goto(self._console.app.url(self._base))
        await page.wait_for_selector("html[data-live]")
        await page.goto(f"{self._base}/#/{section}")
        await page.wait_for_selector(wait)
        return page

    async def take(self, page: Any, name: str) -> None:
        """Take a picture, and leave."""
        await page.screenshot(path=self._images / f"console-{name}.png")
        await page.context.close()


async def print_report(browser: Browser, file: Path) -> None:
    """Make the document that is shown."""
    page = await browser.new_page()
    await page.set_content(REPORT)
    await page.pdf(
        path=file,
        format="A4",
        margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
        print_background=True,
        tagged=True,
    )
    await page.close()


async def take_all(at: Photographer, computer: Computer) -> None:
    """Take the three pictures."""
    report = f"documents/documents/{quote('dpe://a2c.docs/harbour-wind-farm-q3.pdf', safe='')}/0"
    table, marked = "[data-category=table] .body", ".box:not(.faint):not([hidden])"

    page = await at.visit(report, table, viewport=WIDE, color_scheme="light")
    await page.click(table)
    await page.mouse.move(5, 400)
    await page.wait_for_selector(marked)
    await at.take(page, "documents")

    page = await at.visit("approvals", ".empty", viewport=WIDE, color_scheme="dark")
    words = "Dear all,\nall twelve turbines ran for more than 96 % of the quarter."
    mail = {"to": "board@harbour-wind.example", "subject": "Third quarter: 8 % above plan", "body": words}
    waiting = [asyncio.create_task(call(computer, "send_mail", mail))]
    await page.wait_for_selector("section[aria-label=send_mail]")
    move = {"source": "drafts/q3.docx", "target": "archive/2026/q3.docx"}
    waiting.append(asyncio.create_task(call(computer, "move_file", move)))
    await page.wait_for_selector("section[aria-label=move_file]")
    await at.take(page, "approvals")

    phone: dict[str, Any] = {"viewport": PHONE, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
    page = await at.visit(report, table, color_scheme="light", **phone)
    await page.wait_for_selector(".split.pictured")
    await page.tap(table)
    await page.wait_for_selector(marked)
    await at.take(page, "phone")
    for one in waiting:
        one.cancel()


async def main(images: Path) -> None:
    """Run everything that is in the pictures, and take them."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as cache:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            await print_report(browser, Path(folder, "harbour-wind-farm-q3.pdf"))
            async with console(Path(folder), Path(cache)) as (computer, made, base):
                await take_all(Photographer(browser, images, made, base), computer)
            await browser.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        asyncio.run(serve())
    else:
        wanted = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
        wanted.mkdir(parents=True, exist_ok=True)
        asyncio.run(main(wanted))
