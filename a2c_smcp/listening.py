"""Listening for HTTP: sockets with errors that say what to do, and uvicorn inside an event loop that is not its own."""

import asyncio
import errno
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import uvicorn

from a2c_smcp.addresses import in_url
from a2c_smcp.errors import InvalidConfig

BACKLOG: Final = 4_096
FAREWELL_SECONDS: Final = 2
"""How long requests under way have at the end."""
MAX_PORT: Final = 65_535


def bind(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of `host`, all on one port; port 0 is any that is free.

    Raises:
        InvalidConfig: There is no such address, or the port is taken.
    """
    if not 0 <= port <= MAX_PORT:
        raise InvalidConfig(f"there is no port {port}: choose one of 1 to {MAX_PORT}, or 0 for any")
    host = host.strip("[]")
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            chosen = port or (sockets[0].getsockname()[1] if sockets else 0)
            both = family == socket.AF_INET6 and host == "::" and socket.has_dualstack_ipv6()
            sockets.append(
                socket.create_server((str(address[0]), chosen), family=family, backlog=BACKLOG, dualstack_ipv6=both)
            )
    except (OSError, UnicodeError) as error:
        for one in sockets:
            one.close()
        raise InvalidConfig(_why_not(host, port, error)) from None
    return sockets


def url_of(host: str, sockets: list[socket.socket], scheme: str = "http") -> str:
    """Return where clients find what listens on these sockets."""
    return f"{scheme}://{in_url(host)}:{sockets[0].getsockname()[1]}"


@asynccontextmanager
async def serving(app: Any, sockets: list[socket.socket], **options: Any) -> AsyncIterator["asyncio.Task[None]"]:
    """Serve an ASGI application in this event loop, from here to the end of the block; then close the sockets.

    The signals and the logs of the process are left alone. Yields the task that serves, once clients can connect.

    Args:
        options: What uvicorn is told besides.
    """
    server = _Server(_config(app, options))
    task = asyncio.create_task(server.serve(sockets), name="a2c-http")
    try:
        await server.started_or(task)
        yield task
    finally:
        server.should_exit = True
        try:
            await task
        finally:
            for one in sockets:
                one.close()


def serve_until_told(app: Any, sockets: list[socket.socket], **options: Any) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM, in an event loop of its own; then close the sockets.

    A second SIGINT does not wait for requests under way.
    """
    server = _Server(_config(app, options))
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        asyncio.run(server.serve(sockets))
    finally:
        for number, action in before.items():
            signal.signal(number, action)
        for one in sockets:
            one.close()


def _config(app: Any, options: Mapping[str, Any]) -> uvicorn.Config:
    usual: dict[str, Any] = {
        "lifespan": "off",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": FAREWELL_SECONDS,
    }
    return uvicorn.Config(app, **{**usual, **options})


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
        """Wait until it listens, or has failed to."""
        waiting = asyncio.create_task(self._up.wait())
        try:
            await asyncio.wait((waiting, serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()


def _why_not(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; choose another port, or 0 for any"
    if number == errno.EACCES:
        return f"port {port} needs privileges; choose one above 1023"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot listen on {host}: {reason[0].lower()}{reason[1:]}"
