"""What happens in an office, told to whoever wants to know. Nobody who is slow or fails holds up the others."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from weakref import WeakSet

from a2c_smcp.agent.serial_handler import SerialHandler
from a2c_smcp.errors import BadRequest
from a2c_smcp.messages import GetFinderRet

log = logging.getLogger(__name__)

EVENT_KINDS: Final = (
    "enter_office",
    "leave_office",
    "update_config",
    "update_tool_list",
    "update_desktop",
    "update_finder",
    "update_resources",
    "connected",
    "disconnected",
    "joined",
)
ANY_KIND: Final = "*"
BUFFER: Final = 1_000
"""Events that wait for one who is slow; over that, the oldest are dropped."""

HANDLER_SECONDS: Final = 1.0
"""Seconds that handlers have to end when the client closes."""


@dataclass(frozen=True, slots=True)
class OfficeEvent:
    """Something that happened.

    Attributes:
        kind: One of `EVENT_KINDS`.
        computer: The Computer it is about, where it is about one.
        data: What is known: the members' names and the office for those who come and go; what was read anew
            (`tools`, `desktop`, `finder`) for updates, or the `problem` that kept it from being read; for
            `update_resources` the `mcp_server`, the `uris` that changed, and `list_changed`.
    """

    kind: str
    computer: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


EventHandler: TypeAlias = Callable[[OfficeEvent], Awaitable[None] | None]


class FinderHook:
    """The hook that the Finder guide names, for classes that are derived from a client."""

    def _on_finder_changed(self, computer: str, finder: GetFinderRet) -> Any:
        """Override it: called with the catalogue of a Computer each time it was read anew after a change.

        It may be a coroutine function in the async client. If it fails, that is logged and hurts nobody.
        """

    def _finder_handler(self) -> EventHandler | None:
        """Return what calls the hook; None where nobody has overridden it."""
        if type(self)._on_finder_changed is FinderHook._on_finder_changed:  # noqa: SLF001
            return None

        def changed(event: OfficeEvent) -> Any:
            finder = event.data.get("finder")
            if finder is None or event.computer is None:  # it could not be read
                return None
            return self._on_finder_changed(event.computer, finder)

        return changed


class OfficeEventStream(AsyncIterator[OfficeEvent]):
    """Events from the moment it was made, in order, until the client closes.

    Attributes:
        ended: Whether nothing more comes.
        dropped: How many were lost because whoever reads is too slow.
    """

    def __init__(self, buffer: int) -> None:
        self._waiting: deque[OfficeEvent] = deque(maxlen=buffer)
        self._news = asyncio.Event()
        self.ended = False
        self.dropped = 0

    def put(self, event: OfficeEvent) -> None:
        """Add an event."""
        if len(self._waiting) == self._waiting.maxlen:
            if not self.dropped:
                log.warning("events are dropped: whoever reads them is too slow")
            self.dropped += 1
        self._waiting.append(event)
        self._news.set()

    def end(self) -> None:
        """Nothing more comes; what waits can still be read."""
        self.ended = True
        self._news.set()

    def take(self) -> OfficeEvent | None:
        """The next event, if one waits."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """Want no more."""
        self._waiting.clear()
        self.end()

    async def aclose(self) -> None:
        """Want no more."""
        self.close()

    def __aiter__(self) -> "OfficeEventStream":
        return self

    async def __anext__(self) -> OfficeEvent:
        while (event := self.take()) is None:
            if self.ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return event


class _EventHandler(SerialHandler[OfficeEvent]):
    """A handler for events of a kind."""

    def __init__(self, kind: str, handler: EventHandler, buffer: int) -> None:
        super().__init__(handler, buffer, lambda event: event.kind)
        self._kind = kind

    def put(self, event: OfficeEvent) -> None:
        if self._kind in (ANY_KIND, event.kind):
            super().put(event)


class EventDispatcher:
    """Who listens."""

    def __init__(self, buffer: int = BUFFER) -> None:
        self._buffer = buffer
        self._listeners: list[_EventHandler] = []
        self._streams: WeakSet[OfficeEventStream] = WeakSet()

    def on(self, kind: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns what ends that.

        Raises:
            BadRequest: There is no such kind.
        """
        if kind != ANY_KIND and kind not in EVENT_KINDS:
            raise BadRequest(f"Unknown kind of event {kind!r}; there are {', '.join(EVENT_KINDS)}, and * for all")
        listener = _EventHandler(kind, handler, self._buffer)
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def stream(self) -> OfficeEventStream:
        """Events from now on."""
        stream = OfficeEventStream(self._buffer)
        self._streams.add(stream)
        return stream

    def tell(self, kind: str, computer: str | None = None, data: Mapping[str, Any] | None = None) -> None:
        """Tell everybody."""
        event = OfficeEvent(kind, computer, data or {})
        for listener in list(self._listeners):
            listener.put(event)
        for stream in list(self._streams):
            stream.put(event)

    async def close(self) -> None:
        """Let handlers finish, for a moment; streams end when they are read empty."""
        for stream in list(self._streams):
            stream.end()
        me = asyncio.current_task()
        tasks = [one.task for one in self._listeners if one.task is not None and one.task is not me]
        if tasks:
            _, slow = await asyncio.wait(tasks, timeout=HANDLER_SECONDS)
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
