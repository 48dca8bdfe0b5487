"""The ways in which a secret may be written in a text by others. Pure."""

import json
from typing import Final
from urllib.parse import quote, quote_plus

MIN_LENGTH: Final = 4
"""Shorter values are not looked for in texts: they stand in too many of them by chance."""

_LINE: Final = 16


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
