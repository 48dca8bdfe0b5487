"""The JSON of a reply, made in parts none of which takes long: encoding 20 MB in one go would hold up every other call.

Long are the texts of contents, so those are taken out, encoded a segment at a time, and put back into the JSON of the
rest. Pure.
"""

import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Final

from a2c_smcp.fastjson import FastJson

SEGMENT: Final = 128 * 1024
"""Characters that are encoded at once: about half a millisecond."""

LONG: Final = 2 * SEGMENT

_LISTS: Final = ("contents", "content")
_TEXTS: Final = ("text", "blob", "data")


def encoded(reply: Any) -> Iterator[bytes]:
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
    return isinstance(reply, Mapping) and any(
        isinstance(text, str) and len(text) > LONG for item in _items(reply) for text in _texts(item)
    )


def _items(reply: Mapping[str, Any]) -> Iterator[Any]:
    for name in _LISTS:
        if isinstance(items := reply.get(name), list):
            yield from items


def _texts(item: Any) -> Iterator[Any]:
    if isinstance(item, Mapping):
        yield from (item.get(key) for key in _TEXTS)
        yield from _texts(item.get("resource"))  # an embedded resource has contents of its own


def _without_long_texts(reply: Mapping[str, Any], marks: dict[bytes, str]) -> dict[str, Any]:
    light = dict(reply)
    for name in _LISTS:
        if isinstance(items := light.get(name), list):
            light[name] = [_lightened(item, marks) for item in items]
    return light


def _lightened(item: Any, marks: dict[bytes, str]) -> Any:
    if not isinstance(item, Mapping):
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
