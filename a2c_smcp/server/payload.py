"""Relayed payloads: only the fields that routing needs are parsed. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import MAX_NAME, parse_request
from a2c_smcp.types import Role


class RawJson:
    """JSON text that is relayed without parsing: a payload, or the arguments of an ack."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawJson) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Raw({len(self.text)} characters)"


Payload: TypeAlias = RawJson | Mapping[str, Any] | Any
"""`RawJson` where the transport passes text; parsed data where a stock Socket.IO server decoded it."""

_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]


class RequestHead(msgspec.Struct, frozen=True, gc=False):
    """The fields of a `client:*` request that the Server reads."""

    agent: _Name
    req_id: _Name
    computer: _Name
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None


class _ReqId(msgspec.Struct, frozen=True, gc=False):
    req_id: Any = None


class _ErrorCode(msgspec.Struct, frozen=True, gc=False):
    code: Any = None


class _FailedReply(msgspec.Struct, frozen=True, gc=False):
    error: _ErrorCode | None = None
    isError: Any = None  # noqa: N815 - MCP's name


_failure: Final = msgspec.json.Decoder(tuple[_FailedReply, ...])
_head: Final = msgspec.json.Decoder(RequestHead)
_req_id: Final = msgspec.json.Decoder(_ReqId)
_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_arguments: Final = msgspec.json.Decoder(list[Any])


def parse_head(event: str, payload: Payload) -> RequestHead:
    """Return the routing head; a raw payload is checked to be well-formed JSON as a whole.

    Raises:
        BadRequest: The payload is not an object with the fields that routing needs.
    """
    try:
        if type(payload) is RawJson:
            return _head.decode(payload.text)
        return msgspec.convert(payload, RequestHead)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError) as problem:
        raise _explain(event, payload, problem) from None


def _explain(event: str, payload: Payload, problem: Exception) -> BadRequest:
    # The slow path: validates again for a message that names the field.
    if isinstance(problem, RecursionError):
        return BadRequest(f"{event}: the payload is nested too deeply")
    try:
        data = msgspec.json.decode(payload.text) if type(payload) is RawJson else payload
        parse_request(event if event.startswith("client:") else "client:unknown", data)
    except BadRequest as refusal:
        return refusal
    except RecursionError:
        return BadRequest(f"{event}: the payload is nested too deeply")
    except (msgspec.DecodeError, UnicodeError) as error:
        return BadRequest(f"{event}: the payload is not valid JSON{_where(error)}")
    return BadRequest(f"{event}: the payload is malformed")


def _where(error: Exception) -> str:
    place = re.search(r"\(byte (\d+)\)", str(error))
    if place is not None:
        return f" (at byte {place[1]})"
    return " (it ends too early)" if "truncated" in str(error) else ""


def replace_sender(payload: Payload, role: Role, name: str) -> Payload:
    """Return a well-formed payload with `name` as its `agent` or `computer`; the other fields stay unparsed."""
    if not isinstance(payload, RawJson):
        return {**payload, role: name}
    fields = _fields.decode(payload.text)
    fields[role] = msgspec.Raw(json.dumps(name).encode())
    return RawJson(msgspec.json.encode(fields).decode())


def req_id_of(payload: Payload) -> str | None:
    """Return the request id of an unvalidated payload, for the reply to a bad request."""
    found: Any = None
    if type(payload) is RawJson:
        try:
            found = _req_id.decode(payload.text).req_id
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError):
            return None
    elif isinstance(payload, Mapping):
        found = payload.get("req_id")
    return found if isinstance(found, str) and 0 < len(found) <= MAX_NAME else None


def payload_size(payload: Payload) -> int:
    """Return the size in bytes of a raw payload; 0 for one that a stock server parsed (its transport limits it)."""
    if type(payload) is not RawJson:
        return 0
    text = payload.text
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_arguments(text: str) -> None:
    """Check the arguments of an ack before they are relayed as text.

    They are decoded in full: a number like `1e999` is well-formed JSON, but readers refuse it or read infinity.

    Raises:
        ValueError: The text is not a JSON list, or holds a number that is not finite.
    """
    try:
        _arguments.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as problem:
        raise ValueError(str(problem)) from None


def error_code_of(answer: "RawJson | tuple[Any, ...]") -> str | None:
    """Return the code of an ack that reports an error, `"tool"` for a tool that failed, None for any other.

    Only an ack whose text contains the field names is parsed.
    """
    if type(answer) is RawJson:
        if not answer.text.startswith('{"error"') and '"isError":true' not in answer.text:
            return None
        try:
            found = _failure.decode(f"[{answer.text}]")
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError):
            return None
        first = found[0] if found else _FailedReply()
        code, failed = first.error.code if first.error is not None else None, first.isError
    else:
        values: Any = answer[0] if isinstance(answer, tuple) and answer else None
        if not isinstance(values, Mapping):
            return None
        error = values.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        failed = values.get("isError") is True
    if isinstance(code, int):
        return str(code)
    return "tool" if failed is True else None


def parse_arguments(arguments: RawJson) -> tuple[Any, ...]:
    """Return the parsed arguments of an ack whose text was checked."""
    return tuple(msgspec.json.decode(f"[{arguments.text}]"))
