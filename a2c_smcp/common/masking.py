"""Known secret values and their removal from texts written by others. Pure.

The patterns of `a2c_smcp.redaction` cannot recognize a secret that looks like a word. Here the values are known.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote, quote_plus

from a2c_smcp.redaction import REDACTED

MIN_LENGTH: Final = 4
"""Shorter values are not looked for in texts: they stand in too many of them by chance."""

_LINE: Final = 16


class SecretMask:
    """Replaces known values in texts, in every spelling that `spellings` returns."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        found = {form for value in values if len(value) >= MIN_LENGTH for form in spellings(value)}
        # The longest first, so that a value that contains another is hidden whole.
        parts = [re.escape(value) for value in sorted(found, key=len, reverse=True)]
        self._pattern = re.compile("|".join(parts)) if parts else None

    def hide(self, text: str) -> str:
        """Return `text` with every value to hide replaced."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def hide_in(self, value: Any) -> Any:
        """Return a JSON value with every value to hide replaced in its texts and keys."""
        match value:
            case str():
                return self.hide(value)
            case list():
                return [self.hide_in(item) for item in value]
            case dict():
                return {self.hide(key): self.hide_in(item) for key, item in value.items()}
            case _:
                return value


def spellings(value: str) -> set[str]:
    """Return a value as it is, in a URL, inside a JSON or Python text, and line by line where it has long ones."""
    lines = [line.strip() for line in value.splitlines()]
    texts = {value, value.strip(), *(line for line in lines if len(line) >= _LINE)}
    # An environment may hold bytes that are no text: then the URL form is not looked for, and nothing fails.
    spelled = texts | {quote(text, errors="replace") for text in texts}
    spelled |= {way(text, safe="", errors="replace") for text in texts for way in (quote, quote_plus)}
    # These put quotes around a text; what is inside them is what is looked for.
    spelled |= {way(text)[1:-1] for text in texts for way in (repr, json.dumps, _json_letters)}
    return {text for text in spelled if len(text) >= MIN_LENGTH}


def _json_letters(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
