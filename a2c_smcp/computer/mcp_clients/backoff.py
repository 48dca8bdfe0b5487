"""When a server that failed is started again, and when no more. Pure: chance is given, time is counted by others."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How patient a Computer is with a failing server. Times are seconds.

    Attributes:
        first: The shortest pause before a new start; it doubles with every failure.
        most: The longest pause.
        failures: So many failures without health between them, and the server is left alone.
        health: A server that ran for so long has recovered: its failures are forgotten.
    """

    first: float = 0.5
    most: float = 60.0
    failures: int = 5
    health: float = 30.0


class Restarts:
    """The failures of one server since it was last healthy."""

    def __init__(self, policy: RestartPolicy, chance: Callable[[], float]) -> None:
        self._policy = policy
        self._chance = chance
        self._pauses = 0
        self._strikes = 0

    def lived(self, seconds: float) -> None:
        """Take note of how long the server ran; long enough and its failures are forgotten."""
        if seconds >= self._policy.health:
            self.forget()

    def forget(self) -> None:
        """Begin anew, as for a server that never failed."""
        self._pauses = self._strikes = 0

    def failed(self, *, strikes: bool = True) -> float | None:
        """Return how long to wait before the next start, or None: it failed too often.

        Args:
            strikes: Whether the failure counts against the server. One that is merely out of reach is tried for ever.
        """
        self._strikes += strikes
        if strikes and self._strikes >= self._policy.failures:
            return None
        # Beyond 2**32 the pause is the longest one anyway, and floats stay finite.
        pause = min(self._policy.most, self._policy.first * 2.0 ** min(self._pauses, 32))
        self._pauses += 1
        # Jitter keeps the Computers of one remote server from coming back all at once.
        return max(self._policy.first, pause * (0.5 + self._chance() / 2))
