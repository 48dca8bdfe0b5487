"""MCP over standard input and output, with an input that can be abandoned.

The transport of `mcp` reads lines in a thread that only the next line ends, so a server that is told to stop would wait
for its client. Here a daemon thread reads, and the process can exit without it.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

log = logging.getLogger(__name__)

CHUNK: Final = 1 << 16
MAX_LINES_AHEAD: Final = 64
"""Lines read ahead; a client that sends faster is blocked."""


@asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the MCP streams of standard input and output.

    Meanwhile standard input is empty for other readers, and printed text goes to standard error.
    """
    with _redirected(sys.stdin.fileno()) as source:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", StdinLines(source))) as streams:
            yield streams


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at standard input and output until the input ends or the client stops reading."""
    try:
        async with stdio() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* BrokenPipeError:
        log.info("client disconnected: it stopped reading")


class StdinLines:
    """The lines of a file descriptor, read by a daemon thread."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(MAX_LINES_AHEAD)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> "StdinLines":
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        # The loop is closed, or the queue has no reader: the thread ends.
        with suppress(RuntimeError, asyncio.CancelledError):
            pending: list[bytes] = []  # of an incomplete line
            while chunk := self._chunk():
                first, *others = chunk.split(b"\n")
                pending.append(first)
                for piece in others:
                    self._put(b"".join(pending).decode("utf-8", "replace"))
                    pending = [piece]
            if last := b"".join(pending):
                self._put(last.decode("utf-8", "replace"))
            self._put(None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._source, CHUNK)
        except OSError:  # treated as the end of the input
            return b""

    def _put(self, line: str | None) -> None:
        adding = self._lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(adding, self._loop).result()
        except RuntimeError:
            adding.close()
            raise


@contextmanager
def _redirected(standard: int) -> Iterator[int]:
    """Yield a duplicate of the input, and replace the standard one by an empty file."""
    source = os.dup(standard)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, standard)
    os.close(nothing)
    try:
        yield source
    finally:
        # The thread may still read from `source`, so it is never closed.
        os.dup2(source, standard)
