"""The outcomes of completed calls, kept so that a repeated request does not run again. Pure."""

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
"""The weight of an entry without its result."""


class CallKey(NamedTuple):
    """Identifies a call: a `req_id` is unique for its Agent, and an Agent's name is unique in its office."""

    office: str
    agent: str
    req_id: str


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: a result, or the error before the tool ran.

    Attributes:
        final: Whether a repeated request gets the same outcome; otherwise it runs again.
        progress: The tool's latest progress report, if the Agent requested progress.
        reports: The latest reports that were sent.
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
    """The outcomes of the latest calls, limited in age, number and total weight.

    If the results are too heavy together, the oldest heavy ones are replaced by a note that the tool ran. A result is
    light if it weighs no more than an equal share, so that light ones are never dropped for their weight.
    """

    def __init__(self, *, seconds: float, entries: int, weight: int) -> None:
        self._seconds, self._entries, self._weight = seconds, entries, weight
        self._calls: OrderedDict[CallKey, _CompletedCall] = OrderedDict()
        self._heavy: OrderedDict[CallKey, _CompletedCall] = OrderedDict()
        self._total = 0

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def weight(self) -> int:
        """The total weight of the results."""
        return self._total

    def find(self, key: CallKey, now: float) -> tuple[str, CallOutcome] | None:
        """Return the fingerprint and the outcome of a recent call."""
        self._expire(now)
        entry = self._calls.get(key)
        return None if entry is None else (entry.fingerprint, entry.outcome)

    def keep(self, key: CallKey, fingerprint: str, outcome: CallOutcome, now: float) -> None:
        """Store an outcome."""
        self._expire(now)
        self._drop(key)
        weight = ENTRY_WEIGHT + weigh(outcome.result, self._weight)
        entry = _CompletedCall(fingerprint, outcome, weight, now + self._seconds)
        self._calls[key] = entry
        if weight > self._weight // self._entries:
            self._heavy[key] = entry
        self._total += weight
        while len(self._calls) > self._entries:
            self._drop(next(iter(self._calls)))
        while self._total > self._weight and self._heavy:
            _, heavy = self._heavy.popitem(last=False)
            self._total -= heavy.weight - ENTRY_WEIGHT
            heavy.outcome, heavy.weight = CallOutcome(too_large_to_keep()), ENTRY_WEIGHT

    def _expire(self, now: float) -> None:
        while self._calls:
            key, entry = next(iter(self._calls.items()))
            if entry.expires > now:
                return
            self._drop(key)

    def _drop(self, key: CallKey) -> None:
        entry = self._calls.pop(key, None)
        if entry is not None:
            self._heavy.pop(key, None)
            self._total -= entry.weight
