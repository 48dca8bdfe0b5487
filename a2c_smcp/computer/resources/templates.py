"""Matches URIs against resource templates: the simple forms of RFC 6570. Pure.

`{name}` matches one or more characters of a path segment, `{+name}` and `{name*}` also slashes; `{/name}` is a segment
with its slash; `{?…}`, `{&…}` and `{#…}` at the end are optional. Templates come from MCP servers and URIs from Agents,
both untrusted, so matching takes one step per character; a regular expression could backtrack.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_OPTIONAL_TAIL = re.compile(r"(?:\{[?&#][^{}]*\})+\Z")
_BORDERS: Final = frozenset("/?#")
_MAX_TEMPLATE: Final = 2_000


class _Pattern(NamedTuple):
    """A template compiled to a bit-parallel automaton: one bit for each step.

    Attributes:
        letters: The steps that match exactly this character.
        inner: The steps that match any character of a segment, repeatedly.
        wide: The steps that match any character, repeatedly.
        tail: Whether a query or fragment may follow.
    """

    letters: dict[str, int]
    inner: int
    wide: int
    end: int
    tail: bool


def fits(uri: str, template: str) -> bool:
    """Whether `template` can be expanded to `uri`."""
    pattern = _compile(template)
    if pattern is None:
        return False
    if _matches(uri, pattern):
        return True
    core = re.split(r"[?#&]", uri, maxsplit=1)[0] if pattern.tail else uri
    return core != uri and _matches(core, pattern)


def literal_length(template: str) -> int:
    """Return the length of the literal part of a template: the longer, the more specific."""
    return len(_EXPRESSION.sub("", template))


def _matches(uri: str, pattern: _Pattern) -> bool:
    again = pattern.inner | pattern.wide
    states = 1
    for character in uri:
        takes = pattern.letters.get(character, 0) | pattern.wide
        if character not in _BORDERS:
            takes |= pattern.inner
        moved = states & takes
        states = (moved << 1) | (moved & again)
        if not states:
            return False
    return bool(states & pattern.end)


@lru_cache(maxsize=1_024)
def _compile(template: str) -> _Pattern | None:
    if len(template) > _MAX_TEMPLATE:
        return None
    core = _OPTIONAL_TAIL.sub("", template)
    letters: dict[str, int] = {}
    inner = wide = 0
    step = 1
    position = 0
    for expression in [*_EXPRESSION.finditer(core), None]:
        literal = core[position : expression.start()] if expression else core[position:]
        name = expression[1] if expression else ""
        for character in literal + ("/" if name.startswith("/") else ""):
            letters[character] = letters.get(character, 0) | step
            step <<= 1
        if expression:
            if name.startswith("+") or name.endswith("*"):
                wide |= step
            else:
                inner |= step
            step <<= 1
            position = expression.end()
    return _Pattern(letters, inner, wide, step, core != template)
