"""A token bucket for rate limits. Pure: the caller passes the time."""


class TokenBucket:
    """Allows `rate` units a second on average and `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._seen = 0.0

    def wait(self, now: float) -> float:
        """Take one unit; return the seconds to wait until it is available."""
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate) - 1
        self._seen = now
        return max(0.0, -self._left / self._rate)
