"""Results in MCP's form: tool results, resource contents, and pages of lists with their cursors. Pure.

A malformed part of a Computer's reply does not invalidate the rest. A cursor contains the key of the last item, so that
pages stay consistent while the list changes.
"""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from a2c_smcp.bridge.uris import ResourceAddress, qualify
from a2c_smcp.errors import BadRequest, SMCPError, to_wire
from a2c_smcp.smcp import CallToolResult

T = TypeVar("T")
Key: TypeAlias = tuple[str, ...]

# Required string fields of each content type.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri",),
}


def tool_result(result: CallToolResult, computer: str, server: str | None = None) -> dict[str, Any]:
    """Return a tool's result for `tools/call`; URIs in it are qualified with its Computer and MCP server."""
    found: dict[str, Any] = {
        "content": [_block(block, computer, server) for block in result.get("content") or ()],
        "isError": result.get("isError") is True,
    }
    structured, meta = result.get("structuredContent"), result.get("meta")
    if isinstance(structured, Mapping):
        found["structuredContent"] = structured
    if isinstance(meta, Mapping) and meta:
        found["_meta"] = meta
    return found


def failed_result(error: SMCPError) -> dict[str, Any]:
    """Return an error as a tool result, so that the model can correct its call."""
    body = to_wire(error)["error"]
    text = body["message"] if "details" not in body else f"{body['message']} {json.dumps(body['details'], default=str)}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {"code": body["code"]}}


def resource_contents(contents: list[dict[str, Any]], asked: str, address: ResourceAddress) -> list[dict[str, Any]]:
    """Return contents for `resources/read`.

    Args:
        asked: The requested URI, as the client wrote it.
        address: The parsed URI; without a Computer if the client used the Computer's own URI.
    """
    return [_content(content, asked, address) for content in contents]


def _block(block: Any, computer: str, server: str | None) -> dict[str, Any]:
    kind = block.get("type") if isinstance(block, Mapping) else None
    needs = _NEEDS.get(kind) if isinstance(kind, str) else None
    if needs is not None and all(isinstance(block.get(field), str) for field in needs):
        if kind != "resource_link":
            return dict(block)
        uri = qualify(computer, block["uri"], server)
        return {**block, "uri": uri, "name": str(block.get("name") or block["uri"])}
    resource = block.get("resource") if kind == "resource" else None
    if isinstance(resource, Mapping) and isinstance(resource.get("uri"), str) and _has_body(resource):
        return {**block, "resource": {**resource, "uri": qualify(computer, resource["uri"], server)}}
    # A type that this revision of MCP does not know is passed on as text.
    return {"type": "text", "text": json.dumps(block, ensure_ascii=False, default=str)}


def _content(content: Mapping[str, Any], asked: str, address: ResourceAddress) -> dict[str, Any]:
    own = content.get("uri")
    uri = asked
    if isinstance(own, str) and own:
        uri = own if address.computer is None else qualify(address.computer, own, address.server)
    body = {} if _has_body(content) else {"text": ""}
    return {**content, **body, "uri": uri}


def _has_body(content: Mapping[str, Any]) -> bool:
    return isinstance(content.get("text"), str) or isinstance(content.get("blob"), str)


def page_of(
    items: Sequence[T], key: Callable[[T], Key], cursor: str | None, size: int
) -> tuple[Sequence[T], str | None]:
    """Return the page after `cursor`, and the cursor of the next page or None.

    Args:
        items: Sorted by their keys, which are unique.

    Raises:
        BadRequest: The cursor is not valid.
    """
    start = 0 if cursor is None else bisect_right(items, _decode_cursor(cursor), key=key)
    page = items[start : start + size]
    return page, encode_cursor(key(page[-1])) if start + size < len(items) else None


def encode_cursor(key: Key) -> str:
    """Return the cursor after the item with this key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> Key:
    try:
        key = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or not all(isinstance(part, str) for part in key):
        raise BadRequest("The cursor is not valid: list again from the beginning")
    return tuple(key)
