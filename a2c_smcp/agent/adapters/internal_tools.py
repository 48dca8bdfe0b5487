"""Tools of the Agent's own: functions of the program that a model may call beside the tools of the Computers."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, to_json

from a2c_smcp.agent.adapters.names import check_name
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import SMCPTool
from a2c_smcp.validation import error_words

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class InternalTool:
    """A function with the schema of its arguments, which are checked when a model calls it."""

    tool: SMCPTool
    adapter: "TypeAdapter[Any]"

    def start(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function and return what it returns: of a coroutine function, what is to be awaited.

        Raises:
            BadRequest: The arguments are not those of the function; the message names each.
        """
        try:
            return self.adapter.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, one['loc'])) or 'arguments'} {error_words(one)}" for one in error.errors()
            )
            raise BadRequest(f"Wrong arguments for {self.tool['name']}: {problems}") from None


class InternalTools(Mapping[str, InternalTool]):
    """The tools of an Agent's own by name, each registered with a decorator:

    @agent.internal_tool("browse_document")
    async def browse_document(uri: str, page: int = 0):
        "Read a page of a document"

    Args:
        coroutines: Whether functions may be coroutine functions.
    """

    def __init__(self, *, coroutines: bool = True) -> None:
        self._coroutines = coroutines
        self._tools: dict[str, InternalTool] = {}

    def __call__(self, name: str, description: str | None = None) -> Callable[[Function], Function]:
        """Return the decorator that registers a function; its docstring describes it, its annotations its arguments.

        A name that is registered again is replaced.

        Raises:
            BadRequest: Models would not take the name, the arguments cannot be told in JSON, or the function is a
                coroutine function and nobody could await it.
        """
        check_name(name)

        def register(function: Function) -> Function:
            if not self._coroutines and inspect.iscoroutinefunction(function):
                raise BadRequest(f"{name!r} is a coroutine function, which needs AsyncSMCPAgentClient")
            adapter, schema = _adapter(name, function)
            tool = SMCPTool(
                name=name,
                description=description or inspect.getdoc(function) or "",
                params_schema=schema,
                return_schema=None,
            )
            self._tools[name] = InternalTool(tool, adapter)
            return function

        return register

    def remove(self, name: str) -> None:
        """Take a tool away; one that is not there is no error."""
        self._tools.pop(name, None)

    def __getitem__(self, name: str) -> InternalTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def to_model_text(value: object) -> str:
    """Return what a function returned as a model reads it: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else to_json(value, fallback=str, inf_nan_mode="constants").decode()


def _adapter(name: str, function: Any) -> "tuple[TypeAdapter[Any], dict[str, Any]]":
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(function, config=ConfigDict(arbitrary_types_allowed=False))
        schema = adapter.json_schema()
    except Exception as error:
        raise BadRequest(f"The arguments of {name!r} cannot be told in JSON: {error}") from error
    if schema.get("type") != "object":
        raise BadRequest(f"{name!r} must take its arguments by name, not by place alone")
    return adapter, schema
