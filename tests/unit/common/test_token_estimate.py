"""What a text costs, and how it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.token_estimate import cut, estimate_tokens


def words(text: str) -> int:
    """A counter as a caller may have one."""
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("The quick brown fox jumps over the lazy dog", 11),
        ("2026", 2),
        ('{"a": [1, 2]}', 6),
        ("中文", 2),
        ("季度收入对比表", 7),
        ("한국어", 3),
        ("日本語 text", 5),
        ("\ud800", 1),
    ],
)
def test_the_estimate_knows_words_figures_and_chinese(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_the_whole_costs_at_most_its_parts_and_at_least_each(first: str, second: str) -> None:
    whole = estimate_tokens(first + second)
    parts = estimate_tokens(first), estimate_tokens(second)
    assert max(parts) <= whole <= sum(parts)


def test_a_long_text_is_counted_in_no_time() -> None:
    assert estimate_tokens("word " * 2_000_000) == 2_500_000


@given(st.text(), st.integers(-1, 60), st.sampled_from([estimate_tokens, len, words]))
def test_what_is_cut_fits_and_begins_as_the_text_does(text: str, budget: int, count: object) -> None:
    assert callable(count)
    kept = cut(text, budget, count)
    assert count(kept) <= max(budget, 0)
    assert text.startswith(kept.partition("…")[0].rstrip("\n`")) or "…" in text or "`" in text


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert cut("  two words\n", 100) == "  two words\n"


def test_a_cut_falls_between_paragraphs_lines_or_words() -> None:
    paragraphs = "one two three four five\n\nsix seven eight nine ten eleven\n\ntwelve thirteen fourteen fifteen"
    assert cut(paragraphs, 14, words) == "one two three four five\n\nsix seven eight nine ten eleven\n\n…"
    assert cut("one two three", 2, words) == "one two…"


def test_a_code_block_that_is_cut_through_is_closed() -> None:
    assert cut("Look:\n\n```\na b\nc d\ne f\n```\nend", 8, words) == "Look:\n\n```\na b\nc d\n```\n…"


def test_chinese_is_cut_at_the_end_of_a_sentence() -> None:
    assert cut("第一句话说完了。第二句话说完了。第三句", 17) == "第一句话说完了。第二句话说完了。…"
