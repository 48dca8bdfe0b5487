"""Results and contents of Computers in MCP's form; what a foreign server got wrong spoils nothing else. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

from a2c_smcp.bridge.uris import Place, qualify
from a2c_smcp.errors import SMCPError, to_wire
from a2c_smcp.smcp import CallToolResult

# What each kind of content must have, as text.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri",),
}


def tool_result(result: CallToolResult, computer: str, server: str | None = None) -> dict[str, Any]:
    """Return a tool's result as `tools/call` gives it; the resources it speaks of are those of its MCP server."""
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
    """Return an error as the result of a tool, for the model to mend what it asked."""
    body = to_wire(error)["error"]
    text = body["message"] if "details" not in body else f"{body['message']} {json.dumps(body['details'], default=str)}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {"code": body["code"]}}


def resource_contents(contents: list[dict[str, Any]], asked: str, place: Place) -> list[dict[str, Any]]:
    """Return contents as `resources/read` gives them.

    Args:
        asked: The URI that was asked for, as the client wrote it.
        place: What it means; it names no Computer where the client asked by the Computer's own URI.
    """
    return [_content(content, asked, place) for content in contents]


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
    # A kind that this revision of MCP does not know: the model reads what came.
    return {"type": "text", "text": json.dumps(block, ensure_ascii=False, default=str)}


def _content(content: Mapping[str, Any], asked: str, place: Place) -> dict[str, Any]:
    own = content.get("uri")
    uri = asked
    if isinstance(own, str) and own:
        uri = own if place.computer is None else qualify(place.computer, own, place.server)
    body = {} if _has_body(content) else {"text": ""}
    return {**content, **body, "uri": uri}


def _has_body(content: Mapping[str, Any]) -> bool:
    return isinstance(content.get("text"), str) or isinstance(content.get("blob"), str)
