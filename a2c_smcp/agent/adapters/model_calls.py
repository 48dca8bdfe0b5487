"""Parses the tool calls of a model in the formats of OpenAI-style APIs. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call of a model; the arguments are usually the JSON text that it wrote."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str | None


def read_calls(reply: object) -> list[ModelCall]:
    """Return the tool calls of a model's reply, in order.

    Args:
        reply: An assistant message, a list of its `tool_calls`, or the `output` of a response, each as the API's JSON
            or as the objects of its client library.

    Raises:
        BadRequest: A call has no id or no name.
    """
    reply = _plain(reply)
    if isinstance(reply, Mapping):
        reply = reply.get("tool_calls") or reply.get("output") or []
    if not isinstance(reply, Iterable) or isinstance(reply, str | bytes):
        raise BadRequest("Expected an assistant message or its tool_calls")
    return [call for item in reply if (call := _read_call(_plain(item))) is not None]


def read_arguments(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """Return the arguments of a call, parsed if they are JSON text.

    Raises:
        BadRequest: They are not a JSON object.
    """
    if isinstance(arguments, str):
        try:
            arguments = FastJson.loads(arguments) if arguments.strip() else None
        except ValueError as error:
            raise BadRequest(f"The arguments are not valid JSON ({error}): send one JSON object") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise BadRequest("The arguments are not a JSON object")
    return arguments


def _plain(value: object) -> object:
    # The objects of the client libraries are Pydantic models.
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


def _read_call(item: Any) -> ModelCall | None:
    match item:
        case {"id": str(call_id), "function": {"name": str(name)}}:
            return ModelCall(call_id, name, item["function"].get("arguments"))
        case {"type": "function_call", "call_id": str(call_id), "name": str(name)}:
            return ModelCall(call_id, name, item.get("arguments"))
        case {"type": str(kind)} if kind not in ("function", "function_call"):
            return None  # a message, reasoning, or a tool that the provider runs
        case _:
            raise BadRequest("A tool call of the model has no id or no function name")
