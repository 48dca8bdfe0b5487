"""The Agent's own tools: Python functions that a model can call together with the tools of the Computers."""

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
    """A function and the schema of its arguments, which are validated for each call."""

    tool: SMCPTool
    adapter: "TypeAdapter[Any]"

    def start(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function and return its result, which is an awaitable for a coroutine function.

        Raises:
            BadRequest: The arguments do not match the function; the message names each.
        """
        try:
            return self.adapter.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, one['loc'])) or 'arguments'} {error_words(one)}" for one in error.errors()
            )
            raise BadRequest(f"Invalid arguments for {self.tool['name']}: {problems}") from None


class InternalTools(Mapping[str, InternalTool]):
    """The Agent's own tools by name, each registered with a decorator:

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
        """Return a decorator that registers a function: docstring as description, annotations as arguments.

        Registering a name again replaces the tool.

        Raises:
            BadRequest: Model APIs do not accept the name, the arguments have no JSON Schema, or the function is a
                coroutine function and `coroutines` is False.
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
        """Remove a tool if it is registered."""
        self._tools.pop(name, None)

    def __getitem__(self, name: str) -> InternalTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def to_model_text(value: object) -> str:
    """Return the result of a function as text for a model: a string unchanged, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else to_json(value, fallback=str, inf_nan_mode="constants").decode()


def _adapter(name: str, function: Any) -> "tuple[TypeAdapter[Any], dict[str, Any]]":
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(function, config=ConfigDict(arbitrary_types_allowed=False))
        schema = adapter.json_schema()
    except Exception as error:
        raise BadRequest(f"The arguments of {name!r} have no JSON Schema: {error}") from error
    if schema.get("type") != "object":
        raise BadRequest(f"{name!r} must accept its arguments by name: remove positional-only parameters")
    return adapter, schema
