"""Configuration problems as messages a person can act on: where, what is wrong, how to fix it. Pure.

No message contains a value, because any value may be a secret, except the words of an enumeration such as "type".
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from a2c_smcp.errors import InvalidConfig

JsonPath: TypeAlias = tuple[str | int, ...]
"""A path in a JSON document: keys and indexes from the root."""

MAX_PROBLEMS: Final = 100
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$@][\w$@/-]*", re.ASCII)
_SYNONYMS: Final[Mapping[str, str]] = {"http": "streamable", "local": "stdio"}
_MUST_BE: Final[Mapping[str, str]] = {
    "string_type": "a text in double quotes",
    "bool_type": "true or false",
    "list_type": "a list [ … ]",
    "dict_type": "an object { … }",
    "model_type": "an object { … }",
    "model_attributes_type": "an object { … }",
    "float_type": "a number",
    "finite_number": "a finite number",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its path and what to do about it."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def path_text(place: JsonPath) -> str:
    """Return a path as people write it: `servers.github.args[0]`, `servers["my server"].url`."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{quoted(part)}]"
    return text


def quoted(word: str) -> str:
    """Return a word in quotes, shortened and escaped so that any terminal can print it on one line."""
    cut = word if len(word) <= 60 else word[:59] + "…"
    # Escape lone surrogates and control characters; letters of any language stay readable.
    return "".join(
        char if char.isprintable() else json.dumps(char)[1:-1] for char in json.dumps(cut, ensure_ascii=False)
    )


def one_of(words: Iterable[str]) -> str:
    """Return words as an enumeration: `"a", "b" or "c"`."""
    *first, last = [quoted(word) for word in words]
    return f"{', '.join(first)} or {last}" if first else last


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` is probably a misspelling of, if any."""
    by_fold = {name.casefold().replace("-", "_"): name for name in known}
    found = difflib.get_close_matches(word.casefold().replace("-", "_")[:100], by_fold, n=1, cutoff=0.7)
    return by_fold[found[0]] if found else None


def json_type(value: object) -> str:
    """Return a description of a JSON value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a Python {type(value).__name__}"


def invalid(source: str, problems: Iterable[Problem]) -> InvalidConfig:
    """Return the error that reports all problems of one configuration together."""
    lines = list(dict.fromkeys(str(problem) for problem in problems))
    if len(lines) > MAX_PROBLEMS:
        lines = [*lines[:MAX_PROBLEMS], f"and {len(lines) - MAX_PROBLEMS} more"]
    text = f" {lines[0]}" if len(lines) == 1 else "".join(f"\n  {line}" for line in lines)
    return InvalidConfig(f"{source}:{text}", details={"problems": lines})


def problems_of(
    error: ValidationError, model: type[BaseModel], locate: Callable[[JsonPath], JsonPath] = lambda place: place
) -> list[Problem]:
    """Return the problems of data that `model` rejected.

    Args:
        locate: Maps a path in the data to the path in the file that a person has to edit.
    """
    problems = []
    for fault in error.errors(include_url=False):
        spot = _resolve(model, fault["loc"])
        place = (*spot.place, "type") if fault["type"].startswith("union_tag") else spot.place
        if fault["type"] == "finite_number" and place[-1] == "float":  # the tag of a number in free JSON
            place = place[:-1]
        problems.append(Problem(path_text(locate(place)), _explain(fault, spot)))
    return problems


def not_a_choice(given: object, known: Sequence[str]) -> str:
    """Return the message for a value that should be one of the known words."""
    if not isinstance(given, str):
        return f"is {json_type(given)}; write {one_of(known)}"
    meant = nearest(given, known)
    also = _SYNONYMS.get(given.casefold())
    if meant is None and also in known:
        meant = also
    hint = f"did you mean {quoted(meant)}?" if meant else f"write {one_of(known)}"
    return f"is {quoted(given)}, which is not known; {hint}"


@dataclass(frozen=True, slots=True)
class _Location:
    """A resolved Pydantic location: the path, the model that owns it, its field and its type."""

    place: JsonPath
    owner: type[BaseModel]
    field: FieldInfo | None
    kind: Any


def _explain(fault: Any, spot: _Location) -> str:
    kind, given = fault["type"], fault["input"]
    match kind:
        case "missing":
            return f"is missing; add it{_example(spot.field)}"
        case "extra_forbidden":
            return f"is not a known key; {_hint(fault['loc'][-1], spot.owner)}"
        case "union_tag_not_found":
            return f"is missing; write {one_of(_tags(spot.kind))}"
        case "union_tag_invalid":
            return not_a_choice(given["type"], _tags(spot.kind))
        case "literal_error":
            return not_a_choice(given, get_args(_bare(spot.kind)))
        case _ if kind in _MUST_BE:
            return f"is {json_type(given)}; it must be {_MUST_BE[kind]}{_example(spot.field)}"
        case _:
            # The messages of our own rules ("config") and of Pydantic's remaining rules never contain a value.
            return str(fault["msg"])


def _hint(key: object, owner: type[BaseModel]) -> str:
    known = list(owner.model_fields)
    if meant := nearest(str(key), known):
        return f"did you mean {quoted(meant)}?"
    parameters = owner.model_fields.get("server_parameters")
    if parameters is not None and str(key) in getattr(parameters.annotation, "model_fields", ()):
        return 'move it into "server_parameters"'
    return f"the keys here are {', '.join(known)}"


def _example(field: FieldInfo | None) -> str:
    return f", for example {json.dumps(field.examples[0])}" if field is not None and field.examples else ""


def _resolve(model: type[BaseModel], loc: Iterable[str | int]) -> _Location:
    """Follow a location through the model, skipping what Pydantic inserts: union tags and "[key]"."""
    kind: Any = model
    place: list[str | int] = []
    owner = model
    field: FieldInfo | None = None
    in_mapping = False
    for part in loc:
        kind = _bare(kind)
        origin = get_origin(kind)
        if origin in {Union, UnionType}:
            kind = next((member for member in get_args(kind) if part in _tags(member)), Any)
            continue
        if in_mapping and part == "[key]":
            continue
        field, in_mapping = None, origin is dict
        if _is_model(kind):
            owner, field = kind, kind.model_fields.get(str(part))
            kind = field.annotation if field is not None else Any
        elif origin in {dict, list}:
            kind = get_args(kind)[-1]
        place.append(part)
    return _Location(tuple(place), owner, field, kind)


def _bare(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, UnionType}:
        members = [member for member in get_args(kind) if member is not type(None)]
        if len(members) == 1:
            return _bare(members[0])
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _tags(kind: Any) -> tuple[str, ...]:
    """Return the allowed values of "type" for a model, or for all members of a union."""
    kind = _bare(kind)
    if _is_model(kind):
        return get_args(kind.model_fields["type"].annotation)
    return tuple(tag for member in get_args(kind) for tag in _tags(member))
