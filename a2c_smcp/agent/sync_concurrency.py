"""What the blocking twins have for `waiting`: answers one after the other, and values that are there."""

import inspect
from collections.abc import Iterable
from typing import Any, Final, TypeAlias, TypeVar

from a2c_smcp.errors import BadRequest

T = TypeVar("T")

AWAITS_COROUTINES: Final = False
"""Whether there is somebody to await a coroutine."""

HandlerResult: TypeAlias = None
"""What a function returns that is called with news."""


def gather(answers: Iterable[T]) -> list[T]:
    """Return the answers in the order of the questions."""
    return list(answers)


def resolve(value: Any) -> Any:
    """Return a value.

    Raises:
        BadRequest: It would have to be awaited.
    """
    if inspect.iscoroutine(value):
        value.close()
        raise BadRequest("A coroutine function needs AsyncSMCPAgentClient; give the blocking client a plain function")
    return value
