"""Listening for HTTP: sockets with errors that say what to do, and uvicorn inside an event loop that is not its own.

Every listener bounds what clients can hold without sending a request: see `Connections`.
"""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import uvicorn

from a2c_smcp.addresses import in_url
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

BACKLOG: Final = 4_096
"""Connections that the kernel keeps until they are accepted."""
ACCEPT_AT_ONCE: Final = 32
"""Connections accepted in one turn of the event loop, so that a burst cannot use up all descriptors in one."""
FAREWELL_SECONDS: Final = 2
"""How long requests under way have at the end."""
MAX_PORT: Final = 65_535
WARN_EVERY: Final = 60.0
"""Seconds between two warnings about closed connections: clients without credentials must not fill the log."""


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
    for one in sockets:
        # Accepted sockets inherit it. asyncio sets it only on sockets whose protocol number is given, which
        # create_server leaves 0; without it a response in two writes waits 40 ms for a delayed ACK.
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sockets


def url_of(host: str, sockets: list[socket.socket], scheme: str = "http") -> str:
    """Return where clients find what listens on these sockets."""
    return f"{scheme}://{in_url(host)}:{sockets[0].getsockname()[1]}"


@asynccontextmanager
async def serving(
    app: Any, sockets: list[socket.socket], *, limits: "ConnectionLimits | None" = None, **options: Any
) -> AsyncIterator["asyncio.Task[None]"]:
    """Serve an ASGI application in this event loop, from here to the end of the block; then close the sockets.

    The signals and the logs of the process are left alone. Yields the task that serves, once clients can connect.

    Args:
        options: What uvicorn is told besides.
    """
    server = _Server(_config(app, options), limits)
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
        "backlog": ACCEPT_AT_ONCE,
        "timeout_graceful_shutdown": FAREWELL_SECONDS,
    }
    return uvicorn.Config(app, **{**usual, **options})


class _Server(uvicorn.Server):
    """uvicorn without hands on the process's signals, with bounded connections."""

    def __init__(self, config: uvicorn.Config, limits: "ConnectionLimits | None" = None) -> None:
        super().__init__(config)
        self._up = asyncio.Event()
        self._connections = Connections(limits)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._connections.guard(self.config)
        await super().startup(sockets)
        keep_backlog(sockets or ())
        self._up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._connections.close()

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


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What clients may hold without a request.

    Attributes:
        header_seconds: Time for the headers of a request, from the start of the connection or the end of the previous
            response.
        waiting: How many connections may be without a request; one more closes the oldest.
    """

    header_seconds: float = 10.0
    waiting: int = 256


class Connections:
    """Closes connections that send no request: half-open, idle, or slow to send their headers.

    A connection waits from its start until the application receives a request, and again after each response. Bytes
    do not extend the time: only a complete request header does. Everything later is for the application to bound,
    which by then has seen the credentials.
    """

    def __init__(self, limits: ConnectionLimits | None = None) -> None:
        self._limits = limits or ConnectionLimits()
        self._most = min(self._limits.waiting, max(_descriptors() // 4, 8))
        self._waiting: dict[_Connection, float] = {}  # the oldest first, with its deadline
        self._timer: asyncio.TimerHandle | None = None
        self._evicted, self._warn_at = 0, 0.0

    def guard(self, config: uvicorn.Config) -> None:
        """Make the server of this configuration report its connections here; call it before `startup`."""
        if not config.loaded:
            config.load()
        config.http_protocol_class = _observed(config.http_protocol_class, self)
        config.loaded_app = _Observed(config.loaded_app, self)

    def opened(self, connection: "_Connection") -> None:
        """A client connected."""
        self._wait(connection)
        if len(self._waiting) > self._most:
            self._drop(next(iter(self._waiting)))
            self._evicted += 1
            self._warn()

    def began(self, connection: "_Connection") -> None:
        """The application receives a request."""
        connection.requests += 1
        self._waiting.pop(connection, None)

    def ended(self, connection: "_Connection") -> None:
        """The application is done with a request."""
        connection.requests -= 1
        if not connection.requests and not connection.transport.is_closing():
            self._wait(connection)

    def lost(self, connection: "_Connection") -> None:
        """The client is gone."""
        self._waiting.pop(connection, None)

    def close(self) -> None:
        """Stop the timer."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, connection: "_Connection") -> None:
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self._limits.header_seconds
        if self._timer is None:
            self._timer = loop.call_later(self._limits.header_seconds, self._sweep)

    def _sweep(self) -> None:
        loop, self._timer = asyncio.get_running_loop(), None
        while self._waiting:
            connection, deadline = next(iter(self._waiting.items()))
            if deadline > loop.time():
                self._timer = loop.call_at(deadline, self._sweep)
                return
            if connection.transport.get_write_buffer_size() and not connection.closing:
                # The end of a response is still on its way: as much time again, then no more.
                connection.closing = True
                connection.transport.close()
                self._waiting.pop(connection)
                self._waiting[connection] = loop.time() + self._limits.header_seconds
            else:
                # At debug level: browsers open connections ahead of need.
                log.debug("connection closed: no request within %g s", self._limits.header_seconds)
                self._drop(connection)

    def _drop(self, connection: "_Connection") -> None:
        self._waiting.pop(connection, None)
        connection.transport.abort()

    def _warn(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._warn_at:
            log.warning(
                "too many connections without a request, closing the oldest: waiting=%d closed=%d",
                len(self._waiting),
                self._evicted,
            )
            self._evicted, self._warn_at = 0, now + WARN_EVERY


class _Connection:
    __slots__ = ("closing", "requests", "transport")

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.requests = 0
        self.closing = False


_KEY: Final = "a2c.connection"


class _Observed:
    """The application, with each request reported; the scope's `state` says of which connection it is."""

    def __init__(self, app: Any, connections: Connections) -> None:
        self._app, self._connections = app, connections

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        connection = scope["state"].pop(_KEY, None) if scope["type"] != "lifespan" else None
        if connection is None:
            await self._app(scope, receive, send)
            return
        self._connections.began(connection)
        try:
            await self._app(scope, receive, send)
        finally:
            self._connections.ended(connection)


def _observed(base: Any, connections: Connections) -> Any:
    class Observed(base):  # type: ignore[misc]
        """A uvicorn protocol that reports its connection."""

        def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
            self._observed = _Connection()
            super().__init__(app_state={**app_state, _KEY: self._observed}, **options)

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._observed.transport = transport
            connections.opened(self._observed)

        def connection_lost(self, problem: Exception | None) -> None:
            connections.lost(self._observed)
            super().connection_lost(problem)

    return Observed


def keep_backlog(sockets: Iterable[socket.socket]) -> None:
    """Let the kernel queue more connections than the event loop accepts at once: asyncio has one number for both."""
    for one in sockets:
        one.listen(BACKLOG)


def _descriptors() -> int:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 1 << 16
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft if soft != resource.RLIM_INFINITY else 1 << 16


def _why_not(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; choose another port, or 0 for any"
    if number == errno.EACCES:
        return f"port {port} needs privileges; choose one above 1023"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot listen on {host}: {reason[0].lower()}{reason[1:]}"
