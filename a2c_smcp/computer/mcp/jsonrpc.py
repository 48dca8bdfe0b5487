"""Encodes and decodes JSON-RPC messages. The kind of a message follows from its keys, which costs a tenth of `mcp`'s
validation of the union. Pure.
"""

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
"""The position of the request id in a reply: before or after the result."""

_BEFORE: Final = rb"\{\s*(?:(?:" + _VERSION + rb"|" + _ID + rb")\s*,\s*)*"
_ANSWER: Final = re.compile(_BEFORE + rb'"(?:result|error)"')
_CALL: Final = re.compile(_BEFORE + rb'"(?:method|params)"')
"""The beginning of a reply, and of a request or notification."""

_ENCODING_ERROR: Final = ErrorData(
    code=INTERNAL_ERROR, message="The server answered in bytes that are not of its encoding"
)


def decode(line: RawLine, encoding: str = "utf-8", errors: str = "strict") -> list[JSONRPCMessage]:
    """Return the messages of one line: one message or a batch.

    A reply with invalid encoding or over the size limit becomes an error reply to the same request, because a request
    whose reply is discarded would wait forever.

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
            return _encoding_errors(error.object.decode(encoding, "replace"))
        value = _lenient(text)
    messages = [_message(item) for item in (value if isinstance(value, list) else [value])]
    if not messages:
        raise ValueError("an empty batch")
    return messages


def too_large(request: RequestId | None, limit: int, size: int | None = None) -> JSONRPCError:
    """Return the error reply that replaces a reply over the limit; `size` is None if it was not read completely."""
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
    """Describe the size of a message over the limit, as far as it is known."""
    return f"more than {limit} bytes" if size is None else f"{size} bytes"


def replacement_for(event: OversizedMessage, request: RequestId | None) -> JSONRPCError | None:
    """Return the error reply that replaces an event over the limit.

    None if the event is not a reply, or if it is incomplete and its request is still unknown. A complete reply whose
    request id is not in the kept bytes gets an error without an id.

    Args:
        request: The request that the stream belongs to; None for a stream of the whole session.
    """
    complete = event.size is not None
    if request is not None and _ANSWER.match(event):
        return too_large(request, event.limit, event.size)
    if request is None and (found := _FIRST_ID.match(event) or (_LAST_ID.search(event.tail) if complete else None)):
        return too_large(json.loads(found[1]), event.limit, event.size)
    return too_large(request, event.limit, event.size) if complete and not _CALL.match(event) else None


def encode(message: JSONRPCMessage, encoding: str = "utf-8") -> str:
    """Return the JSON of a message without line breaks; pure ASCII if the encoding is not UTF-8."""
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


def _encoding_errors(text: str) -> list[JSONRPCMessage]:
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("too deep") from error
    answers = [item for item in (value if isinstance(value, list) else [value]) if _is_reply(item)]
    if not answers:
        raise ValueError("not a JSON-RPC message")
    return [JSONRPCError(jsonrpc="2.0", id=item["id"], error=_ENCODING_ERROR) for item in answers]


def _is_reply(item: Any) -> bool:
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
    # JavaScript can emit a lone surrogate, which could not be encoded again later.
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value
