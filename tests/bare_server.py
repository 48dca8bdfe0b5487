"""A TCP server for tests that leaves no connection open when it ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def bare_server(handle: Handle) -> AsyncIterator[int]:
    """Serve each connection with `handle` on a free port, which is yielded; at the end all of them are closed."""
    serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving[task] = writer
        try:
            await handle(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for writer in serving.values():
            with suppress(OSError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 10)
