"""Servers with windows, and offices to see them in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.unit.computer.resource_servers import FakeServer, Office

EDITOR = "window://com.example.editor"
STATUS = "window://com.example.editor/status?priority=80"
LOG = "window://com.example.logger"


def shown(uri: str, text: str) -> str:
    return f"{uri}\n\n{text}"


def editor() -> FakeServer:
    return FakeServer("editor", {EDITOR: "text", STATUS: "saved", "file:///notes.txt": "no window"})


def logger_server() -> FakeServer:
    return FakeServer("logger", {LOG: "done"})


@asynccontextmanager
async def warm(*servers: FakeServer) -> AsyncIterator[Office]:
    """An office whose desktop was read once, and where all is quiet."""
    async with Office(*servers) as office:
        await office.collector.desktop()
        await office.settle()
        office.forget_calls()
        yield office
