"""Queries: words, phrases, beginnings, and scripts without blanks."""

import sqlite3
from contextlib import closing, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.queries import Term, attempts, joined, parted, terms_of
from a2c_smcp.errors import BadRequest


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("annual report", [Term("annual"), Term("report")]),
        ('sales "fiscal year" 2025', [Term("sales"), Term("fiscal year", phrase=True), Term("2025")]),
        ("“fiscal year”", [Term("fiscal year", phrase=True)]),
        ('"never closed', [Term("never closed", phrase=True)]),
        ("rep*", [Term("rep", begins=True)]),
        ("-- AND !!! x", [Term("AND"), Term("x")]),
        ("收入", [Term("收\u200b入")]),
        ("ＡＢＣ", [Term("ABC")]),
    ],
)
def test_a_query_is_words_phrases_and_beginnings(query: str, terms: list[Term]) -> None:
    assert terms_of(query) == terms


@pytest.mark.parametrize("query", ["", "  ", '"!"', "***", "x" * 1_001, "x " * 33])
def test_a_query_without_words_or_with_too_many_is_refused(query: str) -> None:
    with pytest.raises(BadRequest):
        terms_of(query)


def test_strict_comes_before_loose() -> None:
    assert attempts('reports of "the year"') == [
        '"reports" AND "of" AND "the year"',
        '"reports"* AND "of" AND "the year"',
        '"the year" AND ("reports"* OR "of")',
    ]


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("plain words", "plain words"),
        ("营业收入", "营\u200b业\u200b收\u200b入"),
        ("用Python写", "用\u200bPython\u200b写"),
        ("收入，成本", "收\u200b入，成\u200b本"),
        ("ﬁne", "fine"),
    ],
)
def test_words_without_blanks_are_taken_apart(text: str, indexed: str) -> None:
    assert parted(text) == indexed


def test_signs_between_words_are_read_as_they_were_written() -> None:
    assert joined(parted("关系，以及（ＡＢＣ）…")) == "关系，以及（ABC）…"


@given(st.text(st.characters()))
def test_whatever_is_typed_is_refused_or_understood(query: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection, suppress(BadRequest):
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body)")
        for attempt in attempts(query):
            connection.execute("SELECT * FROM words WHERE words MATCH ?", (attempt,)).fetchall()


@given(st.text(st.characters(exclude_characters="\u200b")))
def test_a_text_is_read_as_it_was_but_for_its_normal_form(text: str) -> None:
    assert joined(parted(text)) == joined(parted(joined(parted(text))))
