"""Decides when a failed server is started again. Pure: the caller supplies randomness and measures time."""

from collections.abc import Callable
from dataclasses import dataclass

from a2c_smcp.common.backoff import backoff_delay


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Delays between restarts of a failing server, in seconds.

    Attributes:
        first: The shortest delay; it doubles with every failure.
        most: The longest delay.
        failures: After this many failures in a row the delays of `long` apply.
        health: A server that ran this long has recovered: its failures no longer count.
        long: The delays after too many failures or a start that timed out; the last one repeats.
    """

    first: float = 0.5
    most: float = 60.0
    failures: int = 5
    health: float = 30.0
    long: tuple[float, ...] = (300.0, 900.0, 3600.0)


@dataclass(frozen=True, slots=True)
class RestartDelay:
    """The delay before the next start.

    Attributes:
        long: Whether it is one of the long delays.
    """

    seconds: float
    long: bool = False


class RestartCounter:
    """Counts the failures of one server since it was last healthy."""

    def __init__(self, policy: RestartPolicy, random: Callable[[], float]) -> None:
        self._policy = policy
        self._random = random
        self._pauses = 0
        self._failures = 0
        self._long = 0

    def ran_for(self, seconds: float) -> None:
        """Record how long the server ran; a healthy run resets the counter."""
        if seconds >= self._policy.health:
            self.reset()

    def reset(self) -> None:
        """Start over, as for a server that never failed."""
        self._pauses = self._failures = self._long = 0

    def next_delay(self, *, counts: bool = True, slow: bool = False) -> RestartDelay:
        """Record a failure and return the delay before the next start.

        Args:
            counts: Whether the failure counts towards the limit. An unreachable server does not count.
            slow: Whether to use a long delay in any case.
        """
        self._failures += counts
        if slow or (counts and self._failures >= self._policy.failures):
            steps = self._policy.long
            pause = steps[min(self._long, len(steps) - 1)]
            self._long += 1
            return RestartDelay(pause * self._jitter(), long=True)
        pause = backoff_delay(self._pauses, base=self._policy.first, longest=self._policy.most)
        self._pauses += 1
        return RestartDelay(max(self._policy.first, pause * self._jitter()))

    def _jitter(self) -> float:
        # Jitter keeps the Computers of one remote server from reconnecting at the same moment.
        return 0.5 + self._random() / 2
