"""Whether a content has the shape of its category."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from a2c_smcp.documents.content.shapes import SHAPES
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import CATEGORIES, ElementCategory

MAX_PROBLEMS: Final = 10
"""How many places an error names at most."""

_BRANCHES: Final = frozenset({"str", "int", "float", "bool", "ListItem"})

_Content = TypeVar("_Content", bound=Mapping[str, Any])


def validate_content(category: str, content: _Content) -> _Content:
    """Return `content` itself when it has the shape of `category`.

    Raises:
        BadRequest: It has not, or there is no such category; the message names the places to mend.
    """
    try:
        _adapter(category).validate_python(content)
    except ValidationError as error:
        problems = _problems(error)
        raise BadRequest(
            f"The content of this {category} element is not valid: {'; '.join(problems)}",
            details={"category": category, "problems": problems},
        ) from error
    return content


@cache
def _adapter(category: str) -> TypeAdapter[Any]:
    shape = SHAPES.get(cast("ElementCategory", category))
    if shape is None:
        raise BadRequest(f"There is no element category {category!r}; the categories are {', '.join(CATEGORIES)}")
    return TypeAdapter(shape)


def _problems(error: ValidationError) -> list[str]:
    # A value that fits no branch of a union fails once a branch: tell the place once, with all that would have done.
    places: dict[str, dict[str, None]] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        if problem["type"].startswith("recursion"):
            return ["content: nested too deeply"]
        path = [str(part) for part in problem["loc"] if not _is_branch(part)]
        places.setdefault(".".join(path) or "content", {})[problem["msg"]] = None
    told = [f"{place}: {', or '.join(messages)}" for place, messages in places.items()]
    return told if len(told) <= MAX_PROBLEMS else [*told[:MAX_PROBLEMS], f"and {len(told) - MAX_PROBLEMS} more"]


def _is_branch(part: str | int) -> bool:
    return isinstance(part, str) and (part in _BRANCHES or part.startswith("list["))
