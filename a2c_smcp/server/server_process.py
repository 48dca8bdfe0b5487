"""Runs a server as a process: sockets, signals, graceful shutdown.

SIGINT, SIGTERM   shut down: refuse new connections, finish calls in progress, close; a second one stops immediately
SIGHUP            read the key files again and reopen the audit log
"""

import asyncio
import logging
import os
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, TypedDict

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server.app import CLOSE_SECONDS, SMCPApp
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.web.listening import ACCEPT_AT_ONCE, ConnectionLimits, Connections, bind, keep_backlog, url_of

log = logging.getLogger(__name__)

MAX_WAITING: Final = 4_096
"""Connections without credentials when connections per address are not limited."""
STOP: Final = ("SIGINT", "SIGTERM", "SIGBREAK")


class ListenAddress(TypedDict):
    """The address of a listening server."""

    url: str
    path: str
    pid: int


class ServerProcess:
    """Runs an application: `start` returns when it listens, `wait` when it has shut down."""

    def __init__(self, app: SMCPApp) -> None:
        self._app = app
        self._stack = ExitStack()
        self._sockets: list[socket.socket] = []
        self._server = _DrainingServer(app)

    def __enter__(self) -> "ServerProcess":
        self._stack.__enter__()
        self._stack.enter_context(_signals(self._server.on_signal, self._reload))
        self._loop = self._stack.enter_context(asyncio.Runner(loop_factory=_loop_factory()))
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.__exit__(None, None, None)
        for one in self._sockets:
            one.close()

    def start(self) -> ListenAddress:
        """Start to listen and return the address.

        Raises:
            InvalidConfig: The address or the certificate cannot be used.
        """
        settings = self._app.settings
        self._sockets = bind(settings.host, settings.port)
        self._loop.run(self._server.listen(self._sockets))
        url = url_of(settings.host, self._sockets, settings.scheme)
        return {"url": url, "path": settings.path, "pid": os.getpid()}

    def wait(self) -> None:
        """Serve until a signal arrives.

        Raises:
            KeyboardInterrupt: A second signal stopped it before shutdown was complete.
        """
        self._loop.run(self._server.serve_until_signal(self._sockets))
        if self._server.force_exit:
            raise KeyboardInterrupt

    def _reload(self) -> None:
        self._loop.get_loop().call_soon_threadsafe(self._app.reload)


class _DrainingServer(uvicorn.Server):
    """uvicorn with separate steps for listening and serving, and with a drain before shutdown."""

    def __init__(self, app: SMCPApp) -> None:
        super().__init__(_config(app))
        self._smcp = app
        self._connections = Connections(connection_limits(app))

    async def listen(self, sockets: list[socket.socket]) -> None:
        asyncio.get_running_loop().set_exception_handler(_log_unhandled)
        try:
            self.config.load()
        except (OSError, ValueError) as error:  # raised by ssl
            reason = error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error)
            raise InvalidConfig(f"tls_cert, tls_key: {reason}") from None
        self._connections.guard(self.config)
        await self._smcp.start()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup(sockets)
        keep_backlog(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen like uvicorn, but with the header deadline for TLS handshakes; uvicorn allows 60 s."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise SystemExit(STARTUP_FAILURE)
        config, loop = self.config, asyncio.get_running_loop()
        seconds = self._smcp.settings.limits.header_seconds
        tls: dict[str, Any] = {"ssl": config.ssl, "ssl_handshake_timeout": seconds} if config.ssl else {}

        def protocol() -> asyncio.Protocol:
            kind: Any = config.http_protocol_class
            made: asyncio.Protocol = kind(config=config, server_state=self.server_state, app_state=self.lifespan.state)
            return made

        self.servers = [
            await loop.create_server(protocol, sock=one, backlog=config.backlog, **tls) for one in sockets or ()
        ]
        self.started = True

    async def serve_until_signal(self, sockets: list[socket.socket]) -> None:
        await self.main_loop()
        log.info("shutting down: drain_seconds=%g", self._smcp.settings.drain)
        await self._smcp.drain(self._smcp.settings.drain, lambda: self.force_exit)
        await self.shutdown(sockets)
        self._connections.close()

    def on_signal(self, number: int) -> None:
        """Handle a signal."""
        if self.should_exit:
            self.force_exit = True
            signal.signal(number, signal.SIG_DFL)  # a third one kills the process
        self.should_exit = True


def _config(app: SMCPApp) -> uvicorn.Config:
    settings = app.settings
    return uvicorn.Config(
        app,
        lifespan="on",
        backlog=ACCEPT_AT_ONCE,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(CLOSE_SECONDS),
        **websocket_options(app),
        **_proxies(settings),
        **_tls(settings),
    )


def websocket_options(app: SMCPApp) -> dict[str, Any]:
    """Return uvicorn's WebSocket options for the application."""
    return {
        "ws": "websockets-sansio",
        "ws_max_size": app.settings.limits.frame_bytes,
        "ws_ping_interval": None,  # Socket.IO has its own pings
        "ws_ping_timeout": None,
        "ws_per_message_deflate": False,  # doubles the memory of a connection
    }


def connection_limits(app: SMCPApp) -> ConnectionLimits:
    """Return the limits on connections of clients that are not authenticated yet."""
    settings = app.settings
    return ConnectionLimits(
        header_seconds=settings.limits.header_seconds,
        waiting=settings.limits.connections_per_address or MAX_WAITING,
        per_address=settings.limits.connections_per_address,
        until_trusted=True,
        early_bytes=min(settings.limits.early_bytes, settings.limits.frame_bytes),
        proxies=settings.trust_proxy,
    )


def _proxies(settings: ServerSettings) -> dict[str, Any]:
    return {"proxy_headers": bool(settings.trust_proxy), "forwarded_allow_ips": list(settings.trust_proxy)}


def _tls(settings: ServerSettings) -> dict[str, Any]:
    if settings.tls_cert is None:
        return {}
    return {"ssl_certfile": settings.tls_cert, "ssl_keyfile": settings.tls_key, "ssl_version": ssl.PROTOCOL_TLS_SERVER}


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    with suppress(ModuleNotFoundError):
        import uvloop  # noqa: PLC0415 - optional

        return uvloop.new_event_loop
    return None


@contextmanager
def _signals(stop: Callable[[int], None], reload: Callable[[], None]) -> Iterator[None]:
    actions: dict[int, Callable[[int, Any], None]] = {
        getattr(signal, name): lambda number, _: stop(number) for name in STOP if hasattr(signal, name)
    }
    if hasattr(signal, "SIGHUP"):
        actions[signal.SIGHUP] = lambda *_: reload()
    before = {number: signal.signal(number, action) for number, action in actions.items()}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _log_unhandled(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    problem = context.get("exception")
    log.error("unhandled error in the event loop: %s", context.get("message"), exc_info=problem)
