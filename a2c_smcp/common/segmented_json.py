"""The JSON of a reply, made in parts none of which takes long: encoding 20 MB in one go would hold up every other call.

Long are the texts of contents, so those are taken out, encoded a segment at a time, and put back into the JSON of the
rest. Pure.
"""

import secrets
from collections.abc import Iterator
from typing import Any, Final

from a2c_smcp.common.fastjson import FastJson

SEGMENT: Final = 128 * 1024
"""Characters that are encoded at once: about half a millisecond."""

LONG: Final = 2 * SEGMENT

_LISTS: Final = ("contents", "content")
_TEXTS: Final = ("text", "blob", "data")
_LOOKED_AT: Final = 32


def json_segments(reply: Any) -> Iterator[bytes]:
    """Yield the JSON of a reply in UTF-8, in one part or in many."""
    marks: dict[bytes, str] = {}
    skeleton = FastJson.encode(_without_long_texts(reply, marks) if _is_heavy(reply) else reply)
    for mark, text in marks.items():
        before, skeleton = skeleton.split(mark, 1)
        yield before + b'"'
        for start in range(0, len(text), SEGMENT):
            yield FastJson.encode(text[start : start + SEGMENT])[1:-1]
        skeleton = b'"' + skeleton
    yield skeleton


def _is_heavy(reply: Any) -> bool:
    # Every reply passes here, so it has to be quick rather than sure: what it misses is encoded in one go.
    if type(reply) is dict:
        for name in _LISTS:
            items = reply.get(name)
            if type(items) is list and any(_length(item) > LONG for item in items[:_LOOKED_AT]):
                return True
    return False


def _length(item: Any) -> int:
    if type(item) is not dict:
        return 0
    for key in _TEXTS:
        text = item.get(key)
        if text is not None:
            return len(text) if type(text) is str else 0
    return _length(item.get("resource"))  # an embedded resource has contents of its own


def _without_long_texts(reply: dict[str, Any], marks: dict[bytes, str]) -> dict[str, Any]:
    # In the order of the reply, which is the order in which the marks are found again.
    return {
        name: [_lightened(item, marks) for item in value] if name in _LISTS and type(value) is list else value
        for name, value in reply.items()
    }


def _lightened(item: Any, marks: dict[bytes, str]) -> Any:
    if type(item) is not dict:
        return item
    light = dict(item)
    for key, value in item.items():
        if key in _TEXTS and isinstance(value, str) and len(value) > LONG:
            mark = secrets.token_hex(16)  # in no text, since nobody can have guessed it
            marks[f'"{mark}"'.encode()] = value
            light[key] = mark
        elif key == "resource":
            light[key] = _lightened(value, marks)
    return light
