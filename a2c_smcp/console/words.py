"""Values as text that shows exactly what they are: nothing in it hides, reorders or rounds. Pure."""

import json
import re
import unicodedata
from typing import Any, Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_SUSPECT: Final = re.compile(r"[^\n\x20-\x7e]")


def exact(value: Any) -> str:
    """Return a JSON value as indented JSON; characters that show nothing, or turn the text round, as their escapes."""
    return visible(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def visible(text: str) -> str:
    """Return text with every character that cannot be seen as its JSON escape; line ends stay."""
    return _SUSPECT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) not in _HIDDEN:
        return character
    # As JSON writes it, so that the text stays JSON.
    return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"
