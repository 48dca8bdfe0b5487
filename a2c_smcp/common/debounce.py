"""Many changes, few messages: what changed is told at once, then at most once a window, and the last change always.

Each kind of change has a lane of its own, so that a message that is slow to send holds back no other kind:

    idle ──tell──> sending ──sent──> cooling ──window over, nothing new──> idle
                      ^                 │
                      └─window over, something was told meanwhile, or sending failed
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from a2c_smcp.errors import SMCPError

logger = logging.getLogger(__name__)

UpdateKind: TypeAlias = Literal["config", "tool_list", "desktop", "finder", "resources"]
"""What a Computer tells its office about: `server:update_<kind>`."""

WINDOW: Final = 0.1
LONGEST_PAUSE: Final = 30.0

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class _KindState:
    pending: bool = False
    sending: asyncio.Task[None] | None = None
    cooling: asyncio.TimerHandle | None = None
    failures: int = 0


class Debouncer(Generic[K]):
    """Calls `emit(kind)` for what `tell` was told.

    After the last `tell` of a kind an `emit` of that kind always starts, unless it is closed first. One `emit` of a
    kind runs at a time, and they start at least `window` seconds apart. An `emit` that raises is tried again, after
    pauses that grow.

    Args:
        held: Whether to begin without a connection: see `hold`.
    """

    def __init__(self, emit: Callable[[K], Awaitable[None]], *, window: float = WINDOW, held: bool = False) -> None:
        self._emit = emit
        self._window = window
        self._held = held
        self._closed = False
        self._lanes: dict[K, _KindState] = {}
        self._moved = asyncio.Event()

    @property
    def pending(self) -> frozenset[K]:
        """The kinds of which something is still to be told."""
        return frozenset(kind for kind, lane in self._lanes.items() if lane.pending)

    def tell(self, kind: K) -> None:
        """Something of this kind changed."""
        self._lanes.setdefault(kind, _KindState()).pending = True
        self._advance(kind)

    def hold(self) -> None:
        """Send nothing from now on, and forget nothing: there is nobody to tell."""
        self._held = True

    def release(self) -> None:
        """Send again, beginning with what was told meanwhile and what could not be sent before."""
        self._held = False
        for kind, lane in list(self._lanes.items()):
            if lane.cooling is not None and lane.failures:
                # The pause was for whoever could not be reached, and that is over.
                lane.cooling.cancel()
                lane.cooling = None
                lane.failures = 0
            self._advance(kind)

    async def drained(self) -> None:
        """Return when everything that was told has been sent."""
        while any(lane.pending or lane.sending is not None for lane in self._lanes.values()):
            self._moved.clear()
            await self._moved.wait()

    async def close(self) -> None:
        """Send nothing more; what is being sent is cancelled."""
        self._closed = True
        running = [lane.sending for lane in self._lanes.values() if lane.sending is not None]
        for lane in self._lanes.values():
            if lane.cooling is not None:
                lane.cooling.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._lanes.clear()
        self._moved.set()

    def _advance(self, kind: K) -> None:
        lane = self._lanes[kind]
        if self._held or self._closed or not lane.pending or lane.sending is not None or lane.cooling is not None:
            return
        # Taken back at once: what is told from now on may not be in this message any more.
        lane.pending = False
        lane.sending = asyncio.get_running_loop().create_task(self._send(kind, lane))

    async def _send(self, kind: K, lane: _KindState) -> None:
        loop = asyncio.get_running_loop()
        rest_until = loop.time() + self._window
        try:
            await self._emit(kind)
        except Exception as problem:
            if isinstance(problem, SMCPError):  # nobody to tell at the moment, most of the time
                logger.info("A change of %s is told later: %s", kind, problem)
            else:
                logger.exception("Telling of a change of %s failed; it is tried again", kind)
            lane.pending = True
            lane.failures += 1
            rest_until = loop.time() + self._pause_after(lane.failures)
        else:
            lane.failures = 0
        finally:
            lane.sending = None
        if not self._closed:
            lane.cooling = loop.call_at(rest_until, self._cooled, kind)
        self._moved.set()

    def _pause_after(self, failures: int) -> float:
        return min(max(self._window, WINDOW) * float(2 ** min(failures, 16)), LONGEST_PAUSE)

    def _cooled(self, kind: K) -> None:
        lane = self._lanes[kind]
        lane.cooling = None
        if lane.pending:
            self._advance(kind)
        else:
            del self._lanes[kind]
