"""When a server that failed is started again. Pure: chance is given, time is counted by others."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How patient a Computer is with a failing server. Times are seconds.

    Attributes:
        first: The shortest pause before a new start; it doubles with every failure.
        most: The longest pause.
        failures: After so many failures without health between them, pauses become those of `long`.
        health: A server that ran for so long has recovered: its failures are forgotten.
        long: The pauses after too many failures, or after a start that took too long; the last one repeats.
    """

    first: float = 0.5
    most: float = 60.0
    failures: int = 5
    health: float = 30.0
    long: tuple[float, ...] = (300.0, 900.0, 3600.0)


@dataclass(frozen=True, slots=True)
class RestartDelay:
    """The time before the next start.

    Attributes:
        long: Whether the server failed too often to be tried again soon.
    """

    seconds: float
    long: bool = False


class RestartCounter:
    """The failures of one server since it was last healthy."""

    def __init__(self, policy: RestartPolicy, chance: Callable[[], float]) -> None:
        self._policy = policy
        self._chance = chance
        self._pauses = 0
        self._strikes = 0
        self._long = 0

    def lived(self, seconds: float) -> None:
        """Take note of how long the server ran; long enough and its failures are forgotten."""
        if seconds >= self._policy.health:
            self.forget()

    def forget(self) -> None:
        """Begin anew, as for a server that never failed."""
        self._pauses = self._strikes = self._long = 0

    def failed(self, *, strikes: bool = True, slow: bool = False) -> RestartDelay:
        """Return how long to wait before the next start.

        Args:
            strikes: Whether the failure counts against the server. One that is merely out of reach does not.
            slow: Whether it is of no use to try again soon, however seldom the server failed.
        """
        self._strikes += strikes
        if slow or (strikes and self._strikes >= self._policy.failures):
            steps = self._policy.long
            pause = steps[min(self._long, len(steps) - 1)]
            self._long += 1
            return RestartDelay(pause * self._spread(), long=True)
        # Beyond 2**32 the pause is the longest one anyway, and floats stay finite.
        pause = min(self._policy.most, self._policy.first * 2.0 ** min(self._pauses, 32))
        self._pauses += 1
        return RestartDelay(max(self._policy.first, pause * self._spread()))

    def _spread(self) -> float:
        # Jitter keeps the Computers of one remote server from coming back all at once.
        return 0.5 + self._chance() / 2
