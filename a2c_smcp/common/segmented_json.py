"""Encodes a reply as JSON in segments, because encoding 20 MB at once would block the event loop.

Only the texts of contents are long: each is replaced by a random mark, the rest is encoded, and the text is encoded in
segments at the position of its mark.
"""

import secrets
from collections.abc import Iterator
from typing import Any, Final

from a2c_smcp.common.fastjson import FastJson

SEGMENT: Final = 128 * 1024
"""Characters per segment: about half a millisecond."""

LONG: Final = 2 * SEGMENT

_LISTS: Final = ("contents", "content")
_TEXTS: Final = ("text", "blob", "data")
_CHECKED_ITEMS: Final = 32


def json_segments(reply: Any) -> Iterator[bytes]:
    """Yield the JSON of a reply in UTF-8, in one or more segments."""
    marks: dict[bytes, str] = {}
    skeleton = FastJson.encode(_without_long_texts(reply, marks) if _has_long_text(reply) else reply)
    for mark, text in marks.items():
        before, skeleton = skeleton.split(mark, 1)
        yield before + b'"'
        for start in range(0, len(text), SEGMENT):
            yield FastJson.encode(text[start : start + SEGMENT])[1:-1]
        skeleton = b'"' + skeleton
    yield skeleton


def _has_long_text(reply: Any) -> bool:
    # Every reply passes here, so this check is fast rather than exact: what it misses is encoded at once.
    if type(reply) is dict:
        for name in _LISTS:
            items = reply.get(name)
            if type(items) is list and any(_length(item) > LONG for item in items[:_CHECKED_ITEMS]):
                return True
    return False


def _length(item: Any) -> int:
    if type(item) is not dict:
        return 0
    for key in _TEXTS:
        text = item.get(key)
        if text is not None:
            return len(text) if type(text) is str else 0
    return _length(item.get("resource"))  # an embedded resource has its own contents


def _without_long_texts(reply: dict[str, Any], marks: dict[bytes, str]) -> dict[str, Any]:
    # In the order of the reply, in which the marks are replaced later.
    return {
        name: [_replace_long_texts(item, marks) for item in value] if name in _LISTS and type(value) is list else value
        for name, value in reply.items()
    }


def _replace_long_texts(item: Any, marks: dict[bytes, str]) -> Any:
    if type(item) is not dict:
        return item
    copy = dict(item)
    for key, value in item.items():
        if key in _TEXTS and isinstance(value, str) and len(value) > LONG:
            mark = secrets.token_hex(16)  # unguessable, so it occurs in no text
            marks[f'"{mark}"'.encode()] = value
            copy[key] = mark
        elif key == "resource":
            copy[key] = _replace_long_texts(value, marks)
    return copy
