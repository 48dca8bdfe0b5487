"""Listening for HTTP: sockets with errors that say what to do, and uvicorn inside an event loop that is not its own.

Every listener bounds what clients can hold without sending a request: see `Connections`.
"""

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import uvicorn

from a2c_smcp.common.addresses import in_url
from a2c_smcp.common.rate_limit import Throttle
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

BACKLOG: Final = 4_096
"""Connections that the kernel keeps until they are accepted."""
ACCEPT_AT_ONCE: Final = 32
"""Connections accepted in one turn of the event loop, so that a burst cannot use up all descriptors in one."""
FAREWELL_SECONDS: Final = 2
"""How long requests under way have at the end."""
MAX_PORT: Final = 65_535
SPARE_DESCRIPTORS: Final = 64
"""Descriptors that connections leave to files, pipes and other sockets of the process."""
WARN_EVERY: Final = 60.0
"""Seconds between two warnings of a kind: clients without credentials must not fill the log."""
MAX_WARNINGS: Final = 100


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
        _throttle.attach()
        await super().startup(sockets)
        keep_backlog(sockets or ())
        self._up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._connections.close()
        _throttle.detach()

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


class _WarningThrottle(logging.Filter):
    """Passes each warning of uvicorn once a minute, because clients without credentials can cause them at will."""

    def __init__(self) -> None:
        super().__init__()
        self._throttles: dict[str, Throttle] = {}
        self._servers = 0

    def attach(self) -> None:
        """Filter uvicorn's log while a server of this process listens."""
        self._servers += 1
        logging.getLogger("uvicorn.error").addFilter(self)

    def detach(self) -> None:
        """Stop filtering when the last server of this process has closed."""
        self._servers -= 1
        if not self._servers:
            self._throttles.clear()
            logging.getLogger("uvicorn.error").removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        if len(self._throttles) > MAX_WARNINGS:
            self._throttles.clear()
        throttle = self._throttles.setdefault(str(record.msg), Throttle(1, WARN_EVERY))
        return throttle.allows(time.monotonic())


