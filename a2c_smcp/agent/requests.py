"""Builds the requests of an Agent and parses the replies. Pure."""

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import orjson

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest, InternalError, InvalidDPEUri, SMCPError, ToolTimeout
from a2c_smcp.messages import CallToolResult
from a2c_smcp.smcp import (
    GET_DESKTOP_EVENT,
    GET_FINDER_EVENT,
    GET_RESOURCE_TEMPLATES_EVENT,
    GET_RESOURCES_EVENT,
    GET_TOOLS_EVENT,
    LIST_ROOM_EVENT,
    parse_reply,
)
from a2c_smcp.uris import build_dpe_uri, parse_dpe_uri

log = logging.getLogger(__name__)

_LISTS: Final = {
    GET_TOOLS_EVENT: "tools",
    GET_DESKTOP_EVENT: "desktops",
    GET_FINDER_EVENT: "documents",
    GET_RESOURCES_EVENT: "resources",
    GET_RESOURCE_TEMPLATES_EVENT: "resource_templates",
    LIST_ROOM_EVENT: "sessions",
}
"""Replies with a list: one malformed entry must not hide the others."""

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_BEGINNING: Final = 4096
"""Characters of a Markdown text that are searched for a title."""


def whole_seconds(timeout: float) -> int:
    """Return a time-out in whole seconds, as the protocol needs it.

    Raises:
        BadRequest: It is not a positive finite number.
    """
    if not timeout > 0 or math.isinf(timeout):
        raise BadRequest("The time-out must be a positive number of seconds")
    return math.ceil(timeout)


def plain_params(params: object) -> dict[str, Any]:
    """Return the arguments of a tool as a dict that JSON can represent.

    Raises:
        BadRequest: They are not a mapping, or contain a value that JSON cannot represent, such as bytes, a set or NaN.
    """
    if not params:
        return {}
    if not isinstance(params, Mapping):
        raise BadRequest(f"The arguments of a tool must be a mapping of names to values, not {_kind_of(params)}")
    given = dict(params)
    try:
        written = orjson.dumps(given, default=_refuse, option=orjson.OPT_NON_STR_KEYS)
    except TypeError as problem:
        if isinstance(problem.__cause__, BadRequest):
            raise problem.__cause__ from None
        _check_in_full(given)
    else:
        if b"null" in written:  # NaN and infinity are written as null too
            _check_in_full(given)
    return given


def _check_in_full(params: dict[Any, Any]) -> None:
    try:
        json.dumps(params, default=str, allow_nan=False, skipkeys=True)
    except (ValueError, RecursionError) as problem:
        raise BadRequest(f"The arguments of a tool cannot be encoded as JSON: {problem}") from None


def _refuse(value: object) -> str:
    if isinstance(value, Decimal) or hasattr(value, "__fspath__"):
        return str(value)
    raise BadRequest(
        f"The arguments of a tool contain a {_kind_of(value)}, which JSON cannot represent: convert it first"
    )


def _kind_of(value: object) -> str:
    return type(value).__name__


def keyword_list(keywords: Sequence[str] | None) -> list[str] | None:
    """Return keywords as a list; a single string is one keyword."""
    if keywords is None:
        return None
    return [keywords] if isinstance(keywords, str) else list(keywords)


def reply_to(event: str, reply: object) -> Any:
    """Return the validated reply to an event; malformed entries of its list are logged and omitted.

    Raises:
        InternalError: The reply does not have the type of the event; `details` name each field.
    """
    if event == GET_TOOLS_EVENT:
        _complete_tools(reply)
    try:
        return parse_reply(event, reply)
    except BadRequest as problem:
        sound = _without_malformed(event, reply)
        if sound is not None:
            return sound
        raise InternalError(f"The reply does not conform to the protocol: {problem}", details=problem.details) from None


