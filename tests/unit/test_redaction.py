"""What never leaves the process."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.redaction import (
    ADDRESS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_TEXT,
    MAX_TOTAL,
    REDACTED,
    TRACEBACK,
    names_a_secret,
    redact,
    redact_text,
)

pytestmark = pytest.mark.rule("3.4")

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("token=abc123", f"token={REDACTED}"),
        ('api_key: "k 1"', f"api_key: {REDACTED}"),
        ('{"token": "a b c", "page": 2}', f'{{"token": {REDACTED}, "page": 2}}'),
        ("Authorization: Token abc123, x", f"Authorization: {REDACTED}, x"),
        ("'Authorization': 'Bearer abc.def'", f"'Authorization': {REDACTED}"),
        ("Bearer abc.def", f"Bearer {REDACTED}"),
        (f"got {JWT}!", f"got {REDACTED}!"),
        ("key sk-abcdefghijklmnop1234", f"key {REDACTED}"),
        ("ghp_abcdefghijklmnopqrstuvwx", REDACTED),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", REDACTED),
        ("https://me:pw@example.com/x", f"https://{REDACTED}@example.com/x"),
        ("https://example.com/x?access_token=1&page=2", f"https://example.com/x?access_token={REDACTED}&page=2"),
        ("connect 10.0.0.5:8080 refused", f"connect {ADDRESS} refused"),
        ("http://127.0.0.1:9/x", f"http://{ADDRESS}/x"),
        ("192.168.1.20, 172.20.0.3", f"{ADDRESS}, {ADDRESS}"),
        ("[::1]:80 or fe80::1", f"{ADDRESS} or {ADDRESS}"),
        ("redis.internal:6379 and localhost", f"{ADDRESS} and {ADDRESS}"),
        ("open /home/me/a/b.pdf failed", "open …/b.pdf failed"),
        ("'/srv/my files/a b.pdf' is broken", "'…/a b.pdf' is broken"),
        ("/srv/my files/a b.pdf", "…/a b.pdf"),
        ("C:\\Users\\me\\x.txt", "…/x.txt"),
        ("\\\\server\\share\\x.txt", "…/x.txt"),
        ("file:///data/reports/x.xlsx", "…/x.xlsx"),
        ("see /etc", "see …"),
        ('Traceback (most recent call last):\n  File "x.py", line 1', TRACEBACK),
        ("    at run (/app/index.js:10:5)", TRACEBACK),
    ],
)
def test_what_must_not_leave_is_taken_out(text: str, kept: str) -> None:
    assert redact_text(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "dpe://com.example.docs/rpt-2026/pages/0?format=json",
        "window://com.example.browser/main/tab1",
        "client:tool_call",
        "resources/read",
        "https://example.com/a/b/c",
        "page 3 of 12",
        "8.8.8.8",
        "version 1.10.0.1",
        "/smcp",
        "2026 年度报告",
        "max_tokens: 500",
        "authors and tokenizers",
        "a/b/c and 1/2",
    ],
)
def test_what_helps_to_fix_a_call_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "apiKey",
        "X-Api-Key",
        "OPENAI_API_KEY",
        "access_token",
        "Authorization",
        "GITHUB_TOKEN",
        "clientSecret",
    ],
)
def test_names_of_secrets_are_known_in_any_case_style(key: str) -> None:
    assert names_a_secret(key)


@pytest.mark.parametrize(
    "key", ["keywords", "author", "max_tokens", "tokenizer", "title", "monkey", "key", "passenger"]
)
def test_other_names_are_not(key: str) -> None:
    assert not names_a_secret(key)


def test_details_keep_their_shape_without_their_secrets() -> None:
    assert redact({"page_index": 99, "env": {"TOKEN": "x", "LANG": "C"}, "tried": ["/srv/a/b", 1.5, None]}) == {
        "page_index": 99,
        "env": {"TOKEN": REDACTED, "LANG": "C"},
        "tried": ["…/b", 1.5, None],
    }


def test_what_json_cannot_hold_becomes_a_word() -> None:
    assert redact({"a": object(), "b": b"xyz", "c": float("nan"), 1: {2}}) == {
        "a": "<object>",
        "b": "<3 bytes>",
        "c": "nan",
        "1": [2],
    }


def test_depth_length_and_number_are_bounded() -> None:
    deep: Any = "bottom"
    for _ in range(50):
        deep = [deep]
    flat = json.dumps(redact({"deep": deep, "long": "x" * 10_000, "many": list(range(1_000))}))
    assert (flat.count("["), "bottom" in flat, len(redact("x" * 10_000)), len(redact(list(range(1_000))))) == (
        MAX_DEPTH,
        False,
        MAX_TEXT,
        MAX_ITEMS,
    )


def test_the_whole_is_bounded_however_it_is_cut() -> None:
    many = {str(row): ["x" * 1_000 for _ in range(100)] for row in range(100)}
    assert len(json.dumps(redact(many))) < 2 * MAX_TOTAL


@given(st.text() | st.text("/\\:.=@[]'\"abc10 \n", max_size=60))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.binary(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
        max_leaves=20,
    )
)
def test_the_result_is_always_json(value: Any) -> None:
    json.dumps(redact(value), allow_nan=False)


def test_the_address_of_a_console_is_said_without_what_opens_it() -> None:
    told = redact_text("answer in the console at http://127.0.0.1:8766/#token=abcdefgh1234")
    assert told == "answer in the console at http://127.0.0.1:8766/#token=<redacted>"
    assert redact_text("in the console at http://10.0.0.7:8766") == "in the console at http://<address>"
    assert redact_text("see http://127.0.0.1:8766") == "see http://<address>"
