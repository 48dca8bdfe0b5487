"""What a server says by itself: taken off its stream early, counted, and told to the Computer in bounded portions.

The SDK starts a task for every notification. A server that floods would fill the loop with them, so those that only say
"look again" are merged here, and whatever is not an answer is let through at a bounded rate: the pipe or socket
behind fills up and it is the server that waits.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.common.token_bucket import TokenBucket
from a2c_smcp.computer.mcp.list_repair import RejectedEntry, repair_lists
from a2c_smcp.computer.mcp.transport import Incoming, MessageReader, MessageReadStream, yield_to_loop
from a2c_smcp.computer.ports import ServerListener
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

# Between two tellings of what changed. The first comes at once.
NOTIFY_INTERVAL: Final = 0.05
# Resources that wait to be told of; a server that names more meanwhile waits.
MAX_URIS: Final = 1_000
# Unasked messages a second, and how many may come at once.
RATE: Final = 2_000.0
BURST: Final = 2_000.0
YIELD_EVERY: Final = 32


class ServerNotifications:
    """What a server has said to have changed since its listener was last told."""

    def __init__(self, server: SERVER_NAME, listener: ServerListener) -> None:
        self._server = server
        self._listener = listener
        self._tools = False
        self._resources = False
        self._uris: dict[str, None] = {}
        self._timer: asyncio.Handle | None = None
        self._told_at = -NOTIFY_INTERVAL
        self._room = asyncio.Event()
        self._room.set()

    def tools(self) -> None:
        """The tool list may differ."""
        self._tools = True
        self._schedule()

    def resources(self) -> None:
        """The resource list may differ."""
        self._resources = True
        self._schedule()

    def updated(self, uri: str) -> None:
        """A resource has new contents."""
        self._uris[uri] = None
        if len(self._uris) >= MAX_URIS:
            self._room.clear()
        self._schedule()

    def everything(self, uris: Iterable[str] = ()) -> None:
        """Nothing is known for sure: the server came or went, or notifications may have been lost."""
        self._tools = self._resources = True
        self._uris.update(dict.fromkeys(uris))
        self._schedule()

    def tell_tools(self) -> None:
        """Tell at once of a changed tool list, if the server announced one."""
        if self._tools:
            self._tools = False
            notify(self._listener.tools_changed, self._server)

    async def room(self) -> None:
        """Wait until more can be taken in."""
        await self._room.wait()

    def close(self) -> None:
        """Tell what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._tell()

    def _schedule(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, self._told_at + NOTIFY_INTERVAL - loop.time()), self._tell)

    def _tell(self) -> None:
        self._timer = None
        self._told_at = asyncio.get_running_loop().time()
        tools, resources, uris = self._tools, self._resources, self._uris
        self._tools, self._resources, self._uris = False, False, {}
        self._room.set()
        if tools:
            notify(self._listener.tools_changed, self._server)
        if resources:
            notify(self._listener.resources_changed, self._server)
        for uri in uris:
            notify(self._listener.resource_updated, self._server, uri)


def notify(listener: Callable[..., None], *arguments: str) -> None:
    """Call a listener, whose mistakes are not the server's."""
    call_guarded(logger, "a listener of an MCP server", listener, *arguments, server=arguments[0])


class NotificationFilter(MessageReadStream):
    """A link's messages on their way to the SDK, without those that `ServerNotifications` has taken.

    Attributes:
        ended: Whether the stream has come to its end.
        heard_at: When the server last said anything.
        version: The negotiated protocol version, once it is known.
        on_left_out: Called with the entries of a list that break a rule and were taken out of it.
    """

    def __init__(self, source: MessageReader, news: ServerNotifications, on_end: Callable[[], None]) -> None:
        self.version: str | None = None
        self.on_left_out: Callable[[list[RejectedEntry]], None] = _ignore
        self.ended = False
        self.heard_at = 0.0
        self._source = source
        self._news = news
        self._on_end = on_end
        self._meter = TokenBucket(RATE, BURST)
        self._turns = 0

    async def receive(self) -> Incoming:
        """The next message for the SDK."""
        clock = asyncio.get_running_loop().time
        while True:
            try:
                item = await self._source.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._end()
                raise anyio.EndOfStream from None
            self.heard_at = clock()
            self._turns += 1
            if self._turns % YIELD_EVERY == 0:
                await yield_to_loop()
            if isinstance(item, SessionMessage) and not _unasked(item.message):
                response = item.message
                if isinstance(response, JSONRPCResponse) and (left_out := repair_lists(response.result, self.version)):
                    self.on_left_out(left_out)
                return item
            if pause := self._meter.wait(self.heard_at):
                await asyncio.sleep(pause)
            if isinstance(item, SessionMessage) and not await self._taken(item.message):
                return item

    async def aclose(self) -> None:
        """Close the source too."""
        self._end()
        await self._source.aclose()

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            self._on_end()

    async def _taken(self, message: JSONRPCMessage) -> bool:
        match message:
            case JSONRPCNotification(method="notifications/resources/updated", params={"uri": str(uri)}):
                await self._news.room()
                self._news.updated(uri)
            case JSONRPCNotification(method="notifications/resources/list_changed"):
                self._news.resources()
            case JSONRPCNotification(method="notifications/tools/list_changed"):
                self._news.tools()
            case JSONRPCNotification(method="notifications/message" | "notifications/prompts/list_changed"):
                pass
            case _:
                return False
        return True


def _ignore(_: list[RejectedEntry]) -> None:
    return


def _unasked(message: JSONRPCMessage) -> bool:
    return isinstance(message, JSONRPCNotification | JSONRPCRequest)
