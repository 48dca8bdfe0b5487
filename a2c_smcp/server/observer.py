"""Who is told of what happens: metrics, audit and tracing hang on one small interface."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.payload import Head
from a2c_smcp.server.rooms import Seat


class Member(Protocol):
    """What an observer may know of a connection."""

    sid: str
    address: str
    seat: Seat | None


@dataclass(slots=True)
class Stranger:
    """A connection that was refused before it was one."""

    sid: str
    address: str
    seat: Seat | None = None


class Observer:
    """Hears everything and does nothing; the parts that do something override what they need."""

    def wall_clock(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def connections(self, number: int) -> None:
        """The number of open connections changed."""

    def offices(self, number: int) -> None:
        """The number of offices with members on this node changed."""

    def joined(self, seat: Seat, address: str) -> None:
        """A member took a seat."""

    def left(self, seat: Seat, why: str) -> None:
        """A member left its seat."""

    def refused(self, event: str, error: SMCPError, who: Member | None, req_id: str | None) -> None:
        """A request was refused before it was passed on."""

    def served(self, event: str, seconds: float, who: Member) -> None:
        """An event for the Server itself was accepted and is done."""

    def failed(self, event: str, error: SMCPError, who: Member, req_id: str) -> None:
        """A request that was passed on ended in an error of the Server."""

    def answered(self, event: str, outcome: str, seconds: float, who: Member, head: Head) -> None:
        """A request is over: `outcome` is `ok`, `gone`, or the code of the error."""


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        for name in ("connections", "offices", "joined", "left", "refused", "served", "failed", "answered"):
            # Only those that override a method hear it, so that a silent one costs nothing on the hot path.
            heard = [getattr(one, name) for one in observers if getattr(type(one), name) is not getattr(Observer, name)]
            setattr(self, name, _all(heard))


def _all(methods: list[Callable[..., None]]) -> Callable[..., None]:
    if len(methods) == 1:
        return methods[0]

    def tell(*arguments: object) -> None:
        for method in methods:
            method(*arguments)

    return tell
