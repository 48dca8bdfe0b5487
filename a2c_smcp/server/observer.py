"""The observer interface that metrics, audit log, log and tracing implement.

Users can supply observers too, so `ServerObservers` guards each call: an exception is logged with its traceback and
neither the other observers nor the caller see it.
"""

import asyncio
import inspect
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from a2c_smcp.common.rate_limit import Throttle
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead
from a2c_smcp.smcp import EVENTS

log = logging.getLogger(__name__)

FAILURES_PER_SECOND: Final = 5
"""An observer that fails at every request must not fill the disk; the rest is counted."""


OTHER: Final = "other"
KNOWN_EVENTS: Final = frozenset({*EVENTS, "connect"})
_FUTURE_EVENT: Final = re.compile(r"(client|server):\w{1,64}", re.ASCII)


def event_label(event: str) -> str:
    """Return the metric label of an event. Unknown events share one label, so clients cannot create new ones."""
    return event if event in KNOWN_EVENTS else OTHER


def event_name(event: str) -> str:
    """Return the event name for a log line; names that do not look like ours are replaced, they may hold anything."""
    return event if event in KNOWN_EVENTS or _FUTURE_EVENT.fullmatch(event) else OTHER


class ObservedClient(Protocol):
    """What an observer may know of a connection."""

    sid: str
    address: str
    member: Member | None


@dataclass(slots=True)
class UnknownClient:
    """A connection that was refused before it was one."""

    sid: str
    address: str
    member: Member | None = None


class ServerObserver:
    """Hears everything and does nothing; the parts that do something override what they need."""

    def wall_clock(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def connections(self, number: int) -> None:
        """The number of open connections changed."""

    def offices(self, number: int) -> None:
        """The number of offices with members on this node changed."""

    def joined(self, member: Member, address: str) -> None:
        """A member took a seat."""

    def left(self, member: Member, why: str) -> None:
        """A member left its seat."""

    def sender_replaced(self, event: str, claimed: str, client: ObservedClient) -> None:
        """A payload claimed another sender and was passed on under the joined name; once per connection."""

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """A request was refused before it was passed on."""

    def served(self, event: str, seconds: float, client: ObservedClient) -> None:
        """An event for the Server itself was accepted and is done."""

    def failed(self, event: str, error: SMCPError, client: ObservedClient, req_id: str) -> None:
        """A request that was passed on ended in an error of the Server."""

    def forwarded(self, event: str, code: str, client: ObservedClient, head: RequestHead) -> None:
        """A Computer answered with an error, which is passed on: its code, or `tool` for a tool that failed."""

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """A request is over: `outcome` is `ok`, `gone`, or the code of the error."""


class ServerObservers(ServerObserver):
    """Several observers as one; none of them can fail its caller."""

    def __init__(self, *observers: ServerObserver) -> None:
        self._throttle = Throttle(FAILURES_PER_SECOND)
        for name in (
            "connections",
            "offices",
            "joined",
            "left",
            "sender_replaced",
            "refused",
            "served",
            "failed",
            "forwarded",
            "answered",
        ):
            # Only those that override a method hear it, so that a silent one costs nothing on the hot path.
            heard = [one for one in observers if getattr(type(one), name) is not getattr(ServerObserver, name)]
            setattr(self, name, _call_all([self._guarded(one, name) for one in heard]))
        self._clocks = [one for one in observers if type(one).wall_clock is not ServerObserver.wall_clock]

    def wall_clock(self) -> float:
        """Seconds since the epoch, from the first observer that has a clock of its own."""
        for one in self._clocks:
            try:
                return float(one.wall_clock())
            except (Exception, asyncio.CancelledError):
                if self._may_log():
                    log.exception("observer failed: %s.wall_clock", type(one).__name__)
        return time.time()

    def _guarded(self, observer: ServerObserver, name: str) -> Callable[..., None]:
        method: Callable[..., Any] = getattr(observer, name)
        what = f"{type(observer).__name__}.{name}"

        def tell(*arguments: object) -> None:
            try:
                result = method(*arguments)
            except (Exception, asyncio.CancelledError):  # a plain function has no task that could have been cancelled
                if self._may_log():
                    log.exception("observer failed: %s", what)
            else:
                if result is not None and inspect.iscoroutine(result):
                    result.close()
                    if self._may_log():
                        log.error("observer failed: %s must be a plain function, not a coroutine function", what)

        return tell

    def _may_log(self) -> bool:
        if not self._throttle.allows(time.monotonic()):
            return False
        if suppressed := self._throttle.take_suppressed():
            log.error("%d more failures of observers were not logged", suppressed)
        return True


def guard_observer(observer: ServerObserver) -> ServerObserver:
    """Return the observer behind a guard."""
    return observer if isinstance(observer, ServerObservers) else ServerObservers(observer)


def _call_all(methods: list[Callable[..., None]]) -> Callable[..., None]:
    if len(methods) == 1:
        return methods[0]

    def tell(*arguments: object) -> None:
        for method in methods:
            method(*arguments)

    return tell
