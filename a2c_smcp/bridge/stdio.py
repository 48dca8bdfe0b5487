"""MCP over standard input and output, which ends with the input, or when its task is cancelled, and never hangs."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from anyio import AsyncFile
from mcp.server.stdio import stdio_server

from a2c_smcp.bridge.server import Bridge

log = logging.getLogger(__name__)

_CHUNK = 1 << 16


class InputLines(AsyncIterator[str]):
    """The lines of a file descriptor, read by a thread of its own.

    The thread is a daemon that holds no lock: neither a cancelled task nor the end of the process waits for a line
    that never comes, which they do where a line is read through the usual worker threads.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="a2c-stdin", daemon=True).start()

    def _read(self) -> None:
        begun = bytearray()
        try:
            while chunk := os.read(self._descriptor, _CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    self._hand(bytes(begun + end))
                    begun.clear()
                begun += rest
        except OSError:
            pass  # it was closed under us: the same as its end
        if begun:
            self._hand(bytes(begun))
        self._hand(None)

    def _hand(self, line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and with it whoever wanted lines
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def __aiter__(self) -> "InputLines":
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line.decode("utf-8", errors="replace")


async def serve_stdio(bridge: Bridge) -> None:
    """Serve one client until standard input ends, or nobody reads the output any more.

    Whatever else is printed meanwhile goes to standard error.
    """
    lines = InputLines(os.dup(sys.stdin.fileno()))
    server = bridge.server
    try:
        async with stdio_server(stdin=cast("AsyncFile[Any]", lines)) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* BrokenPipeError:
        log.info("the client is gone: it reads no more")
