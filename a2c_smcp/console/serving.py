"""Serving the console on this machine, within the event loop of its Computer."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import uvicorn

from a2c_smcp.console.api import Console
from a2c_smcp.errors import InvalidConfig

FAREWELL_SECONDS: Final = 2
MAX_PORT: Final = 65_535


@asynccontextmanager
async def serve_console(console: Console, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve a console, and yield where: `console.app.url(base)` is the address that opens it.

    The signals of the process are left alone. At the end the console is closed, and its open pages with it.

    Args:
        port: 0 takes any that is free.

    Raises:
        InvalidConfig: The address is not of this machine alone, or cannot be listened on.
    """
    listening = _bind(host, port)
    server = _Server(console)
    serving = asyncio.create_task(server.serve([listening]), name="a2c-console")
    try:
        await server.until_started(serving)
        yield f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    finally:
        console.close()
        server.should_exit = True
        await serving
        listening.close()


class _Server(uvicorn.Server):
    """uvicorn without hands on the process's signals."""

    def __init__(self, console: Console) -> None:
        config = uvicorn.Config(
            console.app,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,  # the address of a console has its token in it
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=FAREWELL_SECONDS,
        )
        super().__init__(config)
        self._open = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._open.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def until_started(self, serving: "asyncio.Task[None]") -> None:
        opened = asyncio.create_task(self._open.wait())
        try:
            await asyncio.wait((opened, serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            opened.cancel()


def _bind(host: str, port: int) -> socket.socket:
    if not _is_loopback(host):
        raise InvalidConfig(f"{host} is not of this machine alone: a console listens on 127.0.0.1, ::1 or localhost")
    if not 0 <= port <= MAX_PORT:
        raise InvalidConfig(f"There is no port {port}: choose one of 1 to {MAX_PORT}, or 0 for any")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InvalidConfig(f"Port {port} of {host} is in use; choose another, or 0 for any") from None
        raise InvalidConfig(f"The console cannot listen on {host}:{port}: {error.strerror}") from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
