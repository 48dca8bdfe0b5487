"""Text that a person decides on: each character that shows nothing, or reorders the text, as its escape. Pure."""

import json
import re
import unicodedata
from typing import Any, Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
"""Controls, format characters, what Unicode has not assigned, and every blank but the plain one."""

# Letters, marks and symbols that are drawn as nothing: joiners, fillers, variation selectors, blanks.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_SUSPECT: Final = re.compile(r"[^\n\x20-\x7e]")
_SUSPECT_IN_LINE: Final = re.compile(r"[^\x20-\x7e]")


def exact(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON that shows all of it: nothing hides, reorders or rounds."""
    return visible(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def visible(text: str) -> str:
    """Return text with every character that cannot be seen as its JSON escape; line ends stay."""
    return _SUSPECT.sub(_escaped, text)


def visible_line(text: str) -> str:
    """Return text as `visible` does, on one line: line ends are escaped, too."""
    return _SUSPECT_IN_LINE.sub(_escaped, text)


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing, or changes how others are shown; the plain blank does not count."""
    if character == " ":
        return False
    return unicodedata.category(character) in _HIDDEN or _BLANK.match(character) is not None


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if not is_hidden(character):
        return character
    # As JSON writes it, so that the text stays JSON.
    return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"
