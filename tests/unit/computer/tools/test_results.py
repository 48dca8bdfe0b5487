"""The forms of a result."""

from typing import Any

import pytest

from a2c_smcp.computer.tools.results import cancelled, failed, from_mcp, interrupted, timed_out, with_meta
from a2c_smcp.errors import PageOutOfRange, SMCPError, ToolFailed

TEXT = [{"type": "text", "text": "hello"}]


@pytest.mark.parametrize(
    ("raw", "result"),
    [
        ({"content": TEXT}, {"content": TEXT, "isError": False}),
        (
            {"content": TEXT, "structuredContent": {"a": 1}, "isError": False, "_meta": {"k": 1}, "resultType": "x"},
            {"content": TEXT, "structuredContent": {"a": 1}, "isError": False, "meta": {"k": 1}},
        ),
        ({}, {"content": [], "isError": False}),
        ({"content": TEXT, "isError": True}, {"content": TEXT, "isError": True, "meta": {"code": 4003}}),
        (
            {"content": TEXT, "isError": True, "_meta": {"code": 7, "why": "x"}},
            {"content": TEXT, "isError": True, "meta": {"code": 7, "why": "x"}},
        ),
        (
            {"content": TEXT, "_meta": {"a2c_vrl_transformed": "forged", "a2c_ret_object_mapper": "forged"}},
            {"content": TEXT, "isError": False},
        ),
    ],
)
def test_what_a_server_answers_comes_by_field_name(raw: Any, result: Any) -> None:
    assert from_mcp(raw) == result


def test_an_addition_to_meta_leaves_the_original_as_it_was() -> None:
    result = {"content": TEXT, "isError": False, "meta": {"k": 1}}
    assert with_meta(result, {"new": 2}) == {"content": TEXT, "isError": False, "meta": {"k": 1, "new": 2}}
    assert result["meta"] == {"k": 1}
    assert with_meta(result, {}) is result


@pytest.mark.parametrize(
    ("error", "text", "meta"),
    [
        (ToolFailed("The MCP server 'x' died"), "The MCP server 'x' died", {"code": 4003}),
        (
            PageOutOfRange("No such page", details={"page_index": 99, "page_count": 12}),
            "No such page",
            {"code": 4202, "details": {"page_index": 99, "page_count": 12}},
        ),
        (
            SMCPError("Invalid params", code=-32602, details={"token": "abc", "field": "x"}),
            "Invalid params",
            {"code": 4003, "mcp_code": -32602, "details": {"token": "<redacted>", "field": "x"}},
        ),
        (SMCPError("open '/home/me/x.txt' failed"), "open '…/x.txt' failed", {"code": 500}),
    ],
)
def test_an_error_of_a_server_is_a_result_that_says_why(error: SMCPError, text: str, meta: Any) -> None:
    assert failed(error) == {"content": [{"type": "text", "text": text}], "isError": True, "meta": meta}


@pytest.mark.parametrize(
    ("result", "meta"),
    [
        (timed_out("t", 1.5), {"timeout": True, "a2c_timeout": True, "code": 4004}),
        (cancelled("t"), {"cancelled": True, "a2c_cancelled": True, "a2c_cancel_reason": "agent_requested"}),
        (interrupted("t"), {"code": 4003, "interrupted": True}),
    ],
)
def test_a_call_that_was_ended_says_by_what(result: Any, meta: Any) -> None:
    assert (result["isError"], result["meta"]) == (True, meta)
    assert "'t'" in result["content"][0]["text"]
