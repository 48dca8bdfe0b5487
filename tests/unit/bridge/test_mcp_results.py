from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.bridge.mcp_results import Key, encode_cursor, page_of, resource_contents, tool_result
from a2c_smcp.bridge.uris import ResourceAddress
from a2c_smcp.errors import BadRequest

TEXT = {"type": "text", "text": "hi", "annotations": {"audience": ["user"]}}
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


def test_a_result_goes_through_as_it_is() -> None:
    structured = {"answer": 42}
    given: Any = {
        "content": [TEXT, IMAGE],
        "structuredContent": structured,
        "isError": False,
        "meta": {"a": 1},
        "req_id": "r",
    }
    assert tool_result(given, "desk") == {
        "content": [TEXT, IMAGE],
        "structuredContent": structured,
        "isError": False,
        "_meta": {"a": 1},
    }


def test_why_a_tool_failed_is_in_the_meta() -> None:
    given: Any = {"content": [TEXT], "isError": True, "meta": {"code": 4003, "details": {"path": "x"}}}
    assert tool_result(given, "desk") == {"content": [TEXT], "isError": True, "_meta": given["meta"]}


def test_resources_in_a_result_are_those_of_the_computer() -> None:
    link = {"type": "resource_link", "uri": "dpe://h/d", "name": "d"}
    embedded = {"type": "resource", "resource": {"uri": "test://x", "blob": "AAAA", "mimeType": "image/png"}}
    given: Any = {"content": [link, embedded]}
    assert tool_result(given, "desk")["content"] == [
        link | {"uri": "a2c://desk/dpe/h/d"},
        {"type": "resource", "resource": embedded["resource"] | {"uri": "a2c://desk/test/x"}},  # type: ignore[operator]
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "hologram", "data": 1},
        {"type": "image"},
        {"type": "resource", "resource": {"uri": "x://y"}},
        "text",
        None,
    ],
)
def test_a_block_that_mcp_does_not_know_is_told_as_text(block: Any) -> None:
    given: Any = {"content": [block, TEXT]}
    told, kept = tool_result(given, "desk")["content"]
    assert (told["type"], type(told["text"]), kept) == ("text", str, TEXT)


def test_contents_have_the_uri_in_the_form_that_was_asked_for() -> None:
    contents = [{"uri": "dpe://h/d", "mimeType": "text/plain", "text": "x"}, {"uri": "dpe://h/e", "blob": "AA=="}]
    asked = "a2c://desk/dpe/h/d"
    place = ResourceAddress("dpe://h/d", "desk")
    named = ResourceAddress("dpe://h/d", "desk", "files")
    assert [one["uri"] for one in resource_contents(contents, asked, place)] == [asked, "a2c://desk/dpe/h/e"]
    assert [one["uri"] for one in resource_contents(contents, asked, named)] == [
        "a2c://desk/@files/dpe/h/d",
        "a2c://desk/@files/dpe/h/e",
    ]
    assert resource_contents(contents, "dpe://h/d", ResourceAddress("dpe://h/d")) == contents


def test_contents_without_uri_or_body_are_mended() -> None:
    assert resource_contents([{"mimeType": "text/plain"}], "a2c://desk/x/y", ResourceAddress("x://y", "desk")) == [
        {"mimeType": "text/plain", "uri": "a2c://desk/x/y", "text": ""}
    ]


KEYS = st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), unique=True, max_size=30).map(sorted)


def walk(items: list[tuple[str, str]], size: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor = None
    while True:
        page, cursor = page_of(items, lambda item: item, cursor, size)
        found += page
        if cursor is None:
            return found


@given(items=KEYS, size=st.integers(1, 7))
def test_pages_put_together_are_the_whole(items: list[tuple[str, str]], size: int) -> None:
    assert walk(items, size) == items


def test_no_empty_page_follows_a_full_one() -> None:
    assert page_of([("a",), ("b",)], lambda item: item, None, 2) == ([("a",), ("b",)], None)


def test_what_goes_or_comes_in_between_spoils_nothing_else() -> None:
    items: list[Key] = [("a",), ("c",), ("e",), ("g",)]
    first, cursor = page_of(items, lambda item: item, None, 2)
    second, _ = page_of([("a",), ("b",), ("d",), ("g",)], lambda item: item, cursor, 2)
    assert (first, second) == ([("a",), ("c",)], [("d",), ("g",)])


@pytest.mark.parametrize("cursor", ["", "x", "!!!", "bnVsbA", "WzFd", "W" * 5000, "é", "[]"])
def test_a_cursor_of_somebody_else_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest, match="list again"):
        page_of([("a",)], lambda item: item, cursor, 2)


@given(key=st.lists(st.text(), max_size=3).map(tuple))
def test_a_cursor_says_where_the_page_ended(key: Key) -> None:
    assert page_of([key], lambda item: item, encode_cursor(key), 1) == ([], None)
