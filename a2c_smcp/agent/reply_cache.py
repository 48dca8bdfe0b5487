"""A bounded cache of replies that is cleared when they may be out of date."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final

BYTES_PER_VALUE: Final = 64
"""Estimated memory of any value, without its contents."""


class ReplyCache:
    """An LRU cache of replies, by request.

    Never returns a reply to a request that was sent before the latest `clear()`: read `version` before the request and
    pass it to `put`. `clear()` may be called from another thread.

    Args:
        capacity: Estimated bytes that it may hold; 0 disables it.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.version = 0
        self.size = 0
        self._replies: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return the reply, or None if it is not cached."""
        with self._lock:
            if key not in self._replies:
                return None
            self._replies.move_to_end(key)
            return self._replies[key][1]

    def put(self, key: Hashable, reply: Any, version: int) -> None:
        """Cache a reply to a request that was sent at this version."""
        cost = estimate_bytes(reply)
        with self._lock:
            if version != self.version or cost > self.capacity:
                return
            self.size += cost - self._replies.pop(key, (0, None))[0]
            self._replies[key] = cost, reply
            while self.size > self.capacity:
                self.size -= self._replies.popitem(last=False)[1][0]

    def clear(self) -> None:
        """Drop all replies, and those to pending requests."""
        with self._lock:
            self.version += 1
            self.size = 0
            self._replies.clear()


def estimate_bytes(value: Any) -> int:
    """Return the estimated memory of a JSON value in bytes."""
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        total += BYTES_PER_VALUE
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return total
