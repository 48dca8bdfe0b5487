"""Estimates the memory of a JSON value, and shortens one to a limit. Pure."""

from functools import lru_cache
from typing import Any, Final

from a2c_smcp.redaction import REDACTED, names_a_secret

NODE: Final = 16
"""The weight of a value without its text, so that a million empty lists are not free."""

MAX_DEPTH: Final = 4
MAX_ITEMS: Final = 20
MAX_TEXT: Final = 500
ELLIPSIS: Final = "…"

_is_secret = lru_cache(maxsize=1024)(names_a_secret)


def weigh(value: Any, ceiling: float = float("inf")) -> int:
    """Return the weight of a JSON value: its characters, and a constant for each node.

    Counting stops above `ceiling`. Shared values count each time, as they would when encoded.
    """
    total = 0
    waiting = [value]
    while waiting and total <= ceiling:
        item = waiting.pop()
        total += NODE
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict):
            total += sum(map(len, item))
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return total


def shorten_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a small copy of a JSON value: long strings and lists are truncated, secrets by name are redacted."""
    match value:
        case str():
            return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + ELLIPSIS
        case dict() | list() if not depth:
            return ELLIPSIS
        case dict():
            small = {
                key[:MAX_TEXT]: REDACTED
                if item is not None and _is_secret(key[:MAX_TEXT])
                else shorten_json(item, depth - 1)
                for key, item in list(value.items())[:MAX_ITEMS]
            }
            return small if len(value) <= MAX_ITEMS else small | {ELLIPSIS: len(value) - MAX_ITEMS}
        case list():
            items = [shorten_json(item, depth - 1) for item in value[:MAX_ITEMS]]
            return items if len(value) <= MAX_ITEMS else [*items, ELLIPSIS]
        case _:
            return value
