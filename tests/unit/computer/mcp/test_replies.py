"""Errors and results of servers, as the Computer passes them on."""

from typing import Any

import pytest
from mcp import MCPError

from a2c_smcp.computer.config.secret_detection import ServerMask
from a2c_smcp.computer.mcp.requests import error_of, plain_result, with_meta
from a2c_smcp.errors import DocumentNotFound, ElementNotFound, PageOutOfRange, SMCPError

MASK = ServerMask()


def told(error: SMCPError) -> tuple[type[SMCPError], int, str, dict[str, Any] | None]:
    return type(error), error.code, error.message, error.details


@pytest.mark.rule("3.3")
@pytest.mark.parametrize(
    ("code", "message", "data", "expected"),
    [
        (4202, "Page out of range", {"page_count": 12}, (PageOutOfRange, "Page out of range", {"page_count": 12})),
        (0, "wrapped", {"code": 4201, "details": {"doc_ref": "x"}}, (DocumentNotFound, "wrapped", {"doc_ref": "x"})),
        (0, "", {"code": 4203, "message": "No element", "id": "e"}, (ElementNotFound, "No element", {"id": "e"})),
        (0, "", {"error": {"code": 4201, "message": "Gone"}}, (DocumentNotFound, "Gone", None)),
        (0, "", '{"code": 4201, "message": "Gone", "data": {"a": 1}}', (DocumentNotFound, "Gone", {"a": 1})),
        (0, 'Error: {"code": 4202, "message": "No page"}', None, (PageOutOfRange, "No page", None)),
        (0, "4201: no such document", None, (DocumentNotFound, "4201: no such document", None)),
        (
            0,
            "Error reading resource: [4203] gone",
            None,
            (ElementNotFound, "Error reading resource: [4203] gone", None),
        ),
        (0, "failed, code=4202: page 9", {"n": 9}, (PageOutOfRange, "failed, code=4202: page 9", {"n": 9})),
        (-32603, "Reading dpe://h/d: 4201 - gone", None, (DocumentNotFound, "Reading dpe://h/d: 4201 - gone", None)),
    ],
)
def test_a_document_error_is_found_wherever_a_library_put_it(
    code: int, message: str, data: Any, expected: tuple[type[SMCPError], str, Any]
) -> None:
    kind, words, details = expected

    assert told(error_of(MCPError(code, message, data), MASK)) == (kind, kind.code, words, details)


@pytest.mark.parametrize(
    ("code", "message", "data", "details"),
    [
        (-32602, "Invalid params", None, None),
        (-32002, "Resource not found", {"uri": "a:b"}, {"uri": "a:b"}),
        (0, "There is no page 4201", None, None),
        (0, "Unknown resource dpe://host/report-4201/pages/4202", None, None),
        (0, "4201 documents were found", None, None),
        (0, "x", [4201], {"data": [4201]}),
        (0, "x", {"code": "4201"}, {"code": "4201"}),
        (0, "{4201", "{", {"data": "{"}),
        (0, "x", "[" * 10_000 + "{}", {"data": "[" * 10_000 + "{}"}),
    ],
)
def test_any_other_error_keeps_its_own_code(code: int, message: str, data: Any, details: Any) -> None:
    assert told(error_of(MCPError(code, message, data), MASK)) == (SMCPError, code, message, details)


def test_configured_values_are_hidden_in_message_and_data() -> None:
    error = error_of(MCPError(1, "bad key hunter2", {"key": "hunter2"}), ServerMask(["hunter2"]))

    assert (error.message, error.details) == ("bad key <redacted>", {"key": "<redacted>"})


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ({"content": []}, {"content": []}),
        ({"content": [], "resultType": "complete"}, {"content": []}),
        ({"content": [], "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "a"}}}, {"content": []}),
        (
            {"content": [], "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "a"}, "own": 1}},
            {"content": [], "_meta": {"own": 1}},
        ),
        ({"content": [], "_meta": {}}, {"content": [], "_meta": {}}),
        ({"content": [], "_meta": None}, {"content": [], "_meta": None}),
    ],
)
def test_a_result_loses_only_the_envelope_of_its_era(raw: dict[str, Any], plain: dict[str, Any]) -> None:
    assert plain_result(raw) == plain


@pytest.mark.rule("10.6.meta")
def test_the_meta_of_a_request_travels_without_what_belongs_to_one_connection() -> None:
    own = {"traceparent": "00-1", "com.example/a": {"b": 1}, "com.example.mcp/x": 1}
    foreign = {"progressToken": 1, "progress_token": 2, "io.modelcontextprotocol/clientInfo": {}, "dev.mcp/x": 1}
    assert with_meta({"uri": "a:b"}, own | foreign) == {"uri": "a:b", "_meta": own}
    assert with_meta({"uri": "a:b"}, foreign) == with_meta({"uri": "a:b"}, None) == {"uri": "a:b"}
