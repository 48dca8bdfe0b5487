import copy
import json
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.uris.syntax import Breach, QueryParams, decode, encode, quoted, shown

PARAMS = QueryParams({"format": "json", "limit": "10"})


@pytest.mark.parametrize(
    "change",
    [
        lambda params: params.__setitem__("format", "text"),
        lambda params: params.__delitem__("format"),
        lambda params: params.__ior__({"format": "text"}),
        lambda params: params.clear(),
        lambda params: params.pop("format"),
        lambda params: params.popitem(),
        lambda params: params.setdefault("depth", "pages"),
        lambda params: params.update(format="text"),
    ],
)
def test_query_parameters_refuse_every_change(change: Callable[[dict[str, str]], object]) -> None:
    with pytest.raises(TypeError, match="change a copy"):
        change(PARAMS)
    assert PARAMS == {"format": "json", "limit": "10"}


def test_query_parameters_are_a_dict_that_json_writes_as_an_object() -> None:
    assert isinstance(PARAMS, dict)
    assert json.dumps(PARAMS) == '{"format": "json", "limit": "10"}'


def test_query_parameters_hash_as_they_compare_whatever_their_order() -> None:
    turned = QueryParams({"limit": "10", "format": "json"})
    assert turned == PARAMS
    assert hash(turned) == hash(PARAMS)


@pytest.mark.parametrize(
    "copied",
    [pickle.loads(pickle.dumps(PARAMS)), copy.copy(PARAMS), copy.deepcopy(PARAMS)],
    ids=["pickle", "copy", "deep"],
)
def test_copies_of_query_parameters_are_equal_and_read_only_too(copied: QueryParams) -> None:
    assert (copied, type(copied)) == (PARAMS, QueryParams)


def test_what_is_derived_from_query_parameters_can_be_changed() -> None:
    changed = PARAMS | {"limit": "20"}
    changed["offset"] = "5"
    assert changed == {"format": "json", "limit": "20", "offset": "5"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoding_undoes_encoding(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_encoded_text_has_only_unreserved_characters_and_escapes(text: str) -> None:
    assert set(encode(text)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("plain", "plain"),
        ("a+b", "a+b"),
        ("%e5%B9%b4", "年"),
        ("年%E5%BA%A6", "年度"),
        ("%25zz", "%zz"),
        ("%252F", "%2F"),
        ("%00%0A", "\0\n"),
        ("%F0%9F%98%80", "😀"),
    ],
)
def test_percent_escapes_decode_once_as_utf_8(written: str, meant: str) -> None:
    assert decode(written) == meant


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("a%", "%"),
        ("a%2", "%2"),
        ("%zz", "%zz"),
        ("%2Gx", "%2G"),
        ("% 1", "% 1"),
        ("%u5E74", "%u5"),
        ("%２０", "%２０"),
        ("%ff", "%ff"),
        ("%E5%B9", "%E5%B9"),
        ("ok%41%E5x", "%E5"),
        ("%C0%AF", "%C0"),
        ("%ED%A0%80", "%ED"),
    ],
)
def test_escapes_that_are_broken_or_not_utf_8_are_refused_with_the_hint_to_write_25(written: str, part: str) -> None:
    with pytest.raises(Breach, match="%25 for a literal %") as caught:
        decode(written)
    assert (caught.value.rule, caught.value.part) == (0, part)


@given(st.text(st.characters(), max_size=400))
def test_what_is_shown_of_a_uri_is_bounded_and_can_be_sent(text: str) -> None:
    assert len(shown(text).encode()) <= 1_400


@given(st.text(st.characters(), max_size=400))
def test_what_is_quoted_in_a_message_stays_on_one_short_line_that_can_be_printed(text: str) -> None:
    line = quoted(text)
    assert line.isprintable()
    assert len(line) <= 700
