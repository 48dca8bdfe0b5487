"""MCP over standard input and output, with an input that can be left.

The transport of `mcp` reads lines in a thread that nothing ends but the next line, so that a server told to stop would
wait for its client. Here a thread of no importance reads, and the process may end without it.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

CHUNK: Final = 1 << 16
MAX_LINES_AHEAD: Final = 64
"""How many lines are read ahead: a client that sends faster than it is answered has to wait."""


@asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a client at the other end of standard input and output.

    Meanwhile whoever reads standard input finds it empty, and what is printed goes to standard error.
    """
    with _redirected(sys.stdin.fileno()) as source:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", StdinLines(source))) as streams:
            yield streams


class StdinLines:
    """The lines of a file descriptor, as they come."""

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
        # The loop is closed, or nobody takes lines any more: either way this thread has nothing left to do.
        with suppress(RuntimeError, asyncio.CancelledError):
            begun: list[bytes] = []  # of a line whose end has not come yet
            while chunk := self._chunk():
                first, *others = chunk.split(b"\n")
                begun.append(first)
                for piece in others:
                    self._put(b"".join(begun).decode("utf-8", "replace"))
                    begun = [piece]
            if last := b"".join(begun):
                self._put(last.decode("utf-8", "replace"))
            self._put(None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._source, CHUNK)
        except OSError:  # as good as its end
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
    """Yield another descriptor of the input, and leave nothing to read at the standard one."""
    source = os.dup(standard)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, standard)
    os.close(nothing)
    try:
        yield source
    finally:
        # The thread may still read from `source`, which is therefore never closed.
        os.dup2(source, standard)
