"""Types of messages in words."""

import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from typing_extensions import is_typeddict

from a2c_smcp import config_messages
from a2c_smcp import messages as other_messages
from a2c_smcp.messages import Name

MODULES = (other_messages, config_messages)

SIMPLE = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "any value",
}


def messages() -> list[Any]:
    """Return every message, in the order of the source."""
    return [
        kind
        for module in MODULES
        for kind in vars(module).values()
        if is_typeddict(kind) and kind.__module__ == module.__name__
    ]


def name_of(kind: Any) -> str:
    """Return the name by which the module knows a type."""
    return next(name for module in MODULES for name, value in vars(module).items() if value is kind)


def describe(kind: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield the fields of a message: name, type in words, whether it has to be there."""
    hints = typing.get_type_hints(kind, include_extras=True)
    for name, hint in hints.items():
        yield name, in_words(hint), name in kind.__required_keys__


def in_words(hint: Any) -> str:
    """Return a type in words; a message links to its section."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Required):
        return in_words(arguments[0])
    if hint == Name:
        return "name"
    if origin is Annotated:
        return in_words(arguments[0]) + _limits(arguments[1:])
    if is_typeddict(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    if origin in (Union, types.UnionType):
        return _choice([in_words(one) for one in arguments])
    if origin is Literal:
        return " or ".join(f'`"{word}"`' for word in arguments)
    if origin is list:
        return f"list of {in_words(arguments[0])}"
    if origin is dict:
        value = in_words(arguments[1])
        return "object" if value == "any value" else f"object of {value}"
    return SIMPLE.get(hint, str(hint))


def _choice(words: list[str]) -> str:
    if set(words) == {"text", "whole number", "number", "true or false", "null"}:
        return "simple value"
    return " or ".join(words)


def _limits(notes: tuple[Any, ...]) -> str:
    found: list[str] = []
    for note in notes:
        for one in getattr(note, "metadata", [note]):
            if isinstance(one, Gt):
                found.append(f"above {one.gt}")
            elif isinstance(one, Ge):
                found.append(f"at least {one.ge}")
            elif isinstance(one, Le):
                found.append(f"at most {one.le}")
            elif getattr(one, "min_length", None) == 1:
                found.append("not empty")
            elif getattr(one, "pattern", None):
                found.append("64 hexadecimal digits")
    return f" ({', '.join(found)})" if found else ""
