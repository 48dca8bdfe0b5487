"""Long lists in pages. Pure.

A cursor names the last thing that was given, so that pages fit together while the list changes.
"""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from a2c_smcp.errors import BadRequest

T = TypeVar("T")
Key: TypeAlias = tuple[str, ...]


def page_of(
    items: Sequence[T], key: Callable[[T], Key], cursor: str | None, size: int
) -> tuple[Sequence[T], str | None]:
    """Return the page after `cursor` and the cursor of the next one, None when there is none.

    Args:
        items: In the order of their keys, which are all different.

    Raises:
        BadRequest: The cursor is none of ours.
    """
    start = 0 if cursor is None else bisect_right(items, _decoded(cursor), key=key)
    page = items[start : start + size]
    return page, encoded(key(page[-1])) if start + size < len(items) else None


def encoded(key: Key) -> str:
    """Return the cursor behind the thing with this key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> Key:
    try:
        key = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or not all(isinstance(part, str) for part in key):
        raise BadRequest("The cursor is not one that this list gave; list again from the beginning")
    return tuple(key)
