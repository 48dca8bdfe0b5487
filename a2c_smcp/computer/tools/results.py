"""The results of tool calls as Agents get them. Pure."""

from typing import Any, Final

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.ports import Json
from a2c_smcp.errors import BY_CODE, SMCPError, ToolFailed, ToolTimeout
from a2c_smcp.redaction import redact, redact_text

VRL_TRANSFORMED: Final = "a2c_vrl_transformed"
VRL_ERROR: Final = "a2c_vrl_error"
MAPPED: Final = "a2c_ret_object_mapper"
MAPPED_ERROR: Final = "a2c_ret_object_mapper_error"
RESERVED: Final = frozenset({VRL_TRANSFORMED, VRL_ERROR, MAPPED, MAPPED_ERROR})
"""The keys of a result's `meta` that only the Computer may set."""


def from_mcp(raw: Json) -> Json:
    """Return the result of an MCP server with SMCP's field names; a failed tool has a code in its `meta`."""
    content, structured, own = raw.get("content"), raw.get("structuredContent"), raw.get("_meta")
    failed = raw.get("isError") is True
    result: Json = {"content": content if isinstance(content, list) else []}
    if structured is not None:
        result["structuredContent"] = structured
    result["isError"] = failed
    meta = {key: value for key, value in own.items() if key not in RESERVED} if isinstance(own, dict) else {}
    if failed:
        meta.setdefault("code", ToolFailed.code)
    if meta:
        result["meta"] = meta
    return result


def with_meta(result: Json, additions: Json) -> Json:
    """Return a result with additions to its `meta`."""
    return {**result, "meta": {**result.get("meta", {}), **additions}} if additions else result


def failed(error: SMCPError) -> Json:
    """Return the result of a tool whose server died or replied with an error.

    A code of the protocol is kept; any other code (JSON-RPC) becomes `mcp_code`, and the code is that of `ToolFailed`.
    """
    known = error.code in BY_CODE
    meta: Json = {"code": error.code if known else ToolFailed.code}
    if not known:
        meta["mcp_code"] = error.code
    if error.details:
        meta["details"] = redact(error.details)
    return _error(redact_text(error.message), meta)


def timed_out(tool: str, seconds: float) -> Json:
    """Return the result of a tool that was cancelled by its timeout."""
    # Released Agents check `a2c_timeout` and `a2c_cancelled`.
    meta = {"timeout": True, "a2c_timeout": True, "code": ToolTimeout.code}
    return _error(f"The tool {tool!r} did not finish within {seconds_text(seconds)} and was cancelled", meta)


def cancelled(tool: str) -> Json:
    """Return the result of a tool that its Agent cancelled."""
    meta = {"cancelled": True, "a2c_cancelled": True, "a2c_cancel_reason": "agent_requested"}
    return _error(f"The call of {tool!r} was cancelled", meta)


def interrupted(tool: str) -> Json:
    """Return the result of a tool that was running when the Computer stopped."""
    meta = {"code": ToolFailed.code, "interrupted": True}
    return _error(
        f"Interrupted: the Computer stopped while {tool!r} was running, so it may have run. It is not run again for "
        "this req_id; find out what it did before you call it with a new one",
        meta,
    )


def too_large_to_keep() -> Json:
    """Return the result for a repeated request whose result is no longer kept."""
    meta = {"code": ToolFailed.code, "kept": False}
    return _error("The tool ran, but its result is no longer kept; it is not run again for this req_id", meta)


def _error(text: str, meta: dict[str, Any]) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": True, "meta": meta}
