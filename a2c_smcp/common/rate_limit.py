"""Rate limiting: a token bucket, and a throttle that counts what it suppressed. Pure: callers pass the time."""


class TokenBucket:
    """Refills with `rate` tokens a second, up to `burst`. A rate of 0 means no limit."""

    __slots__ = ("_at", "_level", "burst", "rate")

    def __init__(self, rate: float, burst: float, now: float = 0.0) -> None:
        self.rate = rate
        self.burst = burst
        self._level = burst
        self._at = now

    def take(self, now: float, cost: float = 1) -> bool:
        """Take `cost` tokens if the bucket holds at least one; return whether it did.

        A cost above the level leaves a debt that delays later callers.
        """
        if not self.rate:
            return True
        level = min(self.burst, self._level + (now - self._at) * self.rate)
        self._at = now
        if level < 1:
            self._level = level
            return False
        self._level = level - cost
        return True

    def reserve(self, now: float) -> float:
        """Take one token, in advance if necessary; return the seconds until it is available."""
        if not self.rate:
            return 0.0
        self._level = min(self.burst, self._level + (now - self._at) * self.rate) - 1
        self._at = now
        return max(0.0, -self._level / self.rate)


class Throttle:
    """Allows `limit` events in a window of `seconds` and counts the rest.

    A window starts with the first event after the previous window.
    """

    __slots__ = ("_allowed", "_ends", "_limit", "_seconds", "_suppressed")

    def __init__(self, limit: int, seconds: float = 1.0) -> None:
        self._limit = limit
        self._seconds = seconds
        self._ends = float("-inf")
        self._allowed = 0
        self._suppressed = 0

    def allows(self, now: float) -> bool:
        """Count an event; return whether it is within the limit."""
        if now >= self._ends:
            self._ends, self._allowed = now + self._seconds, 0
        if self._allowed < self._limit:
            self._allowed += 1
            return True
        self._suppressed += 1
        return False

    def take_suppressed(self) -> int:
        """Return how many events were suppressed since the last call."""
        suppressed, self._suppressed = self._suppressed, 0
        return suppressed
