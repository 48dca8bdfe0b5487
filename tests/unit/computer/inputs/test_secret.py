"""Values that show themselves only when asked to, and texts cleaned of them."""

import copy
import json
import logging
import pickle
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.masking import MIN_LENGTH
from a2c_smcp.computer.inputs.secret import Redactor, Secret

PLANTED = "s3cr3t/of the+day"


def test_a_secret_shows_itself_only_when_asked() -> None:
    assert Secret(PLANTED).reveal() == PLANTED


@pytest.mark.rule("5.2")
@pytest.mark.parametrize("show", [repr, str, "{}".format, "{:>20}".format, "%s".__mod__, "%r".__mod__])
def test_no_way_to_write_a_secret_shows_it(show: object) -> None:
    assert PLANTED not in show(Secret(PLANTED))  # type: ignore[operator]


def test_a_secret_in_a_log_record_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("test").debug("value %s of %r", Secret(PLANTED), {"key": Secret(PLANTED)})
    assert caplog.messages == ["value <secret> of {'key': <secret>}"]


@pytest.mark.parametrize("leave", [pickle.dumps, copy.deepcopy])
def test_a_secret_does_not_leave_its_process(leave: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        leave(Secret(PLANTED))  # type: ignore[operator]


def test_secrets_are_equal_when_their_values_are() -> None:
    assert {Secret("a"), Secret("a"), Secret("b")} == {Secret("b"), Secret("a")}
    assert Secret("a") != "a"


@pytest.mark.parametrize(
    "spell", [str, repr, quote, quote_plus, lambda text: quote(text, safe=""), json.dumps, lambda text: f"x{text}x"]
)
def test_a_known_value_is_taken_out_however_it_is_spelled(spell: object) -> None:
    redactor = Redactor()
    redactor.learn(PLANTED)
    text = f"failed with {spell(PLANTED)} today"  # type: ignore[operator]
    assert "cr3t" not in redactor.redact(text)


def test_what_is_not_known_stays() -> None:
    redactor = Redactor()
    redactor.learn(PLANTED)
    assert redactor.redact("all is well: s3cr3t") == "all is well: s3cr3t"


def test_without_anything_known_a_text_stays() -> None:
    assert Redactor().redact("anything") == "anything"


def test_a_short_value_counts_only_where_it_stands_alone() -> None:
    redactor = Redactor()
    redactor.learn("prod")
    assert redactor.redact("product in prod, prod_1 and 'prod'") == (
        "product in <redacted>, <redacted>_1 and '<redacted>'"
    )


def test_a_very_short_value_is_not_looked_for() -> None:
    redactor = Redactor()
    redactor.learn("x" * (MIN_LENGTH - 1))
    assert redactor.redact("xxx") == "xxx"


def test_the_longer_of_two_values_is_taken_out_whole() -> None:
    redactor = Redactor()
    redactor.learn("abcdefgh")
    redactor.learn("abcdefghijkl")
    assert redactor.redact("abcdefghijkl abcdefgh") == "<redacted> <redacted>"


def test_the_lines_of_a_long_value_are_taken_out_one_by_one() -> None:
    redactor = Redactor()
    redactor.learn("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----\n")
    assert redactor.redact("line 2 is MIIEvQIBADANBgkqhkiG") == "line 2 is <redacted>"


def test_the_oldest_of_very_many_values_is_forgotten() -> None:
    redactor = Redactor()
    for number in range(1_001):
        redactor.learn(f"value-number-{number:04}")
    assert redactor.redact("value-number-0000 value-number-1000") == "value-number-0000 <redacted>"


def test_a_value_that_is_no_proper_text_is_taken_out() -> None:
    redactor = Redactor()
    redactor.learn("bytes-\udcff-of-old")
    assert redactor.redact("x bytes-\udcff-of-old") == "x <redacted>"


def test_a_redactor_does_not_show_what_it_knows() -> None:
    redactor = Redactor()
    redactor.learn(PLANTED)
    assert repr(redactor) == "Redactor(1 known)"


@given(st.text(min_size=8), st.text(), st.text())
def test_no_text_holds_a_known_value_afterwards(value: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.learn(value)
    assert redactor.redact(value) == "<redacted>"
    assert len(redactor.redact(before + value + after)) <= len(before + after) + len("<redacted>") * (
        1 + (before + after).count(value)
    )
