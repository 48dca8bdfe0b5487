"""Messages are told apart by their keys, and what is none is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from a2c_smcp.computer.mcp.framing import LineSplitter
from a2c_smcp.computer.mcp.jsonrpc import decode, encode

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
IDS = st.integers(-(2**53), 2**53) | st.text()
MESSAGES: st.SearchStrategy[JSONRPCMessage] = st.one_of(
    st.builds(JSONRPCRequest, jsonrpc=st.just("2.0"), id=IDS, method=st.text(), params=OBJECTS),
    st.builds(JSONRPCNotification, jsonrpc=st.just("2.0"), method=st.text(), params=OBJECTS),
    st.builds(JSONRPCResponse, jsonrpc=st.just("2.0"), id=IDS, result=OBJECTS),
    st.builds(
        JSONRPCError,
        jsonrpc=st.just("2.0"),
        id=IDS,
        error=st.builds(ErrorData, code=st.integers(-(2**53), 2**53), message=st.text(), data=VALUES),
    ),
)


@given(MESSAGES)
def test_what_is_encoded_is_decoded_as_the_sdk_would(message: JSONRPCMessage) -> None:
    line = encode(message).encode()

    assert decode(line) == [jsonrpc_message_adapter.validate_json(line, by_name=False)] == [message]


@given(MESSAGES, st.sampled_from(["utf-16", "latin-1", "ascii", "gb18030", "shift_jis"]))
def test_every_encoding_can_carry_every_message(message: JSONRPCMessage, encoding: str) -> None:
    line = encode(message, encoding).encode(encoding)

    assert decode(line, encoding) == [message]


@given(st.text() | VALUES.map(json.dumps))
def test_what_is_no_message_raises_nothing_but_a_value_error(text: str) -> None:
    try:
        messages = decode(text)
    except ValueError:
        return
    assert messages


@pytest.mark.parametrize(
    "line",
    [
        b"Server started",
        b"{}",
        b"[]",
        b"[1]",
        b"null",
        b'{"jsonrpc": "1.0", "method": "a"}',
        b'{"jsonrpc": "2.0", "id": {}, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": []}',
        b"[" * 100_000,
        b'"\\ud800"' + b"[" * 100_000,
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "method": "\xff"}',
    ],
)
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        decode(line)


def test_a_batch_is_several_messages() -> None:
    line = b'[{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": "m"}]'

    first, second = decode(line)

    assert isinstance(first, JSONRPCResponse)
    assert isinstance(second, JSONRPCNotification)


def test_an_error_without_an_id_has_none() -> None:
    line = b'{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}}'

    assert decode(line) == [JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=-32700, message="Parse error"))]


def test_half_a_character_does_not_cost_the_message() -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "result": {"text": ["a\\ud83d", "\\ud83d\\ude00"]}}'

    assert decode(line) == [JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": ["a\ufffd", "\U0001f600"]})]


@pytest.mark.parametrize("batch", [False, True])
def test_an_answer_in_another_encoding_fails_its_request(batch: bool) -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "result": {"text": "\xff"}}'

    (message,) = decode(b"[" + line + b"]" if batch else line)

    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.message) == (1, "The server answered in bytes that are not of its encoding")


def test_bytes_that_are_not_of_the_encoding_are_handled_as_configured() -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "result": {"text": "a\xffb"}}'

    assert [decode(line, "utf-8", errors) for errors in ("replace", "ignore")] == [
        [JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": text})] for text in ("a\ufffdb", "ab")
    ]


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ('{"jsonrpc":"2.0","id":7,"result":{"x":"%s"}}', 7),
        ('{"id": "a-7", "result": {"x": "%s"}}', "a-7"),
        ('{"jsonrpc":"2.0","result":{"x":"%s","id":3},"id":7}', 7),
        ('{"result":{"x":"%s"}, "id": 7, "jsonrpc": "2.0"}\r', 7),
    ],
)
def test_an_answer_over_the_limit_is_an_error_to_its_request(text: str, answered: int | str) -> None:
    data = (text % ("x" * 5_000)).encode() + b"\n"
    lines = LineSplitter(limit=1_000)
    [line] = [line for start in range(0, len(data), 300) for line in lines.feed(data[start : start + 300])]
    [message] = decode(line)
    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.code) == (answered, 400)
    assert message.error.data == {"limit": "message size", "size": len(data) - 1, "value": 1_000}
    assert f"{len(data) - 1} bytes is over the limit of 1000 bytes" in message.error.message


@pytest.mark.parametrize(
    "text", ['{"jsonrpc":"2.0","id":7,"method":"roots/list","x":"%s"}', '{"result":{"x":"%s","id":7}}', "%s"]
)
def test_what_is_over_the_limit_and_no_answer_is_no_message(text: str) -> None:
    [line] = LineSplitter(limit=1_000).feed((text % ("x" * 5_000)).encode() + b"\n")
    with pytest.raises(ValueError, match="over the limit of 1000 bytes"):
        decode(line)
