import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.uris.syntax import Breach, decode, encode, quoted, shown


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
