"""Servers as processes, over HTTP or bare pipes."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
SECONDS = 60.0
OPEN_KITCHEN = (
    "from a2c_smcp.docserver import Admission; from examples.own_server import offer; "
    "offer.run(http='127.0.0.1:0', admission=Admission())"
)
"""The server of the example, over HTTP without a token."""


@asynccontextmanager
async def process(*words: str, env: Mapping[str, str] | None = None) -> AsyncIterator[asyncio.subprocess.Process]:
    """A Python process; it must have ended, or is killed."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=ROOT,
        env=os.environ | dict(env or {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


async def ended(running: asyncio.subprocess.Process) -> tuple[int, str]:
    """Return the exit code and what is left on standard error, once a process has ended by itself.

    How far the index is does not count: a busy machine makes it worth telling.
    """
    async with asyncio.timeout(SECONDS):
        assert running.stderr is not None
        left = await running.stderr.read()
        return await running.wait(), re.sub(r"\d+ of \d+ documents can be searched\n", "", left.decode())


async def line_of(stream: asyncio.StreamReader | None) -> str:
    """Return the next line."""
    assert stream is not None
    async with asyncio.timeout(SECONDS):
        return (await stream.readline()).decode().rstrip("\n")


async def url_of(running: asyncio.subprocess.Process, stream: asyncio.StreamReader | None = None) -> str:
    """Return the URL that a server announces, on standard error unless another stream is given."""
    while "http://" not in (line := await line_of(stream or running.stderr)):
        assert line, "the server has ended"
    return line[line.index("http://") :].split()[0]


async def say(running: asyncio.subprocess.Process, text: str) -> str:
    """Write a line to a process and return the line that it answers."""
    assert running.stdin is not None
    running.stdin.write(f"{text}\n".encode())
    await running.stdin.drain()
    return await line_of(running.stdout)
