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


def error_words(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, to be read after its name: "must be greater than 0"."""
    kind, limits = error["type"], error.get("ctx") or {}
    if kind in _MUST_BE:
        return f"must be {_MUST_BE[kind]}"
    match kind:
        case "missing" | "missing_argument":
            return "is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "is not known here"
        case "string_too_short" if limits.get("min_length") == 1:
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {limits['max_length']} characters"
        case "too_long":
            return f"must have at most {limits['max_length']} items"
        case "greater_than":
            return f"must be greater than {limits['gt']:g}"
        case "greater_than_equal":
            return f"must be at least {limits['ge']:g}"
        case "less_than_equal":
            return f"must be at most {limits['le']:g}"
        case "less_than":
            return f"must be less than {limits['lt']:g}"
        case "literal_error":
            return f"must be {limits['expected']}"
        case _:
            return f"is wrong: {error['msg'][0].lower()}{error['msg'][1:]}"
