"""Events of an office, for handlers and streams. A slow or failing consumer delays no other."""

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
"""Events buffered for a slow consumer; beyond that the oldest are dropped."""

HANDLER_SECONDS: Final = 1.0
"""Seconds for handlers to finish when the client closes."""


@dataclass(frozen=True, slots=True)
class OfficeEvent:
    """An event of the office or of the connection.

    Attributes:
        kind: One of `EVENT_KINDS`.
        computer: The Computer that it concerns, if any.
        data: For members that join or leave, their names and the office; for updates, the new value (`tools`,
            `desktop`, `finder`) or the `problem` that prevented reading it; for `update_resources` the `mcp_server`,
            the changed `uris`, and `list_changed`.
    """

    kind: str
    computer: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


EventHandler: TypeAlias = Callable[[OfficeEvent], Awaitable[None] | None]


class FinderHook:
    """The hook that the Finder guide names, for classes that are derived from a client."""

    def _on_finder_changed(self, computer: str, finder: GetFinderRet) -> Any:
        """Override it: called with the catalogue of a Computer after each change.

        It may be a coroutine function in the async client. Its exceptions are logged.
        """

    def _finder_handler(self) -> EventHandler | None:
        """Return a handler that calls the hook; None if it is not overridden."""
        if type(self)._on_finder_changed is FinderHook._on_finder_changed:  # noqa: SLF001
            return None

        def changed(event: OfficeEvent) -> Any:
            finder = event.data.get("finder")
            if finder is None or event.computer is None:  # reading it failed
                return None
            return self._on_finder_changed(event.computer, finder)

        return changed


class OfficeEventStream(AsyncIterator[OfficeEvent]):
    """An iterator of events, in order, from its creation until the client closes.

    Attributes:
        ended: Whether no more events will be added.
        dropped: Events lost because the reader was too slow.
    """

    def __init__(self, buffer: int) -> None:
        self._waiting: deque[OfficeEvent] = deque(maxlen=buffer)
        self._added = asyncio.Event()
        self.ended = False
        self.dropped = 0

    def put(self, event: OfficeEvent) -> None:
        """Add an event."""
        if len(self._waiting) == self._waiting.maxlen:
            if not self.dropped:
                log.warning("events dropped: the reader of an event stream is too slow")
            self.dropped += 1
        self._waiting.append(event)
        self._added.set()

    def end(self) -> None:
        """Add no more events; buffered ones can still be read."""
        self.ended = True
        self._added.set()

    def take(self) -> OfficeEvent | None:
        """Return the next buffered event, if any."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """Drop buffered events and end the iteration."""
        self._waiting.clear()
        self.end()

    async def aclose(self) -> None:
        """Drop buffered events and end the iteration."""
        self.close()

    def __aiter__(self) -> "OfficeEventStream":
        return self

    async def __anext__(self) -> OfficeEvent:
        while (event := self.take()) is None:
            if self.ended:
                raise StopAsyncIteration
            self._added.clear()
            await self._added.wait()
        return event


class _EventHandler(SerialHandler[OfficeEvent]):
    """A handler of events of one kind."""

    def __init__(self, kind: str, handler: EventHandler, buffer: int) -> None:
        super().__init__(handler, buffer, lambda event: event.kind)
        self._kind = kind

    def put(self, event: OfficeEvent) -> None:
        if self._kind in (ANY_KIND, event.kind):
            super().put(event)


class EventDispatcher:
    """Passes events to handlers and streams."""

    def __init__(self, buffer: int = BUFFER) -> None:
        self._buffer = buffer
        self._listeners: list[_EventHandler] = []
        self._streams: WeakSet[OfficeEventStream] = WeakSet()

    def on(self, kind: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns an unsubscribe function.

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
        """Return a stream of the events from now on."""
        stream = OfficeEventStream(self._buffer)
        self._streams.add(stream)
        return stream

    def emit(self, kind: str, computer: str | None = None, data: Mapping[str, Any] | None = None) -> None:
        """Pass an event to all handlers and streams."""
        event = OfficeEvent(kind, computer, data or {})
        for listener in list(self._listeners):
            listener.put(event)
        for stream in list(self._streams):
            stream.put(event)

    async def close(self) -> None:
        """Wait briefly for handlers, then cancel them; streams end after their buffered events."""
        for stream in list(self._streams):
            stream.end()
        me = asyncio.current_task()
        tasks = [one.task for one in self._listeners if one.task is not None and one.task is not me]
        if tasks:
            _, slow = await asyncio.wait(tasks, timeout=HANDLER_SECONDS)
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
