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
"""Logged failures of observers; the rest is counted, so that a broken observer cannot fill the disk."""


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
    """The attributes of a connection that observers see."""

    sid: str
    address: str
    member: Member | None


@dataclass(slots=True)
class UnknownClient:
    """A client that was refused before it was connected."""

    sid: str
    address: str
    member: Member | None = None


class ServerObserver:
    """Base class of observers; every method does nothing."""

    def wall_clock(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def connections(self, number: int) -> None:
        """The number of open connections changed."""

    def offices(self, number: int) -> None:
        """The number of offices with members on this node changed."""

    def joined(self, member: Member, address: str) -> None:
        """A member joined."""

    def left(self, member: Member, why: str) -> None:
        """A member left."""

    def sender_replaced(self, event: str, claimed: str, client: ObservedClient) -> None:
        """A payload named another sender, which was replaced by the joined name; called once per connection."""

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """A request was refused before it was relayed."""

    def served(self, event: str, seconds: float, client: ObservedClient) -> None:
        """An event for the Server itself was handled."""

    def failed(self, event: str, error: SMCPError, client: ObservedClient, req_id: str) -> None:
        """A relayed request ended with an error of the Server."""

    def forwarded(self, event: str, code: str, client: ObservedClient, head: RequestHead) -> None:
        """A Computer replied with an error: `code` is its code, or `tool` for a failed tool."""

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """A request is over: `outcome` is `ok`, `gone` if the caller disconnected, or the error code."""


class ServerObservers(ServerObserver):
    """Calls several observers; an exception of one reaches neither the others nor the caller."""

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
            # Only overridden methods are called, so that the others cost nothing on the hot path.
            overriding = [one for one in observers if getattr(type(one), name) is not getattr(ServerObserver, name)]
            setattr(self, name, _call_all([self._guarded(one, name) for one in overriding]))
        self._clocks = [one for one in observers if type(one).wall_clock is not ServerObserver.wall_clock]

    def wall_clock(self) -> float:
        """Return seconds since the epoch, from the first observer that overrides the clock."""
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

        def call(*arguments: object) -> None:
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

        return call

    def _may_log(self) -> bool:
        if not self._throttle.allows(time.monotonic()):
            return False
        if suppressed := self._throttle.take_suppressed():
            log.error("observer failures suppressed: count=%d", suppressed)
        return True


def guard_observer(observer: ServerObserver) -> ServerObserver:
    """Return the observer with every call guarded."""
    return observer if isinstance(observer, ServerObservers) else ServerObservers(observer)


def _call_all(methods: list[Callable[..., None]]) -> Callable[..., None]:
    if len(methods) == 1:
        return methods[0]

    def call(*arguments: object) -> None:
        for method in methods:
            method(*arguments)

    return call
