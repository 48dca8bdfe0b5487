"""Errors of payloads in plain words."""

import json
from typing import Any

import pytest

from a2c_smcp.errors import BadRequest
from a2c_smcp.server.payload import RawJson, parse_head
from a2c_smcp.smcp import TOOL_CALL_EVENT, parse_request

CALL = {"agent": "a", "req_id": "r", "computer": "c", "tool_name": "t", "params": {}, "timeout": 5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"timeout": 0}, "timeout must be greater than 0"),
        ({"timeout": "5"}, "timeout must be an integer"),
        ({"agent": ""}, "agent must not be empty"),
        ({"req_id": 5}, "req_id must be a string"),
        ({"computer": None}, "computer must be a string"),
    ],
)
def test_a_wrong_field_is_named_with_what_it_must_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest) as parsed:
        parse_request(TOOL_CALL_EVENT, CALL | change)
    # The Server's own way, which reads the text only as far as it must, has the same words.
    with pytest.raises(BadRequest) as routed:
        parse_head(TOOL_CALL_EVENT, RawJson(json.dumps(CALL | change)))
    assert parsed.value.message == routed.value.message == f"client:tool_call: {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a" 1}', "the payload is not valid JSON (at byte 5)"),
        ("nope", "the payload is not valid JSON (at byte 4)"),
        ('{"a": ', "the payload is not valid JSON (it ends too early)"),
        ("[1]", "payload must be an object"),
        ('{"agent": "a", "req_id": "r"}', "; ".join(f"{name} is missing" for name in list(CALL)[2:])),
    ],
)
def test_a_payload_that_cannot_be_read_says_where(text: str, words: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_head(TOOL_CALL_EVENT, RawJson(text))
    assert caught.value.message == f"client:tool_call: {words}"
