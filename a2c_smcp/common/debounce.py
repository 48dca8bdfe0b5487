"""A debouncer: emits the first change at once, then at most once per window, and never loses the last change.

Each kind of change has its own state, so that a slow emit delays no other kind:

    idle ──trigger──> emitting ──done──> cooling ──window over, not triggered──> idle
                         ^                  │
                         └─window over, and triggered meanwhile or the emit failed
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from a2c_smcp.common.backoff import backoff_delay
from a2c_smcp.errors import SMCPError

logger = logging.getLogger(__name__)

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
    """Calls `emit(kind)` after `trigger(kind)`.

    After the last `trigger` of a kind an `emit` of that kind always starts, unless the debouncer is closed. The emits
    of one kind do not overlap and start at least `window` seconds apart. A failed emit is retried with growing delays.

    Args:
        held: Whether to start in the held state: see `hold`.
    """

    def __init__(self, emit: Callable[[K], Awaitable[None]], *, window: float = WINDOW, held: bool = False) -> None:
        self._emit = emit
        self._window = window
        self._held = held
        self._closed = False
        self._states: dict[K, _KindState] = {}
        self._changed = asyncio.Event()

    @property
    def pending(self) -> frozenset[K]:
        """The kinds that are still to be emitted."""
        return frozenset(kind for kind, state in self._states.items() if state.pending)

    def trigger(self, kind: K) -> None:
        """Record a change of this kind."""
        self._states.setdefault(kind, _KindState()).pending = True
        self._advance(kind)

    def hold(self) -> None:
        """Emit nothing until `release`; changes stay pending."""
        self._held = True

    def release(self) -> None:
        """Emit again, starting with the pending changes."""
        self._held = False
        for kind, state in list(self._states.items()):
            if state.cooling is not None and state.failures:
                # The receiver is reachable again: do not wait for the retry delay.
                state.cooling.cancel()
                state.cooling = None
                state.failures = 0
            self._advance(kind)

    async def drained(self) -> None:
        """Return when nothing is pending."""
        while any(state.pending or state.sending is not None for state in self._states.values()):
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        """Emit nothing more; cancel running emits."""
        self._closed = True
        running = [state.sending for state in self._states.values() if state.sending is not None]
        for state in self._states.values():
            if state.cooling is not None:
                state.cooling.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._states.clear()
        self._changed.set()

    def _advance(self, kind: K) -> None:
        state = self._states[kind]
        if self._held or self._closed or not state.pending or state.sending is not None or state.cooling is not None:
            return
        # Reset before the emit starts: a later change may not be part of it.
        state.pending = False
        state.sending = asyncio.get_running_loop().create_task(self._send(kind, state))

    async def _send(self, kind: K, state: _KindState) -> None:
        loop = asyncio.get_running_loop()
        cool_until = loop.time() + self._window
        try:
            await self._emit(kind)
        except Exception as problem:
            if isinstance(problem, SMCPError):  # usually there is no connection at the moment
                logger.info("update delayed: kind=%s reason=%s", kind, problem)
            else:
                logger.exception("update failed: retrying kind=%s", kind)
            state.pending = True
            state.failures += 1
            cool_until = loop.time() + self._pause_after(state.failures)
        else:
            state.failures = 0
        finally:
            state.sending = None
        if not self._closed:
            state.cooling = loop.call_at(cool_until, self._cooled, kind)
        self._changed.set()

    def _pause_after(self, failures: int) -> float:
        return backoff_delay(failures, base=max(self._window, WINDOW), longest=LONGEST_PAUSE)

    def _cooled(self, kind: K) -> None:
        state = self._states[kind]
        state.cooling = None
        if state.pending:
            self._advance(kind)
        else:
            del self._states[kind]
