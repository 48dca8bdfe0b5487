"""What is in the list of an MCP server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.resources.listing import (
    EMPTY_LIST,
    ResourceList,
    ResourceListBuilder,
    document_of,
    origin_of,
    scheme_of,
)
from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.uris.dpe import ParsedDPEUri, parse_dpe_uri
from tests.unit.uris.strategies import mutated, parsed_dpe_uris


def test_windows_and_documents_are_found_page_by_page() -> None:
    uris = [
        "window://b",
        "dpe://h/a%2Fb?depth=pages",
        "DPE://h",
        "dpe://g/x/pages/0",
        "dpe://",
        "file:///a",
        "WINDOW://a",
    ]
    builder = ResourceListBuilder(100)
    builder.add({"uri": uri} for uri in uris[:4])
    builder.add({"uri": uri} for uri in uris[4:])
    assert builder.build() == ResourceList(
        resources={uri: {"uri": uri} for uri in uris},
        windows=("window://b", "WINDOW://a"),
        documents=frozenset({"dpe://h/a%2Fb?depth=pages", "DPE://h", "dpe://g/x/pages/0", "dpe://"}),
        hosts={"h": {"a/b": "dpe://h/a%2Fb?depth=pages"}, "g": {}},
        origins=frozenset({"window://b", "window://a", "dpe://h", "dpe://g", "dpe://", "file://"}),
    )


def test_of_two_resources_with_one_uri_the_first_counts() -> None:
    builder = ResourceListBuilder(100)
    builder.add(
        [{"uri": "dpe://h/a", "name": "first"}, {"uri": "dpe://h/a", "name": "second"}, {"uri": "dpe://h/a?x=1"}]
    )
    listing = builder.build()
    assert (listing.resources["dpe://h/a"]["name"], listing.hosts) == ("first", {"h": {"a": "dpe://h/a"}})


def test_what_is_no_resource_is_passed_over() -> None:
    builder = ResourceListBuilder(100)
    builder.add([None, 7, "window://a", {}, {"uri": 3}, {"uri": "window://b"}])
    assert builder.build().windows == ("window://b",)


def test_what_exceeds_the_limit_is_left_out() -> None:
    builder = ResourceListBuilder(3)
    builder.add({"uri": f"window://{number}"} for number in range(10))
    assert (builder.full, builder.build().windows) == (True, ("window://0", "window://1", "window://2"))


def test_nothing_is_an_empty_list() -> None:
    assert ResourceListBuilder(3).build() == EMPTY_LIST


def test_windows_and_documents_are_what_to_watch() -> None:
    builder = ResourceListBuilder(100)
    builder.add({"uri": uri} for uri in ("window://a", "dpe://h/a", "file:///a"))
    assert builder.build().watchable == {"window://a", "dpe://h/a"}


@pytest.mark.parametrize(
    ("uri", "scheme", "origin"),
    [
        ("HTTPS://Example.org:80/a?b#c", "https", "https://Example.org:80"),
        ("file:///etc", "file", "file://"),
        ("dpe://h", "dpe", "dpe://h"),
        ("dpe://h?x=/", "dpe", "dpe://h"),
        ("memo:today", "memo", "memo:"),
        ("nothing", "", ":"),
        ("", "", ":"),
    ],
)
def test_the_place_of_a_uri(uri: str, scheme: str, origin: str) -> None:
    assert (scheme_of(uri), origin_of(uri)) == (scheme, origin)


@given(st.lists(st.one_of(st.none(), st.dictionaries(st.sampled_from(["uri", "name"]), st.text() | st.integers()))))
def test_any_list_can_be_taken(resources: list[object]) -> None:
    builder = ResourceListBuilder(10)
    builder.add(resources)
    assert len(builder.build().resources) <= 10


@given(
    mutated(parsed_dpe_uris.map(str))
    | parsed_dpe_uris.map(str)
    | st.from_regex(r"dpe://[a-z0-9.~_-]+/[A-Za-z0-9.%-]+\n?")
)
def test_the_place_of_a_document_is_what_the_parser_says(uri: str) -> None:
    try:
        parsed: ParsedDPEUri | None = parse_dpe_uri(uri)
    except InvalidDPEUri:
        parsed = None
    expected = None if parsed is None else (parsed.host, parsed.doc_ref if parsed.level == 1 else None)
    assert document_of(uri) == expected
