"""Delays between retries: they double with every failure up to a maximum, with jitter where many clients retry."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

_system_random = random.SystemRandom()


def backoff_delay(failures: int, *, base: float, longest: float) -> float:
    """Return `base` doubled once per failure, at most `longest`; without jitter."""
    # Beyond 2**32 the delay is `longest` anyway, and the float stays finite.
    return min(longest, base * 2.0 ** min(failures, 32))


@dataclass(slots=True)
class Backoff:
    """Delays in seconds that grow with every failure, at most `longest`.

    Attributes:
        uniform: Returns a random number between two bounds.
        failures: Failures since the last `reset`.
    """

    base: float = 0.5
    longest: float = 30.0
    uniform: Callable[[float, float], float] = field(default=_system_random.uniform, repr=False)
    failures: int = 0

    def next(self) -> float:
        """Return the delay after one more failure: random between 0 and `base`, doubled with each failure.

        Full jitter keeps the clients of a server that comes back from connecting all at once.
        """
        return self.uniform(0, self._count(self.base))

    def slow(self) -> float:
        """Return the delay after a failure that an immediate retry cannot solve; never less than `2 * base`."""
        longest = self._count(4 * self.base)
        return self.uniform(longest / 2, longest)

    def exact(self) -> float:
        """Return the delay after one more failure, without jitter."""
        return self._count(self.base)

    def reset(self) -> None:
        """Start again with the shortest delay."""
        self.failures = 0

    def fresh(self) -> "Backoff":
        """Return a copy that has seen no failure."""
        return Backoff(self.base, self.longest, self.uniform)

    def _count(self, base: float) -> float:
        delay = backoff_delay(self.failures, base=base, longest=self.longest)
        self.failures += 1
        return delay
