"""Pydantic's errors in plain words. Pure: no value that was given is quoted."""

from collections.abc import Mapping
from typing import Any, Final

_MUST_BE: Final = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_parsing": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "typed_dict_type": "an object",
    "list_type": "a list",
    "string_unicode": "valid Unicode text",
}

_BOUNDS: Final = {
    "string_too_long": ("max_length", "must have at most {} characters"),
    "too_long": ("max_length", "must have at most {} items"),
    "too_short": ("min_length", "must have at least {} items"),
    "greater_than": ("gt", "must be greater than {:g}"),
    "greater_than_equal": ("ge", "must be at least {:g}"),
    "less_than": ("lt", "must be less than {:g}"),
    "less_than_equal": ("le", "must be at most {:g}"),
}


def error_words(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, to be read after its name: "must be greater than 0"."""
    kind, limits = error["type"], error.get("ctx") or {}
    if kind in _MUST_BE:
        return f"must be {_MUST_BE[kind]}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return words.format(limits[name])
    match kind:
        case "missing" | "missing_argument":
            return "is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "is not known here"
        case "string_too_short" if limits.get("min_length") == 1:
            return "must not be empty"
        case "literal_error":
            return f"must be {limits['expected']}"
        case _:
            return f"is wrong: {error['msg'][0].lower()}{error['msg'][1:]}"
