"""How often something may happen. Pure: the clock is handed in."""


class TokenBucket:
    """A budget that refills with time."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._seen = 0.0

    def wait(self, now: float) -> float:
        """Spend one unit; return how long to wait until it is there."""
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate) - 1
        self._seen = now
        return max(0.0, -self._left / self._rate)
