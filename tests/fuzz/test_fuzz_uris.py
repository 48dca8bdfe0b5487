"""The laws of the URIs over as many examples as A2C_FUZZ_EXAMPLES allows, and their cost on hostile input."""

import json
import os
from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given, settings

from a2c_smcp.errors import InvalidDPEUri, InvalidWindowUri, from_wire, to_wire
from a2c_smcp.types import CATEGORIES
from a2c_smcp.uris import ParsedDPEUri, ParsedWindowUri, dpe, parse_dpe_uri, parse_window_uri, window
from a2c_smcp.uris.syntax import MAX_LENGTH
from tests.unit.uris.strategies import mutated, parsed_dpe_uris, parsed_window_uris, texts

many = settings(max_examples=int(os.environ.get("A2C_FUZZ_EXAMPLES", "200")))


def returns_over_the_wire(error: InvalidDPEUri | InvalidWindowUri) -> bool:
    ack = json.loads(json.dumps(to_wire(error), ensure_ascii=False).encode())
    return from_wire(ack).code == error.code


@many
@given(texts | mutated(parsed_dpe_uris.map(str)))
def test_any_text_is_a_document_uri_or_an_error_that_can_be_sent(raw: str) -> None:
    try:
        parsed = parse_dpe_uri(raw)
    except InvalidDPEUri as error:
        good = returns_over_the_wire(error)
    else:
        uri = str(parsed)
        good = (parsed, uri) == (parse_dpe_uri(uri), str(parse_dpe_uri(uri))) and parsed == dpe._parse_carefully(raw)
    assert good


@many
@given(texts | mutated(parsed_window_uris.map(str)))
def test_any_text_is_a_window_uri_or_an_error_that_can_be_sent(raw: str) -> None:
    try:
        parsed = parse_window_uri(raw)
    except InvalidWindowUri as error:
        good = returns_over_the_wire(error)
    else:
        uri = str(parsed)
        good = (parsed, uri) == (parse_window_uri(uri), str(parse_window_uri(uri)))
        good = good and parsed == window._parse_carefully(raw)
    assert good


@many
@given(texts | mutated(parsed_dpe_uris.map(str)))
def test_every_document_uri_has_values_within_the_rules(raw: str) -> None:
    with suppress(InvalidDPEUri):
        uri = parse_dpe_uri(raw)
        assert (uri.page_index is not None, uri.element_id is not None) == (uri.level == 2, uri.level == 3)
        assert uri.offset >= 0
        assert 1 <= uri.limit <= 100
        assert set(uri.categories) <= set(CATEGORIES)


@many
@given(parsed_dpe_uris)
def test_document_uris_survive_being_written_and_read(parsed: ParsedDPEUri) -> None:
    assert parse_dpe_uri(str(parsed)) == parsed


@many
@given(parsed_window_uris)
def test_window_uris_survive_being_written_and_read(parsed: ParsedWindowUri) -> None:
    assert parse_window_uri(str(parsed)) == parsed


PIECES = [
    "%41", "%E5%B9%B4", "%C3", "%", "/", "a/", "&", "=", "&a", "a=&", "?", "#", ":", "@", "[", "]", ",", "a", "0", " ",
    "年", "\ud800", "table,", "form,", "&format=json", "&limit=1", "&offset=0000000000", "pages/", "elements/",
]  # fmt: skip
STARTS = ["", "dpe:", "dpe://", "dpe://h/", "dpe://h/d/elements/", "dpe://h/d/pages/", "dpe://h?"]
STARTS += ["dpe://h?categories=table,", "dpe://h?categories=table&", "dpe://h?limit=", "dpe://h?q="]


@pytest.mark.parametrize("start", STARTS)
def test_hostile_input_of_full_length_costs_a_few_milliseconds(start: str) -> None:
    # The linear cost is at most 20 ms; a quadratic one would be seconds at this length.
    for piece in PIECES:
        for end in ("", "!", "\0"):
            body = start + piece * ((MAX_LENGTH - len(start) - len(end)) // len(piece)) + end
            assert best_seconds(body) < 0.25, (start, piece, end)


def best_seconds(body: str) -> float:
    """The quickest of up to three runs, so that a busy machine does not fail the test."""
    best = float("inf")
    for _ in range(3):
        begin = process_time()
        with suppress(InvalidDPEUri):
            str(dpe._parse(body))
        with suppress(InvalidWindowUri):
            str(window._parse(body.replace("dpe:", "window:", 1)[:MAX_LENGTH]))
        best = min(best, process_time() - begin)
        if best < 0.1:
            break
    return best


def test_hostile_lists_of_distinct_keys_cost_a_few_milliseconds() -> None:
    keys = "&".join(f"{number:x}" for number in range(3_000))
    assert best_seconds(f"dpe://h?{keys}") < 0.25
