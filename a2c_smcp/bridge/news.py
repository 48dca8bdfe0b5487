"""Who wants to hear of changes, in both eras of MCP, and telling them. A slow client holds up nobody.

Clients of the handshake era hear on their own connection, of whatever they subscribed to with `resources/subscribe`.
Those of 2026-07-28 open streams with `subscriptions/listen`, which the SDK serves from a bus.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from a2c_smcp.bridge.problems import as_mcp_error
from a2c_smcp.bridge.uris import Place, place_of
from a2c_smcp.errors import BadRequest, RateLimited, SMCPError

log = logging.getLogger(__name__)

MAX_URIS: Final = 1_000
"""Resources that one client may subscribe to."""

MAX_STREAMS: Final = 1_000
"""Streams that all clients of the newer era may hold open."""

MAX_URI: Final = 8_192
"""Characters of a URI that is subscribed to."""


@dataclass(slots=True)
class _Listener:
    """A client of the handshake era; what waits for it is told in order, and each thing once."""

    connection: Connection
    uris: set[str] = field(default_factory=set)
    waiting: dict[ServerEvent, None] = field(default_factory=dict)
    telling: "asyncio.Task[None] | None" = None

    def tell(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri not in self.uris:
            return
        self.waiting[event] = None
        if self.telling is None:
            self.telling = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        try:
            while self.waiting:
                event = next(iter(self.waiting))
                del self.waiting[event]
                await _send(self.connection, event)
        finally:
            self.telling = None

    async def close(self) -> None:
        self.waiting.clear()
        if self.telling is not None:
            self.telling.cancel()


class News:
    """Subscriptions of every client.

    Args:
        subscribed: Called with what a subscription means, before it is answered.
        unsubscribed: Called when subscriptions have ended.
    """

    def __init__(self, subscribed: Callable[[Place], Awaitable[None]], unsubscribed: Callable[[], None]) -> None:
        self._subscribed = subscribed
        self._unsubscribed = unsubscribed
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._listeners: dict[int, _Listener] = {}
        self._streams: Counter[str] = Counter()
        self._open = 0

    # Who listens

    def met(self, connection: Connection) -> None:
        """A client of the handshake era is ready to hear."""
        self._listener(connection)

    async def subscribe(self, connection: Connection, uri: str) -> None:
        """It wants to hear of a resource.

        Raises:
            RateLimited: It has as many subscriptions as a client may have.
            BadRequest: The URI is too long.
        """
        listener = self._listener(connection)
        _check({*listener.uris, uri})
        if uri in listener.uris:
            return
        listener.uris.add(uri)
        try:
            await self._subscribed(place_of(uri))
        except BaseException:
            listener.uris.discard(uri)
            raise

    def unsubscribe(self, connection: Connection, uri: str) -> None:
        """It wants to hear of it no more."""
        self._listener(connection).uris.discard(uri)
        self._unsubscribed()

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of the newer era for as long as it is open."""
        uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        try:
            _check(uris)
            if self._open >= MAX_STREAMS:
                raise RateLimited(f"The bridge has {MAX_STREAMS} open streams, the most it serves; close one")
        except SMCPError as error:
            raise as_mcp_error(error) from None
        with self._counted(uris):
            try:
                for uri in uris:
                    await self._subscribed(place_of(uri))
            except SMCPError as error:
                raise as_mcp_error(error) from None
            return await self._listen(context, params)

    def subscriptions(self) -> list[tuple[str, Place]]:
        """Every URI that somebody subscribed to, as written, and what it means."""
        uris = set(self._streams).union(*(listener.uris for listener in self._listeners.values()))
        return [(uri, place_of(uri)) for uri in sorted(uris)]

    # Telling them

    async def tools_changed(self) -> None:
        """The list of tools is another."""
        await self._tell(ToolsListChanged())

    async def resources_changed(self) -> None:
        """The list of resources, or of templates, is another."""
        await self._tell(ResourcesListChanged())

    async def updated(self, uris: Iterable[str]) -> None:
        """These resources have changed; the URIs are as their subscribers wrote them."""
        for uri in uris:
            await self._tell(ResourceUpdated(uri=uri))

    async def close(self) -> None:
        """End every stream."""
        self._listen.close()
        for listener in list(self._listeners.values()):
            await listener.close()

    async def _tell(self, event: ServerEvent) -> None:
        for listener in list(self._listeners.values()):
            listener.tell(event)
        await self._bus.publish(event)

    def _listener(self, connection: Connection) -> _Listener:
        listener = self._listeners.get(id(connection))
        if listener is None:
            listener = self._listeners[id(connection)] = _Listener(connection)
            connection.exit_stack.push_async_callback(self._gone, connection)
        return listener

    async def _gone(self, connection: Connection) -> None:
        listener = self._listeners.pop(id(connection), None)
        if listener is not None:
            await listener.close()
            self._unsubscribed()

    @contextmanager
    def _counted(self, uris: list[str]) -> Iterator[None]:
        self._streams.update(uris)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            self._streams.subtract(uris)
            self._streams += Counter()  # drops those that nobody wants
            self._unsubscribed()


def _check(uris: Collection[str]) -> None:
    if len(uris) > MAX_URIS:
        raise RateLimited(f"A client may subscribe to {MAX_URIS} resources at a time; unsubscribe from some first")
    if any(len(uri) > MAX_URI for uri in uris):
        raise BadRequest(f"A URI that is subscribed to may have {MAX_URI} characters")


async def _send(connection: Connection, event: ServerEvent) -> None:
    match event:
        case ToolsListChanged():
            await connection.send_tool_list_changed()
        case ResourcesListChanged():
            await connection.send_resource_list_changed()
        case ResourceUpdated(uri=uri):
            await connection.send_resource_updated(uri)
        case _:
            log.debug("%s concerns no client of the handshake era", type(event).__name__)
