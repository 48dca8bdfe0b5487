"""The scripted Agent of `a2c up --demo`, and documents for it to read: so that there is something to watch."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.cli.up_plan import OfficeAccess
from a2c_smcp.errors import ConfirmationRequired, SMCPError

AGENT: Final = "demo-agent"
PAUSE: Final = 1.5
"""Seconds between two steps, so that a person can follow."""
REST: Final = 12.0
"""Seconds between two rounds."""
CONSENT: Final = 90
"""Seconds that a call may wait for its approval."""
MAX_READ: Final = 3

Say: TypeAlias = Callable[[str], None]

_WELCOME: Final = """# Welcome

This folder was made for the demonstration; it goes away with it.

The demo agent reads this page, searches for *digest*, and then asks for something that needs your consent.

| step | what to look at in the console |
| --- | --- |
| reads documents | Finder, and the call log |
| looks at windows | Desktop |
| asks for a digest | Approvals |
"""

_TOUR: Final = (
    (
        "A tour of the office",
        "An office has one Agent and any number of Computers.",
        "A Computer runs MCP servers on one machine and dials out to the server, so it works behind a router.",
        "Tools, windows and documents of all its MCP servers reach the Agent through one connection.",
    ),
    (
        "Consent",
        "A tool that changes something runs only if the owner of the Computer agrees.",
        "The console shows exactly what will run: once, always, or not at all.",
        "A question that nobody answers expires, and the Agent is told so.",
    ),
    (
        "Digests",
        "A digest is a short, illustrated document made of a long one.",
        "It names the page of every statement, and it appears in the Finder like any other document.",
        "Without a language model it is made of headings, key sentences and tables.",
    ),
)


def furnish(folder: Path) -> None:
    """Put the documents of the demonstration into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "welcome.md").write_text(_WELCOME, encoding="utf-8")
    (folder / "tour-of-the-office.pdf").write_bytes(pdf_of(_TOUR))


def pdf_of(pages: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF of these pages: the first line of each is its heading. ASCII only."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, lines in enumerate(pages):
        content = "\n".join(_placed(number, line) for number, line in enumerate(lines))
        shown = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {shown} /Contents {5 + 2 * index} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    return _file(objects)


def _placed(number: int, line: str) -> str:
    size, y = (24, 770) if number == 0 else (11, 740 - 24 * number)
    escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {size} Tf 60 {y} Td ({escaped}) Tj ET"


def _file(objects: Sequence[str]) -> bytes:
    made, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{made}{tail}startxref\n{len(made)}\n%%EOF\n".encode("ascii")


async def perform(seat: OfficeAccess, computer: str, say: Say, *, pause: float = PAUSE, rest: float = REST) -> None:
    """Sit in the office and do a round of everything, again and again, until cancelled."""
    token = seat.token_file.read_text(encoding="ascii").strip()
    while True:
        try:
            async with AsyncSMCPAgentClient(
                seat.url, name=AGENT, office_id=f"{seat.office}-demo", token=token, live=False
            ) as agent:
                await _Round(agent, computer, say, pause).play()
        except (SMCPError, ConnectionError) as error:
            say(f"gives up this round: {error}")
        await asyncio.sleep(rest)


class _Round:
    def __init__(self, agent: AsyncSMCPAgentClient, computer: str, say: Say, pause: float) -> None:
        self._agent, self._computer, self._say, self._pause = agent, computer, say, pause

    async def play(self) -> None:
        self._say("joins the office")
        for step in (self._look_around, self._read, self._search, self._watch, self._ask):
            await asyncio.sleep(self._pause)
            await self._try(step)
        self._say("leaves")

    async def _try(self, step: Callable[[], Awaitable[str]]) -> None:
        try:
            self._say(await step())
        except ConfirmationRequired as error:
            self._say(f"may not: {error.message}")
        except SMCPError as error:
            self._say(f"is told: {error.message}")

    async def _look_around(self) -> str:
        tools = await self._agent.get_tools(self._computer)
        return f"finds {len(tools)} tools: {', '.join(tool['name'] for tool in tools)}"

    async def _read(self) -> str:
        found = await self._agent.get_finder(self._computer, limit=MAX_READ)
        for document in found["documents"]:
            if document["page_count"]:
                await self._agent.read_page(self._computer, document["uri"], 0)
                await asyncio.sleep(self._pause / 2)
        titles = ", ".join(document["title"] for document in found["documents"])
        return f"reads the first pages of {titles} ({found['total_count']} documents in all)"

    async def _search(self) -> str:
        result = await self._agent.call_tool(self._computer, "search_documents", {"query": "digest", "limit": 5})
        hits = (result.get("structuredContent") or {}).get("hits", ())
        return f"searches for digest: {len(hits)} places"

    async def _watch(self) -> str:
        windows = await self._agent.get_desktop(self._computer)
        return f"looks at the Desktop: {len(windows)} windows"

    async def _ask(self) -> str:
        found = await self._agent.get_finder(self._computer, file_type="pdf", limit=1)
        if not found["documents"]:
            return "finds no PDF to have a digest of"
        uri = found["documents"][0]["uri"]
        self._say("asks for a digest, which needs your consent: answer under Approvals in the console")
        arguments = {"doc_ref": uri.rpartition("/")[2], "dpi": 80}
        result: Any = await self._agent.call_tool(self._computer, "digest_document", arguments, timeout=CONSENT)
        made = result.get("structuredContent")
        return f"has a digest: {made['title']}, {made['uri']}" if made else "has no digest: the tool failed"
