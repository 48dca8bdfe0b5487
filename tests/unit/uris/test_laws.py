"""What holds for every URI of both schemes."""

import json
import pickle
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given

from a2c_smcp.errors import InvalidDPEUri, InvalidWindowUri
from a2c_smcp.uris import (
    ParsedDPEUri,
    ParsedWindowUri,
    build_dpe_uri,
    build_window_uri,
    dpe,
    parse_dpe_uri,
    parse_window_uri,
    window,
)
from tests.unit.uris.strategies import mutated, parsed_dpe_uris, parsed_window_uris, texts


@pytest.mark.rule("7.1.identity")
@given(parsed_dpe_uris)
def test_parsing_what_was_built_gives_the_parts_of_a_document_uri_back(parsed: ParsedDPEUri) -> None:
    uri = build_dpe_uri(parsed.host, parsed.doc_ref, parsed.sub_path, parsed.query_params)
    assert parse_dpe_uri(uri) == parsed


@pytest.mark.rule("6.1.path")
@given(parsed_window_uris)
def test_parsing_what_was_built_gives_the_parts_of_a_window_uri_back(parsed: ParsedWindowUri) -> None:
    assert parse_window_uri(build_window_uri(parsed.host, *parsed.path, params=parsed.query_params)) == parsed


@pytest.mark.rule("7.1.identity")
@given(parsed_dpe_uris)
def test_building_what_was_parsed_gives_a_canonical_document_uri_back(parsed: ParsedDPEUri) -> None:
    uri = str(parsed)
    again = parse_dpe_uri(uri)
    assert (build_dpe_uri(again.host, again.doc_ref, again.sub_path, again.query_params), str(again)) == (uri, uri)


@given(parsed_window_uris)
def test_building_what_was_parsed_gives_a_canonical_window_uri_back(parsed: ParsedWindowUri) -> None:
    uri = str(parsed)
    again = parse_window_uri(uri)
    assert (build_window_uri(again.host, *again.path, params=again.query_params), str(again)) == (uri, uri)


def is_sendable(error: InvalidDPEUri | InvalidWindowUri) -> bool:
    """Whether an error tells its rule and holds nothing that UTF-8 JSON cannot carry."""
    json.dumps([error.message, error.details], ensure_ascii=False).encode()
    return error.details is not None and error.details.keys() == {"uri", "rule", "rule_name", "part"}


@given(texts | mutated(parsed_dpe_uris.map(str)))
def test_any_text_is_a_document_uri_with_a_canonical_form_or_the_error_of_its_own(raw: str) -> None:
    try:
        parsed = parse_dpe_uri(raw)
    except InvalidDPEUri as error:
        good = is_sendable(error)
    else:
        good = parsed == parse_dpe_uri(str(parsed)) == pickle.loads(pickle.dumps(parsed))
    assert good


@given(texts | mutated(parsed_window_uris.map(str)))
def test_any_text_is_a_window_uri_with_a_canonical_form_or_the_error_of_its_own(raw: str) -> None:
    try:
        parsed = parse_window_uri(raw)
    except InvalidWindowUri as error:
        good = is_sendable(error)
    else:
        good = parsed == parse_window_uri(str(parsed)) == pickle.loads(pickle.dumps(parsed))
    assert good


@given(texts | mutated(parsed_dpe_uris.map(str)) | parsed_dpe_uris.map(str))
def test_the_fast_way_to_read_a_document_uri_agrees_with_the_careful_one(raw: str) -> None:
    fast = dpe._parse_plain(raw)
    if fast is not None:
        careful = dpe._parse_carefully(raw)
        assert (fast, list(fast.query_params)) == (careful, list(careful.query_params))


@given(texts | mutated(parsed_window_uris.map(str)) | parsed_window_uris.map(str))
def test_the_fast_way_to_read_a_window_uri_agrees_with_the_careful_one(raw: str) -> None:
    fast = window._parse_plain(raw)
    if fast is not None:
        careful = window._parse_carefully(raw)
        assert (fast, list(fast.query_params)) == (careful, list(careful.query_params))


@given(parsed_window_uris)
def test_a_canonical_uri_means_the_same_to_the_standard_library(parsed: ParsedWindowUri) -> None:
    with suppress(ValueError):  # urlsplit refuses brackets that hold no address, and some hosts beyond ASCII
        split = urlsplit(str(parsed))
        segments = tuple(unquote(segment) for segment in split.path.split("/")[1:])
        assert (split.scheme, split.netloc, segments) == ("window", parsed.host, parsed.path)
