"""Dates, titles, scales and what text may not hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.pdf.annotations import iso_date
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.graphics import Rule, merged
from a2c_smcp.documents.pdf.outline import folded, unnumbered
from a2c_smcp.documents.pdf.rendering import MAX_PIXELS, MAX_SIDE, scale_for


@pytest.mark.parametrize(
    ("told", "date"),
    [
        ("D:20260102030405+01'00'", "2026-01-02T03:04:05+01:00"),
        ("D:20260102030405Z", "2026-01-02T03:04:05Z"),
        ("D:202601020304", "2026-01-02T03:04:00"),
        ("D:20260102", "2026-01-02"),
        ("2026", "2026-01-01"),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_become_iso(told: str, date: str) -> None:
    assert iso_date(told) == date


@pytest.mark.parametrize(
    ("numbered", "bare"),
    [
        ("3.2 Foxes", "Foxes"),
        ("Chapter 4 Hens", "Hens"),
        ("A.1 Shared", "Shared"),
        ("第3章 狐狸", "狐狸"),
        ("Foxes", "Foxes"),
    ],
)
def test_titles_match_with_and_without_their_numbers(numbered: str, bare: str) -> None:
    assert folded(unnumbered(numbered)) == folded(bare)


def test_folding_takes_out_spacing_case_and_punctuation() -> None:
    assert folded("The  Old-Town (ﬁrst)") == "theoldtownfirst"


def test_control_characters_and_halves_of_pairs_go() -> None:
    assert clean("a\x00b\ud800c\ufffed\x0be\n") == "ab\ufffdcde\n"


@given(st.text())
def test_clean_text_can_be_written(text: str) -> None:
    assert clean(text).encode().decode() == clean(clean(text))


@given(st.floats(1, 1e7), st.floats(1, 1e7), st.floats(1, 600))
def test_no_page_is_drawn_too_large(width: float, height: float, dpi: float) -> None:
    scale = scale_for(width, height, dpi)
    assert scale <= dpi / 72
    assert scale * width * scale * height <= MAX_PIXELS * 1.001
    assert scale * max(width, height) <= MAX_SIDE * 1.001


def test_rules_that_touch_are_one() -> None:
    assert merged([Rule(0, 10, 5), Rule(11, 20, 5.5), Rule(40, 50, 5), Rule(0, 20, 30)]) == [
        Rule(0, 20, 5),
        Rule(40, 50, 5),
        Rule(0, 20, 30),
    ]
