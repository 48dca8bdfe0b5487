"""What is sent, and what is made of the answers."""

import json
from datetime import date
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.requests import (
    document_uri,
    keyword_list,
    plain_params,
    read_form,
    reply_to,
    timed_out,
    tool_result,
    whole_seconds,
)
from a2c_smcp.errors import BadRequest, InternalError, InvalidDPEUri
from a2c_smcp.uris import build_dpe_uri, parse_dpe_uri

URI = "dpe://h/d"
CIRCLE: dict[str, Any] = {}
CIRCLE["itself"] = CIRCLE


@pytest.mark.parametrize(("timeout", "sent"), [(1, 1), (60.0, 60), (0.01, 1), (1.5, 2)])
def test_a_time_out_travels_in_whole_seconds(timeout: float, sent: int) -> None:
    assert whole_seconds(timeout) == sent


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_a_time_out_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(BadRequest):
        whole_seconds(timeout)


def test_arguments_of_a_tool_are_what_json_can_hold() -> None:
    params = {"a": [1, None, {"b": 2**70}], "path": PurePosixPath("x/y"), "at": date(2026, 1, 2), "n": Decimal("1.5")}
    assert plain_params(params) == params
    assert plain_params(None) == plain_params({}) == {}


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"a": b"bytes"}, "contain a bytes, which JSON"),
        ({"a": [{1, 2}]}, "contain a set, which JSON"),
        ({"a": {"b": object()}}, "contain a object, which JSON"),
        ([1], "a mapping of names to values, not list"),
        ("text", "a mapping of names to values, not str"),
        ({"a": float("nan")}, "float values are not JSON"),
        ({"a": [None, {"b": float("-inf")}], "n": 2**70}, "float values are not JSON"),
        (CIRCLE, "Circular reference"),
    ],
)
def test_arguments_that_would_be_mangled_on_the_way_are_refused(params: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        plain_params(params)


@pytest.mark.parametrize(
    ("given_words", "sent"), [(None, None), ("annual report", ["annual report"]), (("a", "b"), ["a", "b"]), ([], [])]
)
def test_a_single_keyword_is_not_taken_apart(given_words: Any, sent: list[str] | None) -> None:
    assert keyword_list(given_words) == sent


def test_a_reply_of_another_form_names_its_fields() -> None:
    with pytest.raises(InternalError) as problem:
        reply_to("client:get_desktop", {"desktops": 7})
    assert problem.value.details == {
        "event": "client:get_desktop",
        "fields": {"desktops": "must be a list"},
    }


@pytest.mark.parametrize(
    ("reply", "is_error"),
    [({"content": []}, False), ({"content": [], "isError": None}, False), ({"content": [], "isError": True}, True)],
)
def test_a_result_always_says_whether_it_is_an_error(reply: dict[str, Any], is_error: bool) -> None:
    assert tool_result(reply) == {"content": [], "isError": is_error}


@pytest.mark.parametrize("reply", [None, "done", [], {}, {"content": "done"}])
def test_what_has_no_contents_is_no_result(reply: object) -> None:
    with pytest.raises(InternalError, match="not a tool result"):
        tool_result(reply)


def test_a_result_that_did_not_come_says_why() -> None:
    late = timed_out("t", 2.5, "r", "nobody there")
    assert (late["req_id"], late["isError"], (late["meta"] or {})["timeout"]) == ("r", True, True)
    assert late["content"][0]["text"] == (
        "The tool 't' did not finish within 2.5 s; the call was cancelled (no connection: nobody there)"
    )


@pytest.mark.rule("7.7")
@pytest.mark.parametrize(
    ("content", "form"),
    [
        ({"mimeType": "application/json", "text": '{"page_count": 2}'}, {"page_count": 2}),
        ({"mimeType": "application/vnd.x+json; charset=utf-8", "text": '{"a": 1}'}, {"a": 1}),
        ({"mimeType": "application/json", "text": "[1]"}, {"uri": URI, "content_json": [1]}),
        (
            {"mimeType": "application/json", "text": "{"},
            {"content_text": "{", "title": "", "uri": URI, "mime_type": "application/json"},
        ),
        ({"mimeType": "text/markdown", "text": "# T\n\nx"}, {"content_markdown": "# T\n\nx", "title": "T", "uri": URI}),
        ({"mimeType": "Text/Markdown; charset=utf-8", "text": "x"}, {"content_markdown": "x", "title": "", "uri": URI}),
        ({"mimeType": "text/plain", "text": "x"}, {"content_text": "x", "title": "", "uri": URI}),
        ({"mimeType": "text/plain", "text": "x", "title": "T"}, {"content_text": "x", "title": "T", "uri": URI}),
        (
            {"mimeType": "text/csv", "text": "x"},
            {"content_text": "x", "title": "", "uri": URI, "mime_type": "text/csv"},
        ),
        ({"mimeType": "image/png", "blob": "AAAA"}, {"uri": URI, "mime_type": "image/png", "blob": "AAAA"}),
        ({"blob": "AAAA"}, {"uri": URI, "mime_type": None, "blob": "AAAA"}),
        ({"text": '{"a": 1}'}, {"a": 1}),
        (
            {"uri": "dpe://h/d?format=markdown", "text": "## T"},
            {"content_markdown": "## T", "title": "T", "uri": "dpe://h/d?format=markdown"},
        ),
        (
            {"uri": "dpe://h/d?format=text", "text": "# T"},
            {"content_text": "# T", "title": "", "uri": "dpe://h/d?format=text"},
        ),
        ({"uri": "file:x", "text": '{"a": 1}'}, {"content_text": '{"a": 1}', "title": "", "uri": "file:x"}),
        ({"uri": "dpe://", "text": "x"}, {"content_text": "x", "title": "", "uri": "dpe://"}),
    ],
)
def test_contents_come_in_the_form_of_their_kind(content: dict[str, Any], form: dict[str, Any]) -> None:
    assert read_form(URI, [content]) == form


@pytest.mark.rule("7.7")
@pytest.mark.parametrize(
    ("content", "title"),
    [
        ({"text": "x", "_meta": {"title": "told"}}, "told"),
        ({"text": "# heading", "title": "told", "_meta": {"title": "no"}}, "told"),
        ({"text": "words\n\n## 概览 ##\n"}, "概览"),
        ({"text": r"# A \& B \\ C"}, r"A & B \ C"),
        ({"text": "#no heading"}, ""),
        ({"text": "x", "_meta": 7}, ""),
    ],
)
def test_a_markdown_text_has_the_title_it_is_told_or_that_of_its_first_heading(
    content: dict[str, Any], title: str
) -> None:
    assert read_form(URI, [{"mimeType": "text/markdown", **content}])["title"] == title


def test_several_contents_keep_each_their_form() -> None:
    two = [{"uri": "a:1", "mimeType": "text/plain", "text": "x"}, {"uri": "a:2", "mimeType": "image/png", "blob": "B"}]
    assert read_form("a:", two) == {
        "uri": "a:",
        "contents": [
            {"content_text": "x", "title": "", "uri": "a:1"},
            {"uri": "a:2", "mime_type": "image/png", "blob": "B"},
        ],
    }
    assert read_form("a:", []) == {"uri": "a:", "contents": []}


@given(
    st.dictionaries(
        st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)
    )
)
def test_a_json_object_comes_back_as_it_was(value: dict[str, Any]) -> None:
    assert read_form(URI, [{"mimeType": "application/json", "text": json.dumps(value)}]) == value


names = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)


@given(names, names)
def test_a_place_in_a_document_is_found_from_any_uri_of_it(doc_ref: str, element_id: str) -> None:
    document = build_dpe_uri("h", doc_ref)
    for uri in (document, f"{document}?depth=pages", f"{document}/pages/7?format=markdown"):
        parsed = parse_dpe_uri(document_uri(uri, f"elements/{element_id}"))
        assert (parsed.doc_ref, parsed.element_id, parsed.query_params) == (doc_ref, element_id, {})
        assert document_uri(uri) == document


@pytest.mark.parametrize("uri", ["dpe://h", "dpe://h/", "window://h/x", "nonsense"])
def test_what_names_no_document_is_refused(uri: str) -> None:
    with pytest.raises(InvalidDPEUri):
        document_uri(uri)


def test_a_page_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidDPEUri):
        document_uri(URI, "pages/-1")
