"""Change notifications of an MCP server, for clients of both protocol eras.

Clients of the handshake era subscribe with `resources/subscribe` and are notified on their own connection. Clients of
2026-07-28 open streams with `subscriptions/listen`, which the SDK serves from an event bus. A slow client delays no
other: each has its own queue, in which an event waits once however often it is published.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.errors import BadRequest, RateLimited

log = logging.getLogger(__name__)

MAX_BACKLOG: Final = 16_384
"""Events that wait for one `listen` stream; the SDK ends a stream whose client does not read them."""

Context: TypeAlias = ServerRequestContext[Any, Any]
Listen: TypeAlias = Callable[[Context, SubscriptionsListenRequestParams], Awaitable[SubscriptionsListenResult]]


@dataclass(frozen=True, slots=True)
class SubscriptionLimits:
    """What clients may subscribe to.

    Attributes:
        uris: Resources of one client or one stream.
        uri_length: Characters of a URI.
        streams: Open `listen` streams of all clients.
    """

    uris: int = 1_000
    uri_length: int = 8_192
    streams: int = 1_000

    def check(self, uris: Collection[str]) -> None:
        """Refuse subscriptions beyond the limits.

        Raises:
            RateLimited: There are too many.
            BadRequest: A URI is too long.
        """
        if len(uris) > self.uris:
            raise RateLimited(f"A client may subscribe to {self.uris} resources at a time; unsubscribe from some first")
        if any(len(uri) > self.uri_length for uri in uris):
            raise BadRequest(f"The URI of a subscription may have at most {self.uri_length} characters")


class EventBus:
    """A `SubscriptionBus` of the SDK: passes events to every open `listen` stream."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Pass an event to every listener; the SDK's name for `emit`."""
        self.emit(event)

    def emit(self, event: ServerEvent) -> None:
        """Pass an event to every listener."""
        for listener in list(self._listeners.values()):
            notify_guarded(log, "a listener of server events", listener, event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call `listener` for each event; returns an unsubscribe function."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe


@dataclass(slots=True)
class _HandshakeClient:
    """A client of the handshake era, with its subscriptions and the events that wait for it."""

    connection: Connection
    uris: set[str] = field(default_factory=set)
    waiting: dict[ServerEvent, None] = field(default_factory=dict)
    ready: bool = False
    sending: "asyncio.Task[None] | None" = None

    def put(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri not in self.uris:
            return
        self.waiting[event] = None
        self.start()

    def start(self) -> None:
        if self.ready and self.waiting and self.sending is None:
            self.sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        try:
            while self.waiting:
                event = next(iter(self.waiting))
                del self.waiting[event]
                await _send(self.connection, event)
        finally:
            self.sending = None

    def close(self) -> None:
        self.waiting.clear()
        if self.sending is not None:
            self.sending.cancel()


class McpChangeNotifier:
    """Keeps the subscriptions of all clients and notifies them. Use it in one event loop.

    Args:
        on_subscribe: Called with each new URI before its subscription is confirmed; raising refuses it.
        on_unsubscribe: Called after subscriptions ended.

    Attributes:
        bus: Where events for `listen` streams are published.
    """

    def __init__(
        self,
        limits: SubscriptionLimits | None = None,
        *,
        on_subscribe: Callable[[str], Awaitable[None]] | None = None,
        on_unsubscribe: Callable[[], None] = lambda: None,
    ) -> None:
        self.limits = limits if limits is not None else SubscriptionLimits()
        self.bus = EventBus()
        self._on_subscribe = on_subscribe
        self._on_unsubscribe = on_unsubscribe
        self._listen = ListenHandler(self.bus, max_subscriptions=self.limits.streams, max_buffered_events=MAX_BACKLOG)
        self._clients: dict[int, _HandshakeClient] = {}
        self._streamed: Counter[str] = Counter()
        self._streams = 0

    @property
    def subscriptions(self) -> list[str]:
        """Every URI that a client subscribed to, as the client wrote it, sorted."""
        return sorted(set(self._streamed).union(*(client.uris for client in self._clients.values())))

    # Requests of clients

    def client_ready(self, context: Context) -> None:
        """Handle `notifications/initialized`: from now on the client is notified."""
        client = self._client(context)
        if client is not None:
            client.ready = True
            client.start()

    async def subscribe(self, context: Context, uri: str) -> None:
        """Handle `resources/subscribe`.

        Raises:
            RateLimited: The client has as many subscriptions as it may have.
            BadRequest: The URI is too long, or the connection is stateless.
        """
        client = self._client(context)
        if client is None:
            raise BadRequest("This connection is stateless: it cannot subscribe")
        if uri in client.uris:
            return
        self.limits.check({*client.uris, uri})
        client.uris.add(uri)
        try:
            if self._on_subscribe is not None:
                await self._on_subscribe(uri)
        except BaseException:
            client.uris.discard(uri)
            raise

    def unsubscribe(self, context: Context, uri: str) -> None:
        """Handle `resources/unsubscribe`."""
        client = self._client(context)
        if client is not None:
            client.uris.discard(uri)
            self._on_unsubscribe()

    def listen_handler(self, existing: Listen | None = None) -> Listen:
        """Return the handler of `subscriptions/listen`; it raises as `subscribe`.

        Args:
            existing: The handler that a server has already; it must deliver the events of `bus`.
        """
        deliver = self._listen if existing is None else existing

        async def listen(context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
            uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
            self.limits.check(uris)
            if self._streams >= self.limits.streams:
                raise RateLimited(f"The server has {self.limits.streams} open streams, its maximum; close one first")
            with self._counted(uris):
                if self._on_subscribe is not None:
                    for uri in uris:
                        await self._on_subscribe(uri)
                return await deliver(context, params)

        return listen

    # Events

    def publish(self, event: ServerEvent) -> None:
        """Notify every client that the event concerns."""
        for client in list(self._clients.values()):
            client.put(event)
        self.bus.emit(event)

    def close(self) -> None:
        """End all `listen` streams gracefully, and send nothing more."""
        self._listen.close()
        for client in list(self._clients.values()):
            client.close()

    def _client(self, context: Context) -> _HandshakeClient | None:
        if context.session.client_params is None:
            return None
        # The SDK documents the exit stack of a connection for handlers, but has no public way to reach it.
        connection = context.session._connection  # noqa: SLF001
        client = self._clients.get(id(connection))
        if client is None:
            client = self._clients[id(connection)] = _HandshakeClient(connection)
            connection.exit_stack.callback(self._drop, connection)
        return client

    def _drop(self, connection: Connection) -> None:
        client = self._clients.pop(id(connection), None)
        if client is not None:
            client.close()
            self._on_unsubscribe()

    @contextmanager
    def _counted(self, uris: list[str]) -> Iterator[None]:
        self._streamed.update(uris)
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1
            self._streamed.subtract(uris)
            self._streamed += Counter()  # removes URIs without a stream
            self._on_unsubscribe()


async def _send(connection: Connection, event: ServerEvent) -> None:
    match event:
        case ToolsListChanged():
            await connection.send_tool_list_changed()
        case ResourcesListChanged():
            await connection.send_resource_list_changed()
        case ResourceUpdated(uri=uri):
            await connection.send_resource_updated(uri)
        case _:
            log.debug("event not sent: unknown to the handshake era event=%s", type(event).__name__)
