"""From what MCP servers say of documents, sensible or not, to catalogue entries."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.finder import summaries
from a2c_smcp.computer.finder.catalogue import is_entry
from a2c_smcp.computer.finder.summaries import (
    catalogue_documents,
    catalogue_entries,
    entries_of,
    parse_json,
    plain_uri,
    summary_of,
)
from a2c_smcp.smcp import GET_FINDER_EVENT, parse_reply

WHOLE = {
    "doc_ref": "a",
    "uri": "dpe://h/a",
    "file_uri": "file:///data/a.pdf",
    "file_type": "pdf",
    "title": "A",
    "page_count": 3,
    "keywords": ["x", "y"],
    "summary": "About A",
    "last_modified": "2026-01-15T08:30:00Z",
}
BARE = {
    "doc_ref": "a",
    "uri": "dpe://h/a",
    "file_uri": "",
    "file_type": "",
    "title": "a",
    "page_count": 0,
    "server": "s",
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*WHOLE, "pages"]), inner),
    max_leaves=10,
)


def unlisted(doc_ref: str) -> dict[str, Any]:
    return {}


def test_a_whole_entry_stays_whole() -> None:
    assert entries_of([WHOLE], "s", "h", unlisted) == {"a": {**WHOLE, "server": "s"}}


def test_an_entry_without_a_uri_is_known_by_its_doc_ref() -> None:
    assert entries_of([{"doc_ref": "a/b"}], "s", "h", unlisted) == {
        "a/b": {**BARE, "doc_ref": "a/b", "uri": "dpe://h/a%2Fb", "title": "a/b"}
    }


def test_the_doc_ref_is_the_one_of_the_uri() -> None:
    assert entries_of([{"doc_ref": "lie", "uri": "dpe://h/a%20b"}], "s", "h", unlisted)["a b"]["doc_ref"] == "a b"


@pytest.mark.parametrize(
    "item",
    [
        None,
        "dpe://h/a",
        [],
        {},
        {"doc_ref": 3},
        {"doc_ref": ""},
        {"doc_ref": "\ud800"},
        {"uri": 3, "doc_ref": "a"},
        {"uri": "dpe://other/a"},
        {"uri": "dpe://h"},
        {"uri": "dpe://h/a/pages/0"},
        {"uri": "window://h/a"},
    ],
)
def test_what_is_no_document_of_the_host_is_dropped(item: object) -> None:
    assert entries_of([item], "s", "h", unlisted) == {}


def test_of_two_entries_with_one_doc_ref_the_first_counts() -> None:
    assert entries_of([WHOLE, {**WHOLE, "title": "Again"}], "s", "h", unlisted)["a"]["title"] == "A"


def test_what_the_catalogue_leaves_out_is_taken_from_the_list() -> None:
    resource = {"name": "a.pdf", "description": "From the list", "annotations": {"lastModified": "2026-01-01"}}
    assert entries_of([{"doc_ref": "a", "title": "A"}], "s", "h", {"a": resource}.__getitem__) == {
        "a": {**BARE, "title": "A", "summary": "From the list", "last_modified": "2026-01-01"}
    }


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ({"title": 3}, {}),
        ({"title": ""}, {}),
        ({"title": "x" * 5_000}, {"title": "x" * summaries.MAX_LINE}),
        ({"page_count": "12"}, {}),
        ({"page_count": True}, {}),
        ({"page_count": -1}, {}),
        ({"page_count": 2**60}, {}),
        ({"page_count": 1e300}, {}),
        ({"page_count": 12.0}, {"page_count": 12}),
        ({"file_uri": "f" * 5_000}, {}),
        ({"file_type": ["pdf"]}, {}),
        ({"keywords": "one"}, {}),
        ({"keywords": ["one", 2, None]}, {"keywords": ["one"]}),
        ({"keywords": ["k" * 5_000] * 5_000}, {"keywords": ["k" * summaries.MAX_KEYWORD] * summaries.MAX_KEYWORDS}),
        ({"summary": {"text": "x"}}, {}),
        ({"summary": "x" * 100_000}, {"summary": "x" * summaries.MAX_SUMMARY}),
        ({"last_modified": 20260115}, {}),
        ({"pages": [{"page_index": 0}], "server": "another"}, {}),
    ],
)
def test_fields_of_the_wrong_kind_are_missing_and_endless_ones_are_cut(said: Any, understood: Any) -> None:
    assert summary_of(said, "s", "a", "dpe://h/a", {}) == {**BARE, **understood}


@pytest.mark.parametrize("resource", [{"title": 7, "name": None, "description": [], "annotations": "x"}, {}])
def test_a_list_that_says_nothing_of_use_leaves_the_doc_ref(resource: Any) -> None:
    assert summary_of("no JSON", "s", "a", "dpe://h/a", resource) == BARE


@pytest.mark.parametrize(
    "contents",
    [
        [],
        [None, 3],
        [{"blob": "AAAA"}],
        [{"text": 3}],
        [{"text": "{"}],
        [{"text": "\ud800"}],
        [{"text": "NaN"}],
        [{"text": "[" * 100_000}],
        [{"text": '"\\ud800"'}],
    ],
)
def test_contents_without_readable_json_are_none(contents: list[object]) -> None:
    assert parse_json(contents) is None


def test_contents_that_are_too_long_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MAX_REPLY", 10)
    assert parse_json([{"text": json.dumps("x" * 20)}]) is None


def test_the_first_text_is_read() -> None:
    assert parse_json([{"blob": "AAAA"}, {"text": '{"a": 1}'}, {"text": "2"}]) == {"a": 1}


@pytest.mark.parametrize("reply", [None, [], {}, {"documents": {}}, {"documents": None}])
def test_what_has_no_list_of_documents_is_no_catalogue(reply: object) -> None:
    assert catalogue_documents(reply) is None


def test_a_page_can_follow_a_plain_uri() -> None:
    assert plain_uri("dpe://h/a?depth=pages") == "dpe://h/a"


@given(json_values)
def test_whatever_a_server_says_gives_an_entry_that_can_travel(item: object) -> None:
    entry = summary_of(item, "s", "a", "dpe://h/a", {})
    assert is_entry(entry)
    reply = {"documents": [entry], "total_count": 1, "req_id": "r"}
    assert parse_reply(GET_FINDER_EVENT, reply)["documents"] == [entry]


@given(st.lists(json_values))
def test_whatever_is_in_a_catalogue_gives_entries_by_their_doc_refs(items: list[object]) -> None:
    for doc_ref, entry in entries_of(items, "s", "h", unlisted).items():
        assert (entry["doc_ref"], is_entry(entry)) == (doc_ref, True)


@pytest.mark.parametrize(
    "text", ["", "[", "3", "{}", '{"documents": 3}', "\ud800", '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"]
)
def test_a_reply_that_is_no_catalogue_gives_no_entries(text: str) -> None:
    assert catalogue_entries([{"text": text}], "s", "h", unlisted) is None


def test_a_sound_catalogue_with_odd_uris_is_sorted_out() -> None:
    uris = ["dpe://h/a%20b?depth=pages", "dpe://h/a", "dpe://h/a", "dpe://other/c", "dpe://h/d/pages/0"]
    text = json.dumps({"documents": [{**WHOLE, "uri": uri} for uri in uris]})
    assert catalogue_entries([{"text": text}], "s", "h", unlisted) == {
        "a b": {**WHOLE, "doc_ref": "a b", "uri": "dpe://h/a%20b", "server": "s"},
        "a": {**WHOLE, "server": "s"},
    }


def test_contents_without_text_give_no_entries() -> None:
    assert catalogue_entries([{"blob": "AAAA"}], "s", "h", unlisted) is None


def test_depth_where_nobody_looks_does_no_harm() -> None:
    deep = "[" * 900 + "]" * 900
    assert catalogue_entries([{"text": f'{{"documents": [], "x": {deep}}}'}], "s", "h", unlisted) == {}


near_whole = st.builds(
    lambda item, uri: {**WHOLE, **item, "uri": uri},
    st.dictionaries(st.sampled_from([*WHOLE, "pages"]), json_values, max_size=2),
    st.sampled_from(["dpe://h/a", "dpe://h/b", "dpe://h/a%20b?depth=pages", "dpe://g/a", "dpe://h/a/pages/0", "x", ""]),
)


@given(st.lists(st.one_of(near_whole, json_values)))
def test_a_sound_catalogue_is_read_as_carefully_as_an_unsound_one(items: list[object]) -> None:
    text = json.dumps({"documents": items}, allow_nan=True).replace("Infinity", "1e9").replace("NaN", "0")

    def describe(doc_ref: str) -> dict[str, Any]:
        return {"name": "listed", "description": "From the list"} if doc_ref == "a" else {}

    parsed = catalogue_documents(parse_json([{"text": text}]))
    expected = None if parsed is None else entries_of(parsed, "s", "h", describe)
    assert catalogue_entries([{"text": text}], "s", "h", describe) == expected
