"""A whole Computer with `documents_server.py` behind it: `python -m … documents_office URL OFFICE [NAME]`."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from a2c_smcp.computer import Computer, parse_config

CAP: Final = 60
"""Seconds after which a wait has failed."""

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[3]
COMPUTER: Final = "my-computer"
COMMAND: Final = (sys.executable, str(HERE / "documents_server.py"))


@asynccontextmanager
async def documents_computer(
    url: str, office: str, name: str = COMPUTER, command: Sequence[str] = COMMAND
) -> AsyncIterator[Computer]:
    """A Computer in that office, whose MCP server is started by that command."""
    parameters = {"command": command[0], "args": list(command[1:]), "cwd": str(ROOT)}
    server = {"type": "stdio", "server_parameters": parameters, "default_tool_meta": {"auto_apply": True}}
    config = parse_config({"servers": {"documents": server}}).config
    async with Computer(config, name=name) as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(url, office)
        yield computer


@contextmanager
def documents_process(url: str, office: str) -> Iterator[None]:
    """The same in a process of its own, for tests that share it."""
    module = "tests.interaction.agent.conveniences.documents_office"
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", module, url, office], cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            process.wait()
            errors.seek(0)
            raise RuntimeError(f"the Computer did not start:\n{errors.read()}")
        try:
            yield
        finally:
            process.terminate()


async def main(url: str, office: str, name: str = COMPUTER) -> None:
    async with documents_computer(url, office, name):
        print("ready", flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
