"""A TCP server for tests that leaves no connection open when it ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

CLOSE_SECONDS = 10


class _Connection(asyncio.StreamReaderProtocol):
    """One connection, known from the moment it is accepted: its handler may not have begun when the server ends."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(asyncio.StreamReader(), self._serve)
        self._handle = handle
        self._serving: asyncio.Task[Any] | None = None
        self.transport: asyncio.Transport | None = None
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving = asyncio.current_task()
        try:
            # A stream's own task must not end cancelled, and a client may leave at any moment.
            with suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
                await self._handle(reader, writer)
        finally:
            writer.close()

    async def end(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving], timeout=CLOSE_SECONDS)
        if self.transport is not None:
            self.transport.abort()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.lost.wait(), CLOSE_SECONDS)


@asynccontextmanager
async def bare_server(handle: Handle) -> AsyncIterator[int]:
    """Serve each connection with `handle` on a free port, which is yielded; at the end all of them are closed."""
    connections: list[_Connection] = []

    def accept() -> _Connection:
        connections.append(_Connection(handle))
        return connections[-1]

    server = await asyncio.get_running_loop().create_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*(one.end() for one in connections))
