"""Notifications of changed documents and windows.

A change of a document concerns every client that subscribed to any part of it, or to the catalogue. Each client is
notified of the URI that it subscribed to, because that is what it reads again.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import mcp.types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from a2c_smcp.docserver.ports import ChangedDocuments
from a2c_smcp.docserver.windows import OfferedWindows
from a2c_smcp.errors import InvalidDPEUri, SMCPError
from a2c_smcp.uris.dpe import parse_dpe_uri
from a2c_smcp.web.mcp_changes import EventBus, Listen, McpChangeNotifier, SubscriptionLimits

LIMITS: Final = SubscriptionLimits(uris=100_000)

Context: TypeAlias = ServerRequestContext[Any, Any]


class DocumentChangeNotifier:
    """Finds the subscriptions that a change concerns. Changes may be reported from any thread.

    Attributes:
        changes: Keeps the subscriptions, in the event loop that serves the clients.
    """

    def __init__(self, limits: SubscriptionLimits = LIMITS) -> None:
        self.changes = McpChangeNotifier(limits)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def bus(self) -> EventBus:
        """Where events of the newer era are published; a server that listens to it delivers them."""
        return self.changes.bus

    # Changes

    def list_changed(self) -> None:
        """Report that the list of resources changed."""
        self._in_loop(lambda: self.changes.publish(ResourcesListChanged()))

    def window_changed(self, windows: OfferedWindows, path: str) -> None:
        """Report that the window at this path has other content."""
        self._in_loop(lambda: self._publish_updates(lambda uri: windows.is_at(uri, path)))

    def documents_changed(self, host: str, changes: ChangedDocuments) -> None:
        """Report added, removed and updated documents of `host`."""
        refs = {*changes.added, *changes.removed, *changes.updated}
        if not refs:
            return
        listed = bool(changes.added or changes.removed)

        def publish() -> None:
            if listed:
                self.changes.publish(ResourcesListChanged())
            self._publish_updates(lambda uri: _concerns(uri, host.lower(), refs))

        self._in_loop(publish)

    def close(self) -> None:
        """End the `listen` streams gracefully."""
        self.changes.close()

    def _publish_updates(self, concerns: Callable[[str], bool]) -> None:
        for uri in self.changes.subscriptions:
            if concerns(uri):
                self.changes.publish(ResourceUpdated(uri=uri))

    def _in_loop(self, action: Callable[[], None]) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return  # no client has connected yet, so none has missed anything
        try:
            current = asyncio.get_running_loop()
        except RuntimeError:
            current = None
        if current is loop:
            action()
        else:
            loop.call_soon_threadsafe(action)

    # Handlers of requests and notifications

    async def client_ready(self, ctx: Context, _: t.NotificationParams) -> None:
        """`notifications/initialized`."""
        self._loop = asyncio.get_running_loop()
        self.changes.client_ready(ctx)

    async def subscribe(self, ctx: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        """`resources/subscribe`; clients may subscribe to a document that does not exist yet."""
        self._loop = asyncio.get_running_loop()
        try:
            await self.changes.subscribe(ctx, params.uri)
        except SMCPError as error:
            raise MCPError(t.INVALID_REQUEST, error.message) from None
        return t.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        """`resources/unsubscribe`."""
        self.changes.unsubscribe(ctx, params.uri)
        return t.EmptyResult()

    def listen_handler(self, existing: Listen | None = None) -> Listen:
        """Return the handler of `subscriptions/listen`.

        Args:
            existing: The handler that a server has already; it must deliver the events of `bus`.
        """
        deliver = self.changes.listen_handler(existing)

        async def listen(ctx: Context, params: t.SubscriptionsListenRequestParams) -> t.SubscriptionsListenResult:
            self._loop = asyncio.get_running_loop()
            try:
                return await deliver(ctx, params)
            except SMCPError as error:
                raise MCPError(t.INVALID_PARAMS, error.message) from None

        return listen


def _concerns(subscribed: str, host: str, refs: set[str]) -> bool:
    try:
        uri = parse_dpe_uri(subscribed)
    except InvalidDPEUri:
        return False
    return uri.host.lower() == host and (uri.doc_ref is None or uri.doc_ref in refs)