def _complete_tools(reply: object) -> None:
    """Add the `return_schema` that a Computer may omit."""
    tools = reply.get("tools") if isinstance(reply, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            tool.setdefault("return_schema", None)


def _without_malformed(event: str, reply: object) -> Any:
    """Return the reply without malformed list entries; None if it is malformed otherwise."""
    name = _LISTS.get(event)
    items = reply.get(name) if name and isinstance(reply, dict) else None
    if not isinstance(reply, dict) or name is None or not isinstance(items, list):
        return None
    sound = []
    for item in items:
        try:
            sound += parse_reply(event, {**reply, name: [_with_simple_meta(item)]})[name]
        except BadRequest as problem:
            log.warning("malformed entry omitted: %s event=%s entry=%s", problem, event, _name_of(item))
    try:
        return parse_reply(event, {**reply, name: []}) | {name: sound}
    except BadRequest:
        return None


def _with_simple_meta(item: object) -> object:
    """Return a tool with the complex values of its `meta` as JSON strings, as the protocol requires."""
    meta = item.get("meta") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(meta, dict):
        return item
    complex_ones = {key: value for key, value in meta.items() if isinstance(value, dict | list)}
    simple = {key: FastJson.dumps(value) for key, value in complex_ones.items() if not _is_simple_list(value)}
    return {**item, "meta": {**meta, **simple}}


def _is_simple_list(value: object) -> bool:
    return isinstance(value, list) and {type(one) for one in value} in ({str}, {bool}, {int}, {float}, set())


def _name_of(item: object) -> str:
    named = (item.get("name") or item.get("uri") or item.get("doc_ref")) if isinstance(item, dict) else item
    return repr(named)[:200]


def tool_result(reply: object) -> CallToolResult:
    """Return the result of a tool call.

    Raises:
        InternalError: The reply is not a tool result.
    """
    if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
        raise InternalError("The reply to client:tool_call is not a tool result: it has no content list")
    reply["isError"] = reply.get("isError") is True
    result: CallToolResult = reply  # type: ignore[assignment]
    return result


def timed_out(tool: str, timeout: float, req_id: str, problem: str | None = None) -> CallToolResult:
    """Return the result of a call that timed out."""
    text = f"The tool {tool!r} did not finish within {seconds_text(timeout)}; the call was cancelled"
    if problem is not None:
        text = f"{text} (no connection: {problem})"
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "meta": {"timeout": True, "a2c_timeout": True, "code": ToolTimeout.code},
        "req_id": req_id,
    }


def unfetched(tool: str, req_id: str, problem: SMCPError) -> CallToolResult:
    """Return the result of a call whose tool ran, but whose own result could not be fetched."""
    text = (
        f"The tool {tool!r} ran, but its result could not be fetched: {problem.message}. Call it again with the same "
        f"req_id ({req_id}) to fetch the result; the tool does not run again"
    )
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "meta": {"ran": True, "code": problem.code},
        "req_id": req_id,
    }


def document_uri(uri: str, sub_path: str | None = None, **params: str) -> str:
    """Return the URI of a document, or of a part of it, given any URI of the document.

    Raises:
        InvalidDPEUri: The URI is not valid, or names a catalogue.
    """
    parsed = parse_dpe_uri(uri)
    if parsed.doc_ref is None:
        raise InvalidDPEUri("The URI names no document, only a catalogue", details={"uri": uri})
    return build_dpe_uri(parsed.host, parsed.doc_ref, sub_path, params)


def read_form(uri: str, contents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the contents of a resource as one dict.

    JSON objects are parsed; Markdown is in `content_markdown`, other text in `content_text`, both with `title` and
    `uri`; binary data in `blob`; any other JSON value in `content_json`. A resource with no or several contents has a
    list of such dicts in `contents`.
    """
    if len(contents) == 1:
        return _form(uri, contents[0])
    return {"uri": uri, "contents": [_form(uri, content) for content in contents]}


def _form(uri: str, content: Mapping[str, Any]) -> dict[str, Any]:
    own = content.get("uri")
    place = own if isinstance(own, str) else uri
    text = content.get("text")
    if not isinstance(text, str):
        return {"uri": place, "mime_type": content.get("mimeType"), "blob": content.get("blob")}
    kind = _kind(place, content)
    if kind == "application/json" or kind.endswith("+json"):
        try:
            value = FastJson.loads(text)
        except ValueError:
            pass  # declared as JSON but not valid: returned as text
        else:
            return value if isinstance(value, dict) else {"uri": place, "content_json": value}
    if kind in ("text/markdown", "text/x-markdown"):
        return {"content_markdown": text, "title": _title(content, text), "uri": place}
    form = {"content_text": text, "title": _title(content, ""), "uri": place}
    return form if kind in ("text/plain", "") else {**form, "mime_type": kind}


def _kind(uri: str, content: Mapping[str, Any]) -> str:
    named = content.get("mimeType")
    if isinstance(named, str) and named:
        return named.partition(";")[0].strip().lower()
    if not uri.lower().startswith("dpe://"):
        return ""
    try:
        asked = parse_dpe_uri(uri).format
    except InvalidDPEUri:
        return ""
    return {"json": "application/json", "markdown": "text/markdown", "text": "text/plain"}[asked]


def _title(content: Mapping[str, Any], markdown: str) -> str:
    meta = content.get("_meta")
    for title in (content.get("title"), meta.get("title") if isinstance(meta, Mapping) else None):
        if isinstance(title, str) and title:
            return title
    heading = _HEADING.search(markdown[:_BEGINNING])
    return _ESCAPED.sub(r"\1", heading[1]) if heading is not None else ""
