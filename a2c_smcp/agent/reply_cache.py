"""What was read stays on the shelf until it is old, or the shelf is full."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final

BYTES_PER_VALUE: Final = 64
"""About how many bytes any value takes, however small."""


class ReplyCache:
    """Replies by what was asked for; the least recently used leave first.

    A reply counts only if nothing changed between question and answer: the question notes the `edition`, and `put`
    passes over what belongs to an earlier one. Safe to clear from another thread.

    Args:
        capacity: About how many bytes it holds; with 0 it holds nothing.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.edition = 0
        self.size = 0
        self._replies: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return a reply, or None where it is not on the shelf."""
        with self._lock:
            if key not in self._replies:
                return None
            self._replies.move_to_end(key)
            return self._replies[key][1]

    def put(self, key: Hashable, reply: Any, edition: int) -> None:
        """Keep a reply to a question that was asked at that edition."""
        weight = estimate_bytes(reply)
        with self._lock:
            if edition != self.edition or weight > self.capacity:
                return
            self.size += weight - self._replies.pop(key, (0, None))[0]
            self._replies[key] = weight, reply
            while self.size > self.capacity:
                self.size -= self._replies.popitem(last=False)[1][0]

    def clear(self) -> None:
        """Forget everything, and all answers that are still on their way."""
        with self._lock:
            self.edition += 1
            self.size = 0
            self._replies.clear()


def estimate_bytes(value: Any) -> int:
    """Return about how many bytes a value of JSON takes."""
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
