"""The ASGI application: the namespace with health checks, metrics and audit log, alone or inside another app."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs

from a2c_smcp.errors import Forbidden, InternalError, InvalidConfig, NotFound, SMCPError, Unauthorized
from a2c_smcp.redaction import redact_text
from a2c_smcp.server.assembly import ConfiguredAuth, create_audit_log, create_registry, create_tracing, reload_guarded
from a2c_smcp.server.auth import AnyOf, AuthenticationProvider
from a2c_smcp.server.logs import EventLogger
from a2c_smcp.server.metrics import CONTENT_TYPE, Metrics
from a2c_smcp.server.namespace import SMCPNamespace
from a2c_smcp.server.observer import ServerObserver, ServerObservers, UnknownClient
from a2c_smcp.server.operator_page import ROOT, OperatorPage
from a2c_smcp.server.registry.memory import Registry
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.server.socketio_server import SMCPServer
from a2c_smcp.server.web import Door, Receive, Scope, Send, answer, bears, is_below, path_of, refuse
from a2c_smcp.smcp import SMCP_NAMESPACE

log = logging.getLogger(__name__)

PAUSE: Final = 0.05
CLOSE_SECONDS: Final = 3.0
"""Seconds for closing connections, and for stopping the registry."""


def create_app(
    settings: ServerSettings | None = None,
    *,
    auth: AuthenticationProvider | None = None,
    registry: Registry | None = None,
    observer: ServerObserver | None = None,
    **options: Any,
) -> "SMCPApp":
    """Return a server as an ASGI application.

    Args:
        settings: The settings; or pass fields of `ServerSettings` as keyword arguments. The ASGI server decides where
            to listen: with credentials and without `host` and `allowed_hosts`, any Host header is allowed.
        auth: Authenticates clients in addition to the keys of the settings.
        registry: Stores members in place of memory or the Redis of the settings.
        observer: An additional observer.

    Raises:
        InvalidConfig: The settings cannot be used; one line for each problem.
    """
    if settings is not None and options:
        raise InvalidConfig("Pass settings or keyword options, not both")
    chosen = settings or ServerSettings.of(**options)
    if (auth is not None or chosen.authenticated) and not options.keys() & {"host", "allowed_hosts"} and not settings:
        chosen = replace(chosen, allowed_hosts=("*",))
    if problems := list(chosen.problems(authenticated=auth is not None)):
        raise InvalidConfig("\n".join(problems))
    return SMCPApp(chosen, auth, registry or create_registry(chosen), observer)


class SMCPApp:
    """A server as an ASGI application; `create_app` makes one. `server` and `namespace` are its parts."""

    def __init__(
        self,
        settings: ServerSettings,
        auth: AuthenticationProvider | None,
        registry: Registry,
        observer: ServerObserver | None,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.draining = False
        self._started = False
        self._starting = asyncio.Lock()
        self._credentials = ConfiguredAuth(settings) if settings.authenticated else None
        self._audit = create_audit_log(settings)
        self._tracing = create_tracing(settings)
        providers = [one for one in (auth, self._credentials) if one is not None]
        self._door = Door(settings, authenticated=bool(providers))
        self._guarded = bool(providers)
        token = settings.console_token
        self._console = OperatorPage(token, self, registry) if token is not None else None
        observers = (self.metrics, EventLogger(), self._audit, self._tracing, self._console, observer)
        self.observer = ServerObservers(*(one for one in observers if one is not None))
        self.namespace = SMCPNamespace(
            AnyOf(*providers) if providers else None,
            registry=registry,
            limits=settings.limits,
            observer=self.observer,
        )
        self.server = SMCPServer(
            settings.limits,
            ping_interval=settings.ping_interval,
            ping_timeout=settings.ping_timeout,
            cors_allowed_origins=lambda origin, _environ: self._door.allows_origin(origin or ""),
            cors_credentials=False,
        )
        self.server.eio.refused = self._refused
        self.server.register_namespace(self.namespace)
        self.metrics.gauge("in_flight", "Requests that wait for a reply.", lambda: self.namespace.router.in_flight)
        backlog = self.server.eio.backlog
        self.metrics.gauge("backlog_bytes", "Unsent bytes of all clients.", lambda: backlog.bytes)
        if (audit := self._audit) is not None:
            self.metrics.gauge("audit_writable", "Whether the audit log is writable.", lambda: audit.problem is None)
            self.metrics.gauge("audit_lost", "Lines that were not written to the audit log.", lambda: audit.lost)
        self.metrics.gauge("ready", "Whether this node accepts connections.", lambda: self.problem() is None)

    # Start and stop

    async def start(self) -> None:
        """Start; the ASGI server's lifespan does it, or else the first connection."""
        async with self._starting:
            if not self._started:
                if self._audit is not None and self._audit.closed:
                    self._audit.reopen()  # started again after a stop
                await self.namespace.start()
                self.draining = self.namespace.draining = False
                self._started = True

    async def stop(self) -> None:
        """Drain the connections and stop."""
        if not self._started:
            return
        await self.drain(self.settings.drain)
        self._started = False
        try:
            await asyncio.wait_for(self.namespace.stop(), CLOSE_SECONDS)
        except TimeoutError:
            log.warning("registry stop timed out: members of this node expire with its lease")
        await self.server.shutdown()
        for part in (self._audit, self._tracing):
            close = getattr(part, "close", None)
            if close is not None:
                await asyncio.to_thread(close)

    async def drain(self, seconds: float, is_forced: Callable[[], bool] = lambda: False) -> None:
        """Refuse new connections, wait up to `seconds` for calls in progress, and close every connection.

        A connection is closed as soon as it has no calls. The transport is closed without a Socket.IO disconnect, so
        that clients connect again by themselves.
        """
        self.draining = self.namespace.draining = True
        await _wait_until(lambda: is_forced() or not self._close_idle(), seconds)
        sockets = list(self.server.eio.sockets.values())
        for socket in sockets:
            self.server.eio.hang_up(socket)
        await _wait_until(lambda: is_forced() or all(socket.closed for socket in sockets), CLOSE_SECONDS)

    def _close_idle(self) -> int:
        """Close every connection without a call in progress; return the number of the others."""
        busy = 0
        for connection in list(self.namespace.router.connections.values()):
            if connection.outgoing or connection.incoming:
                busy += 1
                continue
            socket = self.server.eio.sockets.get(self.server.manager.eio_sid_from_sid(connection.sid, SMCP_NAMESPACE))
            if socket is not None and not socket.closing:
                self.server.eio.hang_up(socket)
        return busy

    def reload(self) -> None:
        """Read the key files again and reopen the audit log, for new keys and log rotation."""
        if self._credentials is not None:
            reload_guarded("credentials", self._credentials.reload)
        if self._audit is not None:
            reload_guarded("audit log", self._audit.reopen)

    def problem(self) -> str | None:
        """Return why this node accepts no connections, or None."""
        if self.draining:
            return "the server is shutting down"
        if (problem := self.namespace.registry.problem()) is not None:
            return redact_text(problem)
        return None

    # The ASGI application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Errors are logged and answered here; none reaches the ASGI server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        try:
            await self._serve(scope, receive, send)
        except asyncio.CancelledError:
            if not self.draining:
                raise
        except Exception:
            log.exception("HTTP request failed")
            with suppress(Exception):  # the response may have begun
                await refuse(scope, send, 500, InternalError("The request failed on the server; it is logged there"))

    @asynccontextmanager
    async def lifespan(self, _app: Any = None) -> AsyncIterator[None]:
        """Start and stop with another application: `FastAPI(lifespan=smcp.lifespan)`."""
        await self.start()
        try:
            yield
        finally:
            await self.stop()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.start()
        except Exception as problem:
            if not isinstance(problem, SMCPError):
                log.exception("startup failed")
            reason = str(problem) if isinstance(problem, SMCPError) else type(problem).__name__
            await send({"type": "lifespan.startup.failed", "message": redact_text(reason)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self.stop()
        except Exception:
            log.exception("shutdown failed")
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope)
        if path == "/healthz":
            await self._page(scope, send, 200, {"status": "ok"})
        elif path == "/readyz":
            problem = self.problem()
            status: dict[str, Any] = {"status": "ready"}
            if problem is not None:
                status = {"status": "not ready", "reason": problem}
            if self._audit is not None and self._audit.problem is not None:
                status["warnings"] = [self._audit.problem]
            await self._page(scope, send, 200 if problem is None else 503, status)
        else:
            try:
                self._door.check(scope)
            except Forbidden as error:
                self.observer.refused("connect", error, UnknownClient("", _address(scope)), None)
                await refuse(scope, send, 403, error)
                return
            if is_below(path, self.settings.path):
                await self._connect(scope, receive, send)
            elif path == "/metrics":
                await self._show_metrics(scope, send)
            elif self._console is not None and is_below(path, ROOT):
                await self._console.serve(scope, send, path)
            else:
                await refuse(scope, send, 404, NotFound(f"Socket.IO is at {self.settings.path}"))

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.draining and b"sid" not in parse_qs(scope["query_string"]):
            error = InternalError("The server is shutting down; connect again later")
            await refuse(scope, send, 503, error, **{"retry-after": "1"})
            return
        if not self._started:
            await self.start()
        await self.server.handle_request(scope, receive, send)

    def _refused(self, error: SMCPError, address: str) -> None:
        self.observer.refused("connect", error, UnknownClient("", address), None)

    async def _show_metrics(self, scope: Scope, send: Send) -> None:
        token = self.settings.metrics_token
        if self.settings.metrics_public or not self._guarded or (token is not None and bears(scope, token)):
            await self._page(scope, send, 200, self.metrics.render(), kind=CONTENT_TYPE)
        elif token is None:
            await refuse(
                scope, send, 403, Forbidden("Metrics need metrics_token or metrics_public in the server's settings")
            )
        else:
            error = Unauthorized("Send the metrics token as `Authorization: Bearer TOKEN`")
            await refuse(scope, send, 401, error, **{"www-authenticate": "Bearer"})

    async def _page(self, scope: Scope, send: Send, status: int, body: Any, **options: Any) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await refuse(scope, send, 405, Forbidden("Method not allowed; use GET"), allow="GET, HEAD")
            return
        await answer(scope, send, status, body if isinstance(body, str) else json.dumps(body), **options)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


async def _wait_until(done: Callable[[], bool], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not done() and loop.time() < deadline:  # noqa: ASYNC110 - a signal cannot set an event
        await asyncio.sleep(PAUSE)
