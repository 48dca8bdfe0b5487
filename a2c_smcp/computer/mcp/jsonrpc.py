"""JSON-RPC messages as text: what `mcp` validates twice is told apart here by its keys, at a tenth of the cost."""

import json
import re
from contextlib import suppress
from typing import Any, Final

from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import from_json

from a2c_smcp.computer.mcp.framing import OversizedMessage, RawLine
from a2c_smcp.errors import BadRequest

_ID: Final = rb'"id"\s*:\s*(\d{1,18}|"(?:[^"\\]|\\.)*")'
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"'
_FIRST_ID: Final = re.compile(rb"\{\s*(?:" + _VERSION + rb"\s*,\s*)?" + _ID + rb'\s*,\s*"(?:result|error)"')
_LAST_ID: Final = re.compile(_ID + rb"\s*(?:,\s*" + _VERSION + rb"\s*)?\}$")
"""Where an answer names its request: before the result, or after it."""

_BEFORE: Final = rb"\{\s*(?:(?:" + _VERSION + rb"|" + _ID + rb")\s*,\s*)*"
_ANSWER: Final = re.compile(_BEFORE + rb'"(?:result|error)"')
_CALL: Final = re.compile(_BEFORE + rb'"(?:method|params)"')
"""How an answer begins, and how a request or notification does."""

_UNREADABLE: Final = ErrorData(code=INTERNAL_ERROR, message="The server answered in bytes that are not of its encoding")


def decode(line: RawLine, encoding: str = "utf-8", errors: str = "strict") -> list[JSONRPCMessage]:
    """Return the messages of one line: one, or those of a batch.

    An answer that breaks the encoding or is over the limit becomes an error to the same request, because a request
    whose answer was thrown away would wait for ever.

    Raises:
        ValueError: The line is not JSON-RPC.
    """
    if isinstance(line, OversizedMessage):
        return [_too_large(line)]
    value: Any = None
    if (encoding, errors) == ("utf-8", "strict"):
        with suppress(ValueError):
            value = from_json(line)
    if value is None:
        try:
            text = line if isinstance(line, str) else line.decode(encoding, errors)
        except UnicodeDecodeError as error:
            return _unreadable(error.object.decode(encoding, "replace"))
        value = _lenient(text)
    messages = [_message(item) for item in (value if isinstance(value, list) else [value])]
    if not messages:
        raise ValueError("an empty batch")
    return messages


def too_large(request: RequestId | None, limit: int, size: int | None = None) -> JSONRPCError:
    """Return the error that stands for an answer over the limit; `size` is None if it was not read to its end."""
    data: dict[str, Any] = {"limit": "message size", "value": limit}
    return JSONRPCError(
        jsonrpc="2.0",
        id=request,
        error=ErrorData(
            code=BadRequest.code,
            message=f"The MCP server did what was asked, but its answer of {bytes_text(limit, size)} is over the limit "
            f"of {limit} bytes; ask for less at a time, or raise max_message in the server's configuration",
            data=data if size is None else data | {"size": size},
        ),
    )


def bytes_text(limit: int, size: int | None) -> str:
    """Say how long a message over the limit is, as far as that is known."""
    return f"more than {limit} bytes" if size is None else f"{size} bytes"


def in_place_of(event: OversizedMessage, request: RequestId | None) -> JSONRPCError | None:
    """Return the error that takes the place of an event over the limit.

    None if the event is no answer, or if what came of it so far does not show whose answer it is. An answer that names
    its request nowhere it can be seen gets an error without an id.

    Args:
        request: The request that the stream belongs to; None if it is a stream of the whole session.
    """
    complete = event.size is not None
    if request is not None and _ANSWER.match(event):
        return too_large(request, event.limit, event.size)
    if request is None and (found := _FIRST_ID.match(event) or (_LAST_ID.search(event.tail) if complete else None)):
        return too_large(json.loads(found[1]), event.limit, event.size)
    return too_large(request, event.limit, event.size) if complete and not _CALL.match(event) else None


def encode(message: JSONRPCMessage, encoding: str = "utf-8") -> str:
    """Return the text of a message, without a line break. Other encodings than UTF-8 get plain ASCII."""
    if encoding == "utf-8":
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    return json.dumps(message.model_dump(mode="json", by_alias=True, exclude_unset=True), separators=(",", ":"))


def _message(value: Any) -> JSONRPCMessage:
    match value:
        case {"method": _, "id": _}:
            kind: Any = JSONRPCRequest
        case {"method": _}:
            kind = JSONRPCNotification
        case {"result": _}:
            kind = JSONRPCResponse
        case {"error": _}:
            kind = JSONRPCError
            value = {"id": None} | value
        case _:
            raise ValueError("not a JSON-RPC message")
    try:
        message: JSONRPCMessage = kind.model_validate(value)
    except ValidationError as error:
        raise ValueError("not a JSON-RPC message") from error
    return message


def _too_large(line: OversizedMessage) -> JSONRPCMessage:
    found = _FIRST_ID.match(line) or _LAST_ID.search(line.tail)
    if found is None:
        raise ValueError(f"a message of {line.size} bytes, over the limit of {line.limit} bytes")
    return too_large(json.loads(found[1]), line.limit, line.size)


def _unreadable(text: str) -> list[JSONRPCMessage]:
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("too deep") from error
    answers = [item for item in (value if isinstance(value, list) else [value]) if _answers(item)]
    if not answers:
        raise ValueError("not a JSON-RPC message")
    return [JSONRPCError(jsonrpc="2.0", id=item["id"], error=_UNREADABLE) for item in answers]


def _answers(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("id"), int | str) and ("result" in item or "error" in item)


def _lenient(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        if "\\ud" not in text.lower():
            raise
    try:
        return _without_surrogates(json.loads(text))
    except RecursionError as error:
        raise ValueError("too deep") from error


def _without_surrogates(value: Any) -> Any:
    # JavaScript can write half a character; it is no text, and nothing behind this point could encode it.
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value