_throttle: Final = _WarningThrottle()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What clients may hold without a request.

    Attributes:
        header_seconds: Time for the headers of a request, from the start of the connection or the end of the previous
            response.
        waiting: How many connections may be without a request; one more closes the oldest.
        per_address: How many connections one address may have, with or without a request; one more closes its oldest
            that is not trusted. 0 for any number.
        until_trusted: Whether connections with a request count as waiting until the application trusts them.
        early_bytes: The largest websocket message until the application allows large ones; 0 for no such limit.
        proxies: Addresses and networks whose connections are those of many clients and are not counted by address.
    """

    header_seconds: float = 10.0
    waiting: int = 256
    per_address: int = 0
    until_trusted: bool = False
    early_bytes: int = 0
    proxies: tuple[str, ...] = ()


class Connections:
    """Closes connections that send no request: half-open, idle, or slow to send their headers.

    A connection waits from its start until the application receives a request, and again after each response. Bytes
    do not extend the time: only a complete request header does. Everything later is for the application to bound,
    which by then has seen the credentials.

    Where there are too many connections the oldest is closed that is not trusted: a new one is always heard.
    """

    def __init__(self, limits: ConnectionLimits | None = None) -> None:
        self.limits = limits or ConnectionLimits()
        self._most = min(self.limits.waiting, max(_descriptors() // 4, 8))
        self._waiting: dict[Connection, float] = {}  # the oldest first, with its deadline
        self._unknown: dict[Connection, None] = {}  # with a request, and not trusted; the oldest first
        self._open: dict[str, dict[Connection, None]] = {}  # by address, the oldest first
        self._total = 0
        self._timer: asyncio.TimerHandle | None = None
        self._evicted = 0
        self._warnings = Throttle(1, WARN_EVERY)

    def guard(self, config: uvicorn.Config) -> None:
        """Make the server of this configuration report its connections here; call it before `startup`."""
        if not config.loaded:
            config.load()
        config.http_protocol_class = _observed(config.http_protocol_class, self)
        if config.ws_protocol_class is not None:
            config.ws_protocol_class = _observed_websocket(config.ws_protocol_class, self)
        config.loaded_app = _Observed(config.loaded_app, self)

    def opened(self, connection: "Connection") -> None:
        """A client connected."""
        self._total += 1
        siblings = self._open.setdefault(connection.address, {})
        siblings[connection] = None
        self._wait(connection)
        if self.limits.per_address and len(siblings) > self.limits.per_address and self._counts(connection.address):
            self._evict("of one address", connection, siblings)
        if len(self._waiting) + len(self._unknown) > self._most:
            # Whoever has many pays first, so that one address cannot push out the others.
            crowd = siblings if len(siblings) > self._most // 8 else None
            self._evict("without credentials" if self.limits.until_trusted else "without a request", connection, crowd)
        if self._total > _descriptors() - SPARE_DESCRIPTORS:
            self._evict("for the file descriptors of this process", connection)

    def began(self, connection: "Connection") -> None:
        """The application receives a request."""
        connection.requests += 1
        self._waiting.pop(connection, None)
        if self.limits.until_trusted and not connection.trusted:
            self._unknown[connection] = None

    def trusted(self, connection: "Connection") -> None:
        """The application knows whose request it is."""
        self._unknown.pop(connection, None)

    def ended(self, connection: "Connection") -> None:
        """The application is done with a request."""
        connection.requests -= 1
        if not connection.requests:
            connection.trusted = False
            self._unknown.pop(connection, None)
            if not connection.transport.is_closing() and connection in self._open.get(connection.address, ()):
                self._wait(connection)

    def lost(self, connection: "Connection") -> None:
        """The client is gone."""
        self._waiting.pop(connection, None)
        self._unknown.pop(connection, None)
        siblings = self._open.get(connection.address, {})
        if siblings.pop(connection, connection) is None:
            self._total -= 1
        if not siblings:
            self._open.pop(connection.address, None)

    def _counts(self, address: str) -> bool:
        try:
            peer = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False  # a Unix socket: nothing tells its clients apart
        proxies = self.limits.proxies
        return "*" not in proxies and not any(peer in ipaddress.ip_network(proxy) for proxy in proxies)

    def _evict(self, why: str, newcomer: "Connection", among: "Iterable[Connection] | None" = None) -> None:
        """Close the oldest connection that waits, else the oldest that is not trusted, but not the newcomer."""
        waiting = self._waiting if among is None else (one for one in among if one in self._waiting)
        unknown = self._unknown if among is None else (one for one in among if one in self._unknown)
        victim = next((one for one in waiting if one is not newcomer), None) or next(iter(unknown), None)
        if victim is not None:
            self._drop(victim)
            self._evicted += 1
        self._warn(why)

    def close(self) -> None:
        """Stop the timer."""
        self._waiting.clear()
        self._unknown.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, connection: "Connection") -> None:
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self.limits.header_seconds
        if self._timer is None:
            self._timer = loop.call_later(self.limits.header_seconds, self._sweep)

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
                self._waiting[connection] = loop.time() + self.limits.header_seconds
            else:
                # At debug level: browsers open connections ahead of need.
                log.debug("connection closed: no request within %g s", self.limits.header_seconds)
                self._drop(connection)

    def _drop(self, connection: "Connection") -> None:
        self.lost(connection)
        connection.transport.abort()

    def _warn(self, why: str) -> None:
        if self._warnings.allows(asyncio.get_running_loop().time()):
            log.warning(
                "too many connections %s, closing the oldest: open=%d waiting=%d closed=%d",
                why,
                self._total,
                len(self._waiting),
                self._evicted,
            )
            self._evicted = 0


class Connection:
    """A TCP connection; the application finds it by `connection_of` and says what it knows of the client."""

    __slots__ = ("_connections", "address", "closing", "large", "requests", "transport", "trusted")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.transport: asyncio.Transport
        self.address = ""
        self.requests = 0
        self.closing = False
        self.trusted = False
        self.large: Callable[[], None] | None = None

    def trust(self) -> None:
        """The client has shown who it is; it holds until the end of the request."""
        if not self.trusted:
            self.trusted = True
            self._connections.trusted(self)

    def unsent(self) -> int:
        """Return how many bytes the other side has not received yet, as far as this system tells."""
        waiting = self.transport.get_write_buffer_size()
        with suppress(ImportError, OSError, AttributeError):
            import fcntl  # noqa: PLC0415 - not on Windows
            import termios  # noqa: PLC0415

            answer = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0" * 4)
            waiting += int.from_bytes(answer, sys.byteorder)
        return waiting

    def allow_large_frames(self) -> None:
        """Accept websocket messages of any size that the server is configured for."""
        if self.large is not None:
            self.large()
            self.large = None


_KEY: Final = "a2c.connection"


def connection_of(scope: Mapping[str, Any]) -> Connection | None:
    """Return the connection of a request; None if another server than ours serves it."""
    return scope.get(_KEY)


class _Observed:
    """The application, with each request reported; the scope's `state` says of which connection it is."""

    def __init__(self, app: Any, connections: Connections) -> None:
        self._app, self._connections = app, connections

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        connection = scope["state"].pop(_KEY, None) if scope["type"] != "lifespan" else None
        if connection is None:
            await self._app(scope, receive, send)
            return
        scope[_KEY] = connection
        self._connections.began(connection)
        try:
            await self._app(scope, receive, send)
        finally:
            self._connections.ended(connection)


def _observed(base: Any, connections: Connections) -> Any:
    class Observed(base):  # type: ignore[misc]
        """A uvicorn protocol that reports its connection."""

        def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
            self._observed = Connection(connections)
            super().__init__(app_state={**app_state, _KEY: self._observed}, **options)

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._observed.transport = transport
            peer = transport.get_extra_info("peername")
            self._observed.address = str(peer[0]) if isinstance(peer, tuple) else ""
            connections.opened(self._observed)

        def connection_lost(self, problem: Exception | None) -> None:
            connections.lost(self._observed)
            super().connection_lost(problem)

    return Observed


def _observed_websocket(base: Any, connections: Connections) -> Any:
    class Observed(base):  # type: ignore[misc]
        """A uvicorn websocket that reports its end, and takes small messages until large ones are allowed."""

        def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
            super().__init__(app_state=app_state, **options)
            self._observed: Connection | None = app_state.get(_KEY)
            protocol: Any = getattr(self, "conn", None)
            early = connections.limits.early_bytes
            if self._observed is None or not early or protocol is None:
                return
            name = "max_message_size" if hasattr(protocol, "max_message_size") else "max_size"  # before websockets 16
            usual = getattr(protocol, name)
            setattr(protocol, name, early)

            def allow_large() -> None:
                setattr(protocol, name, usual)

            self._observed.large = allow_large

        def connection_lost(self, problem: Exception | None) -> None:
            if self._observed is not None:
                connections.lost(self._observed)
            super().connection_lost(problem)

    return Observed


def keep_backlog(sockets: Iterable[socket.socket]) -> None:
    """Let the kernel queue more connections than the event loop accepts at once: asyncio has one number for both."""
    for one in sockets:
        one.listen(BACKLOG)


@cache
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
