"""Results kept for a while, so that a request sent again is answered and not run again. Pure: time is given."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.results import too_large_to_keep
from a2c_smcp.computer.tools.sizes import weigh
from a2c_smcp.errors import SMCPError
from a2c_smcp.messages import ProgressData

ENTRY_WEIGHT: Final = 500
"""What an entry counts beside its result."""


class CallKey(NamedTuple):
    """Who asked what: `req_id` is unique only to its Agent, and the Agent's name only in its office."""

    office: str
    agent: str
    req_id: str


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a request ended: a result, or what went wrong before the tool ran.

    Attributes:
        final: Whether the same request, sent again, gets the same outcome; otherwise it is tried again.
        progress: The tool's last word of how far it was, where somebody asked to hear it.
        reports: The last reports that were sent before.
    """

    result: Json | None = None
    error: SMCPError | None = None
    final: bool = True
    progress: ProgressData | None = None
    reports: Sequence[ProgressData] = ()


@dataclass(slots=True)
class _CompletedCall:
    fingerprint: str
    outcome: CallOutcome
    weight: int
    expires: float


class CompletedCalls:
    """The outcomes of the last requests, bounded in age, number and weight.

    Where the results are together too heavy, the oldest heavy ones are dropped; that their tools ran is still
    remembered. A result is light when it weighs no more than its share, so that light ones need never be dropped.
    """

    def __init__(self, *, seconds: float, entries: int, weight: int) -> None:
        self._seconds, self._entries, self._weight = seconds, entries, weight
        self._kept: OrderedDict[CallKey, _CompletedCall] = OrderedDict()
        self._heavy: OrderedDict[CallKey, _CompletedCall] = OrderedDict()
        self._total = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """What the kept results weigh together."""
        return self._total

    def find(self, key: CallKey, now: float) -> tuple[str, CallOutcome] | None:
        """Return the fingerprint and the outcome of a request that ended not long ago."""
        self._expire(now)
        entry = self._kept.get(key)
        return None if entry is None else (entry.fingerprint, entry.outcome)

    def keep(self, key: CallKey, fingerprint: str, outcome: CallOutcome, now: float) -> None:
        """Keep an outcome from now on."""
        self._expire(now)
        self._drop(key)
        weight = ENTRY_WEIGHT + weigh(outcome.result, self._weight)
        entry = _CompletedCall(fingerprint, outcome, weight, now + self._seconds)
        self._kept[key] = entry
        if weight > self._weight // self._entries:
            self._heavy[key] = entry
        self._total += weight
        while len(self._kept) > self._entries:
            self._drop(next(iter(self._kept)))
        while self._total > self._weight and self._heavy:
            _, heavy = self._heavy.popitem(last=False)
            self._total -= heavy.weight - ENTRY_WEIGHT
            heavy.outcome, heavy.weight = CallOutcome(too_large_to_keep()), ENTRY_WEIGHT

    def _expire(self, now: float) -> None:
        while self._kept:
            key, entry = next(iter(self._kept.items()))
            if entry.expires > now:
                return
            self._drop(key)

    def _drop(self, key: CallKey) -> None:
        entry = self._kept.pop(key, None)
        if entry is not None:
            self._heavy.pop(key, None)
            self._total -= entry.weight
