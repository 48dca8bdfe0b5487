"""The arguments of a tool, from the words of a command line and the tool's schema. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.errors import BadRequest

_PLAIN: Final = "string"
_CHOICES: Final = ("anyOf", "oneOf", "allOf")
_DEPTH: Final = 8
"""References that are followed: a schema may refer to itself."""


def params_of(words: Sequence[str], schema: Mapping[str, Any], read_input: Callable[[], str]) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        BadRequest: A word is neither `NAME=VALUE` nor a JSON object.
    """
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _object(read_input() if words[0] == "-" else words[0])
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    params: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name:
            raise BadRequest(f"{word!r} is no argument; write NAME=VALUE, or all arguments as one JSON object")
        params[name] = _value(name, text, kinds_of(known.get(name), schema))
    return params


def kinds_of(schema: Any, root: Mapping[str, Any], depth: int = _DEPTH) -> list[str]:
    """Return the JSON types that a schema allows, as one of several or by reference too; none where it does not say."""
    if not isinstance(schema, Mapping) or not depth:
        return []
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, list):
        return [str(one) for one in kind]
    choices = [one for word in _CHOICES if isinstance(schema.get(word), list) for one in schema[word]]
    if isinstance(reference := schema.get("$ref"), str):
        choices.append(_target(reference, root))
    values = schema.get("enum")
    found = [_PLAIN if isinstance(value, str) else "a listed value" for value in values or ()]
    found += [kind for choice in choices for kind in kinds_of(choice, root, depth - 1)]
    return list(dict.fromkeys(found))


def _target(reference: str, root: Mapping[str, Any]) -> Any:
    place: Any = root
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
    return place


def _value(name: str, text: str, kinds: Sequence[str]) -> Any:
    if not kinds or _PLAIN in kinds:
        return text
    try:
        return json.loads(text)
    except ValueError:
        expected = " or ".join(kinds)
        raise BadRequest(f"{name}={text}: the tool wants {expected}, written as JSON") from None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRequest("the arguments must be one JSON object")
    return value
