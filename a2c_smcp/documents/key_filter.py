"""Which keys a set surely does not hold, told without a look at the disk, in a fixed amount of memory."""

from collections.abc import Iterable
from typing import Final

BITS: Final = 23
"""A mebibyte. With the 60 000 pages that fill a cache of the usual size, one key in a hundred is a false alarm."""


class KeyFilter:
    """A bit for each key that was added, found by how the key begins: keys are digests, so all beginnings are alike.

    What was removed stays, and what was added by others is not known: whoever needs to be sure looks into the set.
    """

    def __init__(self) -> None:
        self._bits = bytearray(1 << BITS - 3)

    def add(self, keys: Iterable[bytes]) -> None:
        """Note that the set may hold these keys."""
        for key in keys:
            place = _place(key)
            self._bits[place >> 3] |= 1 << (place & 7)

    def __contains__(self, key: bytes) -> bool:
        """Whether the set may hold a key."""
        place = _place(key)
        return bool(self._bits[place >> 3] & 1 << (place & 7))


def _place(key: bytes) -> int:
    return int.from_bytes(key[:4]) % (1 << BITS)
