"""The server of `a2c up`: in the event loop of its Computer, on this machine alone, open to one token."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import uvicorn

from a2c_smcp.server.app import create_app
from a2c_smcp.server.runner import bind
from a2c_smcp.server.settings import ServerSettings

HOST: Final = "127.0.0.1"
FAREWELL_SECONDS: Final = 2


@asynccontextmanager
async def serve_office(office: str, token: str, port: int = 0) -> AsyncIterator[str]:
    """Run a server for one office, and yield its URL.

    Raises:
        InvalidConfig: The port is taken.
    """
    key = {"key": token, "office_id": office}
    app = create_app(ServerSettings.of(host=HOST, port=port, api_keys=[key], drain=0))
    sockets = bind(HOST, port)
    config = uvicorn.Config(
        app,
        lifespan="on",
        ws="websockets-sansio",
        ws_max_size=app.settings.limits.frame_bytes,
        ws_ping_interval=None,  # Socket.IO has its own
        ws_ping_timeout=None,
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=FAREWELL_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets), name="a2c-server")
    try:
        await server.started_or(serving)
        yield f"http://{HOST}:{sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        for one in sockets:
            one.close()


class _Server(uvicorn.Server):
    """uvicorn without hands on the process's signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def started_or(self, serving: "asyncio.Task[None]") -> None:
        waiting = asyncio.create_task(self._up.wait())
        try:
            await asyncio.wait((waiting, serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
