"""Computers whose tools say how far they are, and somebody who hears it."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Condition
from typing import Any

from a2c_smcp.agent import ToolProgress
from a2c_smcp.computer import Computer, parse_config

SERVER = Path(__file__).parents[1] / "mcp_servers" / "progress_server.py"
CAP = 60.0


def over_stdio(**parameters: Any) -> dict[str, Any]:
    """The parameters of a server that the Computer starts."""
    return {
        "type": "stdio",
        "server_parameters": {"command": sys.executable, "args": [str(SERVER), "stdio"], **parameters},
    }


@contextmanager
def over_http() -> Iterator[dict[str, Any]]:
    """The parameters of a server that runs already."""
    process = subprocess.Popen([sys.executable, str(SERVER), "http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        yield {"type": "streamable", "server_parameters": {"url": url}}
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@asynccontextmanager
async def seated(
    server: dict[str, Any], url: str, office: str, name: str = "c", **options: Any
) -> AsyncIterator[Computer]:
    """A Computer with this server, in an office."""
    config = parse_config({"servers": {"s": server | {"default_tool_meta": {"auto_apply": True}}}}).config
    async with Computer(config, name=name) as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(url, office, **options)
        yield computer


class Told:
    """Remembers what it was told, on whichever thread, and can be waited for."""

    def __init__(self) -> None:
        self.reports: list[ToolProgress] = []
        self._changed = Condition()

    def __call__(self, report: ToolProgress) -> None:
        with self._changed:
            self.reports.append(report)
            self._changed.notify_all()

    async def until(self, count: int) -> None:
        """Wait until so many reports have come."""

        def wait() -> None:
            with self._changed:
                assert self._changed.wait_for(lambda: len(self.reports) >= count, CAP)

        await asyncio.to_thread(wait)
