"""Shapes results as configured: `ret_object_mapper` (JMESPath) and `vrl`.

Both add a JSON string to the result's `meta` and leave the content unchanged. A failure is reported in `meta` too.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Protocol

from a2c_smcp.common.extras import install_hint
from a2c_smcp.computer.config.models import ComputerConfig
from a2c_smcp.computer.config.problems import Problem
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.results import MAPPED, MAPPED_ERROR, VRL_ERROR, VRL_TRANSFORMED, with_meta
from a2c_smcp.computer.tools.sizes import weigh
from a2c_smcp.computer.tools.vrl import VrlError, VrlRunner, check_vrl

MAX_RESULT: Final = 2 << 20
"""The weight limit of a result that is shaped."""

MAX_INLINE: Final = 64 << 10
"""The weight limit of a result that is mapped on the event loop, which takes a millisecond."""

MAX_MAPPED: Final = 4 << 20
MAX_EXPRESSION: Final = 4096
MAX_MESSAGE: Final = 200
MAX_MESSAGES: Final = 10
MAX_DEPTH: Final = 8

TOO_LARGE: Final = f"the result is larger than {MAX_RESULT >> 20} MiB"

_LONE: Final = re.compile("[\ud800-\udfff]")


class Expression(Protocol):
    """A compiled JMESPath expression."""

    def search(self, value: Any) -> Any:
        """Return the match in a JSON value."""


class MapperError(ValueError):
    """An expression is invalid; the message says why."""


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """Return a compiled JMESPath expression.

    Raises:
        MapperError: The expression is invalid, or the library is missing.
    """
    if len(text) > MAX_EXPRESSION:
        raise MapperError(f"the expression is longer than {MAX_EXPRESSION} characters")
    try:
        compiled: Expression = import_module("jmespath").compile(text)
    except ImportError:
        raise MapperError(f"ret_object_mapper needs an extra: {install_hint('computer')}") from None
    except (ValueError, RecursionError) as error:
        raise MapperError(_line(error)) from None
    return compiled


def check_mapper(mapper: Mapping[str, Any]) -> str | None:
    """Return the problems of a `ret_object_mapper` as one line, or None."""
    messages: list[str] = []
    _map(mapper, (), "", messages)
    return _joined(messages)


def map_result(mapper: Mapping[str, Any], result: Json) -> tuple[Json, str | None]:
    """Return a result's fields under the caller's names, and a description of errors.

    A string in the mapper is a JMESPath expression over `source_of(result)` and, without a match there, over the whole
    result; objects and lists are mapped recursively, and other values are constants. A field whose expression fails is
    None.
    """
    messages: list[str] = []
    mapped: Json = _map(mapper, (source_of(result), result), "", messages)
    return mapped, _joined(messages)


def source_of(result: Json) -> Any:
    """Return the value that expressions are applied to.

    The structured content; else the JSON object or array in the first text content; else `{"content": […]}`.
    """
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    content = result["content"]
    text = next((item.get("text") for item in content if isinstance(item, dict) and item.get("type") == "text"), None)
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return {"content": content}


def _map(part: Any, sources: Sequence[Any], place: str, messages: list[str]) -> Any:
    if isinstance(part, str):
        return _found(part, sources, place, messages)
    if isinstance(part, Mapping | list) and place.count("/") >= MAX_DEPTH:
        messages.append(f"{place}: nested deeper than {MAX_DEPTH}")
        return None
    if isinstance(part, Mapping):
        return {key: _map(value, sources, f"{place}/{key}", messages) for key, value in part.items()}
    if isinstance(part, list):
        return [_map(value, sources, f"{place}/{i}", messages) for i, value in enumerate(part)]
    return part


def _found(text: str, sources: Sequence[Any], place: str, messages: list[str]) -> Any:
    """Return the first match in the sources."""
    problems = []
    try:
        expression = compile_expression(text)
    except MapperError as error:
        messages.append(f"{place}: {error}")
        return None
    for source in sources:
        try:
            if (value := expression.search(source)) is not None:
                return value
        except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
            problems.append(f"{place}: {_line(error)}")
    messages += problems[:1]
    return None


def _joined(messages: list[str]) -> str | None:
    shown = [message.removeprefix("/") for message in messages[:MAX_MESSAGES]]
    return "; ".join(shown) or None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:MAX_MESSAGE] or type(error).__name__


class Shaper:
    """Adds the configured mappings and transformations to results."""

    def __init__(self, vrl: VrlRunner | None = None) -> None:
        self._vrl = vrl or VrlRunner()

    def concerns(self, route: Route) -> bool:
        """Whether the results of a tool are shaped."""
        return bool(route.meta.ret_object_mapper or route.config.vrl)

    async def shape(self, result: Json, route: Route, arguments: Json) -> Json:
        """Return the result with the shaped forms in its `meta`. Configuration errors do not raise."""
        weight = weigh([result, arguments], MAX_RESULT)
        additions: Json = {}
        # The mapper does not apply to the result of a failed tool; a script may use it.
        if route.meta.ret_object_mapper and not result["isError"]:
            additions |= await self._mapped(route.meta.ret_object_mapper, result, weight)
        if route.config.vrl:
            additions |= await self._transformed(route.config.vrl, result, route, arguments, weight)
        return with_meta(result, additions)

    async def aclose(self) -> None:
        """End the VRL workers."""
        await self._vrl.aclose()

    async def _mapped(self, mapper: Mapping[str, Any], result: Json, weight: int) -> Json:
        if weight > MAX_RESULT:
            return {MAPPED_ERROR: TOO_LARGE}
        if weight <= MAX_INLINE:
            return _mapped_meta(mapper, result)
        return await asyncio.to_thread(_mapped_meta, mapper, result)

    async def _transformed(self, script: str, result: Json, route: Route, arguments: Json, weight: int) -> Json:
        if weight > MAX_RESULT:
            return {VRL_ERROR: TOO_LARGE}
        event = {
            "content": result["content"],
            "structuredContent": result.get("structuredContent"),
            "isError": result["isError"],
            "meta": result.get("meta"),
            "tool_name": route.tool,
            "parameters": arguments,
        }
        try:
            return {VRL_TRANSFORMED: await self._vrl.run(script, event)}
        except (VrlError, RecursionError) as error:
            return {VRL_ERROR: _line(error)}


def _mapped_meta(mapper: Mapping[str, Any], result: Json) -> Json:
    mapped, error = map_result(mapper, result)
    # Check before encoding: an expression can multiply its matches.
    if weigh(mapped, MAX_MAPPED) > MAX_MAPPED:
        return {MAPPED_ERROR: f"what the mapper made is larger than {MAX_MAPPED >> 20} MiB"}
    try:
        text = json.dumps(mapped, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return {MAPPED_ERROR: "what the mapper made is not JSON"}
    if _LONE.search(text):
        # A lone surrogate can only be sent escaped.
        text = json.dumps(mapped)
    return {MAPPED: text} if error is None else {MAPPED: text, MAPPED_ERROR: error}


def shaping_problems(config: ComputerConfig) -> list[Problem]:
    """Return a problem for each `vrl` script and each `ret_object_mapper` that does not compile.

    Compiling a script starts a process and blocks: do not call it on an event loop.
    """
    problems = []
    for name, server in config.servers.items():
        if server.vrl and (wrong := check_vrl(server.vrl)):
            problems.append(Problem(f"servers.{name}.vrl", wrong))
        metas = {f"tool_meta.{tool}": meta for tool, meta in server.tool_meta.items()}
        if server.default_tool_meta is not None:
            metas["default_tool_meta"] = server.default_tool_meta
        for place, meta in metas.items():
            if meta.ret_object_mapper and (wrong := check_mapper(meta.ret_object_mapper)):
                problems.append(Problem(f"servers.{name}.{place}.ret_object_mapper", wrong))
    return problems
