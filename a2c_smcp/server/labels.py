"""What of a client's words may be repeated in metrics and logs, and how often. Pure."""

import re
from typing import Final

from a2c_smcp.smcp import EVENTS

OTHER: Final = "other"
KNOWN: Final = frozenset({*EVENTS, "connect"})
_LATER: Final = re.compile(r"(client|server):\w{1,64}", re.ASCII)


def event_label(event: str) -> str:
    """The name of an event that this release knows; all others share one label, so that nobody can make up many."""
    return event if event in KNOWN else OTHER


def event_name(event: str) -> str:
    """The name of an event for a log; what is not shaped like one of ours may hold anything and is not repeated."""
    return event if event in KNOWN or _LATER.fullmatch(event) else OTHER


class Throttle:
    """Lets so many pass in a second and counts the rest."""

    __slots__ = ("_passed", "_per_second", "_second", "dropped")

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._second = -1
        self._passed = 0
        self.dropped = 0

    def passes(self, now: float) -> bool:
        """Whether this one passes."""
        if int(now) != self._second:
            self._second, self._passed = int(now), 0
        self._passed += 1
        if self._passed <= self._per_second:
            return True
        self.dropped += 1
        return False

    def take_dropped(self) -> int:
        """How many have not passed since this was last asked."""
        dropped, self.dropped = self.dropped, 0
        return dropped
