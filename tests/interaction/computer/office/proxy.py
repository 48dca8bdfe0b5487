"""A line between a client and a server that can be cut, silenced and clogged."""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Self
from urllib.parse import urlsplit

from tests.bare_server import bare_server


class Line:
    """One connection through the proxy; a cleared event stops that direction."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server
        self.forth = asyncio.Event()
        self.back = asyncio.Event()
        self.forth.set()
        self.back.set()
        self.forsaken = False


class Proxy:
    """Passes bytes on to wherever it is aimed at. What is done to lines is done to those that are open now."""

    def __init__(self, target: str) -> None:
        self.aim(target)
        self.url = ""
        self._lines: set[Line] = set()
        self._whole = True
        self._listening = AsyncExitStack()

    def aim(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)

    async def __aenter__(self) -> Self:
        port = await self._listening.enter_async_context(bare_server(self._connected))
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        await self._listening.aclose()

    def cut(self) -> None:
        """Break every line at both ends, and let nobody through until `mend`."""
        self._whole = False
        for line in self._lines:
            line.client.transport.abort()
            line.server.transport.abort()

    def mend(self) -> None:
        """Let clients through again."""
        self._whole = True

    def forsake(self) -> None:
        """Break every line at the client's end only: the server does not notice."""
        for line in self._lines:
            line.forsaken = True
            line.client.transport.abort()

    def silence(self) -> None:
        """Let nothing pass, and let nobody notice."""
        for line in self._lines:
            line.forth.clear()
            line.back.clear()

    def clog(self) -> None:
        """Take nothing more from clients."""
        for line in self._lines:
            line.forth.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        line = Line(writer, there_writer)
        self._lines.add(line)
        try:
            await asyncio.gather(
                self._pass_on(reader, line.server, line.forth, line),
                self._pass_on(there_reader, line.client, line.back),
            )
        finally:
            self._lines.discard(line)
            line.client.transport.abort()
            line.server.transport.abort()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, open_: asyncio.Event, line: Line | None = None
    ) -> None:
        with suppress(OSError):
            while True:
                await open_.wait()
                data = await reader.read(65536)
                await open_.wait()
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        if line is None or not line.forsaken:
            writer.transport.abort()
