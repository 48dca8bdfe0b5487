"""Handles a server's notifications before the SDK sees them: merged, rate-limited, and passed on to the Computer.

The SDK starts a task for every notification, so a flood would fill the event loop. Notifications that only announce a
change are merged here. Everything that is not a reply passes at a bounded rate: the pipe or socket fills up and the
server has to wait.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.common.rate_limit import TokenBucket
from a2c_smcp.computer.mcp.list_repair import RejectedEntry, repair_lists
from a2c_smcp.computer.mcp.transport import Incoming, MessageReader, MessageReadStream, yield_to_loop
from a2c_smcp.computer.ports import ServerListener
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

# Seconds between two calls of the listener about merged notifications. The first comes at once.
NOTIFY_INTERVAL: Final = 0.05
# Updated resources that may be pending; reading from the server pauses above that.
MAX_URIS: Final = 1_000
# Requests and notifications of the server a second, and the allowed burst.
RATE: Final = 2_000.0
BURST: Final = 2_000.0
YIELD_EVERY: Final = 32


class ServerNotifications:
    """Merges the changes that a server announces between two calls of its listener."""

    def __init__(self, server: SERVER_NAME, listener: ServerListener) -> None:
        self._server = server
        self._listener = listener
        self._tools = False
        self._resources = False
        self._uris: dict[str, None] = {}
        self._timer: asyncio.Handle | None = None
        self._notified_at = -NOTIFY_INTERVAL
        self._capacity = asyncio.Event()
        self._capacity.set()

    def tools(self) -> None:
        """The tool list may have changed."""
        self._tools = True
        self._schedule()

    def resources(self) -> None:
        """The resource list may have changed."""
        self._resources = True
        self._schedule()

    def updated(self, uri: str) -> None:
        """A resource has new contents."""
        self._uris[uri] = None
        if len(self._uris) >= MAX_URIS:
            self._capacity.clear()
        self._schedule()

    def everything(self, uris: Iterable[str] = ()) -> None:
        """Everything may have changed: the server started or stopped, or notifications may have been lost."""
        self._tools = self._resources = True
        self._uris.update(dict.fromkeys(uris))
        self._schedule()

    def flush_tools(self) -> None:
        """Notify the listener at once of a changed tool list, if a change is pending."""
        if self._tools:
            self._tools = False
            notify(self._listener.tools_changed, self._server)

    async def capacity(self) -> None:
        """Wait until another updated resource can be recorded."""
        await self._capacity.wait()

    def close(self) -> None:
        """Notify the listener of the pending changes."""
        if self._timer is not None:
            self._timer.cancel()
            self._flush()

    def _schedule(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, self._notified_at + NOTIFY_INTERVAL - loop.time()), self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._notified_at = asyncio.get_running_loop().time()
        tools, resources, uris = self._tools, self._resources, self._uris
        self._tools, self._resources, self._uris = False, False, {}
        self._capacity.set()
        if tools:
            notify(self._listener.tools_changed, self._server)
        if resources:
            notify(self._listener.resources_changed, self._server)
        for uri in uris:
            notify(self._listener.resource_updated, self._server, uri)


def notify(listener: Callable[..., None], *arguments: str) -> None:
    """Call a listener; its exceptions are logged and do not affect the server."""
    call_guarded(logger, "a listener of an MCP server", listener, *arguments, server=arguments[0])


class NotificationFilter(MessageReadStream):
    """The messages of a transport without those that `ServerNotifications` handles.

    Attributes:
        ended: Whether the stream has ended.
        received_at: When the last message arrived.
        version: The negotiated protocol version, once it is known.
        on_rejected: Called with the entries that were removed from a list because they are invalid.
    """

    def __init__(self, source: MessageReader, notifications: ServerNotifications, on_end: Callable[[], None]) -> None:
        self.version: str | None = None
        self.on_rejected: Callable[[list[RejectedEntry]], None] = _ignore
        self.ended = False
        self.received_at = 0.0
        self._source = source
        self._notifications = notifications
        self._on_end = on_end
        self._rate = TokenBucket(RATE, BURST)
        self._received = 0

    async def receive(self) -> Incoming:
        """Return the next message for the SDK."""
        clock = asyncio.get_running_loop().time
        while True:
            try:
                item = await self._source.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._end()
                raise anyio.EndOfStream from None
            self.received_at = clock()
            self._received += 1
            if self._received % YIELD_EVERY == 0:
                await yield_to_loop()
            if isinstance(item, SessionMessage) and not _is_unsolicited(item.message):
                response = item.message
                if isinstance(response, JSONRPCResponse) and (rejected := repair_lists(response.result, self.version)):
                    self.on_rejected(rejected)
                return item
            if pause := self._rate.reserve(self.received_at):
                await asyncio.sleep(pause)
            if isinstance(item, SessionMessage) and not await self._handled(item.message):
                return item

    async def aclose(self) -> None:
        """Close the source as well."""
        self._end()
        await self._source.aclose()

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            self._on_end()

    async def _handled(self, message: JSONRPCMessage) -> bool:
        match message:
            case JSONRPCNotification(method="notifications/resources/updated", params={"uri": str(uri)}):
                await self._notifications.capacity()
                self._notifications.updated(uri)
            case JSONRPCNotification(method="notifications/resources/list_changed"):
                self._notifications.resources()
            case JSONRPCNotification(method="notifications/tools/list_changed"):
                self._notifications.tools()
            case JSONRPCNotification(method="notifications/message" | "notifications/prompts/list_changed"):
                pass
            case _:
                return False
        return True


def _ignore(_: list[RejectedEntry]) -> None:
    return


def _is_unsolicited(message: JSONRPCMessage) -> bool:
    return isinstance(message, JSONRPCNotification | JSONRPCRequest)
