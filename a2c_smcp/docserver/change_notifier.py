"""Telling clients of changes, in both eras of MCP.

In the older era each connection has a task that lives as long as it does and sends what concerns it: that something
is listed or not any more to all, updates to those who subscribed. In the newer era `subscriptions/listen` streams do.

A change of a document concerns everybody who follows any part of it, and whoever follows the catalogue: each is told
with the URI it asked for, because that is what it will read again.
"""

import asyncio
import logging
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import mcp.types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ResourceUpdated, ServerEvent

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.docserver.ports import ChangedDocuments
from a2c_smcp.docserver.windows import OfferedWindows
from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.uris.dpe import parse_dpe_uri

log = logging.getLogger(__name__)

MAX_SUBSCRIPTIONS: Final = 100_000
"""For one connection: more is no client of documents."""

MAX_BACKLOG: Final = 16_384
"""Events that wait for one `listen` stream; a client that does not read them has to look at everything again."""

Context = ServerRequestContext[Any, Any]
Listen: TypeAlias = Callable[[Context, t.SubscriptionsListenRequestParams], Awaitable[t.SubscriptionsListenResult]]


@dataclass(slots=True)
class _HandshakeClient:
    """What one connection of the older era follows, and what it has not been told yet."""

    uris: set[str] = field(default_factory=set)
    news: dict[ServerEvent, None] = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    attended: bool = False

    def put(self, event: ServerEvent) -> None:
        self.news[event] = None
        self.woken.set()


class EventBus:
    """A `SubscriptionBus`: hands events to every open `listen` stream."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Tell an event to everybody who asked for its kind."""
        self.emit(event)

    def emit(self, event: ServerEvent) -> None:
        """The same, without waiting."""
        for listener in list(self._listeners.values()):
            notify_guarded(log, "a listener of server events", listener, event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call `listener` at each event; what is returned ends that."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None


class DocumentChangeNotifier:
    """Knows who follows what. What happened may be said from any thread; clients are told in the event loop.

    Attributes:
        bus: Where events of the newer era go; a server that listens to it delivers them.
    """

    def __init__(self) -> None:
        self._ears: dict[int, _HandshakeClient] = {}
        self.bus = EventBus()
        self._listen = ListenHandler(self.bus, max_buffered_events=MAX_BACKLOG)
        self._watched: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None

    # What happened

    def list_changed(self) -> None:
        """Something is listed that was not, or the other way round."""
        self._in_loop(lambda: self._tell(ResourcesListChanged()))

    def window_changed(self, windows: OfferedWindows, path: str) -> None:
        """The window at this path shows something else."""
        self._in_loop(lambda: self._tell_followers(lambda followed: windows.is_at(followed, path)))

    def documents_changed(self, host: str, changes: ChangedDocuments) -> None:
        """These documents of `host` have come, gone or changed."""
        refs = {*changes.added, *changes.removed, *changes.updated}
        if not refs:
            return
        listed = bool(changes.added or changes.removed)

        def tell() -> None:
            if listed:
                self._tell(ResourcesListChanged())
            self._tell_followers(lambda followed: _concerns(followed, host.lower(), refs))

        self._in_loop(tell)

    def close(self) -> None:
        """End the `listen` streams as the protocol wants it; their clients know that it was meant."""
        self._listen.close()

    def _in_loop(self, action: Callable[[], None]) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return  # nobody has connected yet, so nobody has missed anything
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is loop:
            action()
        else:
            loop.call_soon_threadsafe(action)

    def _tell(self, event: ServerEvent) -> None:
        for ear in list(self._ears.values()):
            ear.put(event)
        self.bus.emit(event)

    def _tell_followers(self, concerned: Callable[[str], bool]) -> None:
        for uri in list(self._watched):
            if concerned(uri):
                self.bus.emit(ResourceUpdated(uri=uri))
        for ear in list(self._ears.values()):
            for uri in ear.uris:
                if concerned(uri):
                    ear.put(ResourceUpdated(uri=uri))

    # Handlers of requests and notifications

    async def attend(self, ctx: Context, _: t.NotificationParams) -> None:
        """`notifications/initialized`: tell this connection what concerns it, for as long as it lasts."""
        ear = self._ear(ctx)
        if ear is None or ear.attended:
            return
        ear.attended = True
        while True:
            await ear.woken.wait()
            ear.woken.clear()
            while ear.news:
                event = next(iter(ear.news))
                del ear.news[event]
                await ctx.session.send_notification(_notification(event))

    async def subscribe(self, ctx: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        """`resources/subscribe`: a document may be followed before it is there."""
        ear = self._ear(ctx)
        if ear is None:
            raise MCPError(t.INVALID_REQUEST, "This connection is stateless: it cannot subscribe")
        if len(ear.uris) >= MAX_SUBSCRIPTIONS and params.uri not in ear.uris:
            raise MCPError(t.INVALID_REQUEST, f"No more than {MAX_SUBSCRIPTIONS} subscriptions on one connection")
        ear.uris.add(params.uri)
        return t.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        """`resources/unsubscribe`."""
        ear = self._ear(ctx)
        if ear is not None:
            ear.uris.discard(params.uri)
        return t.EmptyResult()

    def listening(self, theirs: Listen | None = None) -> Listen:
        """Return the handler of `subscriptions/listen`.

        Args:
            theirs: What a server listens with already; it must be on this notifier's `bus`.
        """
        deliver = self._listen if theirs is None else theirs

        async def listen(ctx: Context, params: t.SubscriptionsListenRequestParams) -> t.SubscriptionsListenResult:
            self._loop = asyncio.get_running_loop()
            uris = set(params.notifications.resource_subscriptions or ())
            if len(uris) > MAX_SUBSCRIPTIONS:
                raise MCPError(t.INVALID_PARAMS, f"No more than {MAX_SUBSCRIPTIONS} subscriptions on one stream")
            self._watched.update(uris)
            try:
                return await deliver(ctx, params)
            finally:
                self._watched.subtract(uris)
                for uri in uris:
                    if self._watched[uri] <= 0:
                        del self._watched[uri]

        return listen

    def _ear(self, ctx: Context) -> _HandshakeClient | None:
        # What a client introduced itself with is one object for each connection, and goes with it.
        connection = ctx.session.client_params
        if connection is None:
            return None
        self._loop = asyncio.get_running_loop()
        key = id(connection)
        ear = self._ears.get(key)
        if ear is None:
            ear = self._ears[key] = _HandshakeClient()
            weakref.finalize(connection, self._ears.pop, key, None).atexit = False
        return ear


def _notification(event: ServerEvent) -> t.ResourceListChangedNotification | t.ResourceUpdatedNotification:
    if isinstance(event, ResourceUpdated):
        return t.ResourceUpdatedNotification(params=t.ResourceUpdatedNotificationParams(uri=event.uri))
    return t.ResourceListChangedNotification()


def _concerns(followed: str, host: str, refs: set[str]) -> bool:
    try:
        uri = parse_dpe_uri(followed)
    except InvalidDPEUri:
        return False
    return uri.host.lower() == host and (uri.doc_ref is None or uri.doc_ref in refs)
