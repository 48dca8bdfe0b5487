"""What Markdown escapes, and what it leaves alone."""

import time

import pytest

from a2c_smcp.documents.render import escape


@pytest.mark.rule("7.8.table")
@pytest.mark.parametrize(
    "text",
    [
        "本报告总结了 2026 年度公司在各业务领域的运营情况...",
        "snake_case and x_1 + y_2",
        "2 * 3 * 4 = 24",
        "f(*args, **kwargs)",
        "see [1], [a][b] and [x]: y",
        "a < b && c > d",
        "AT&T; R&D &nonsense;",
        r"C:\Users\me",
        "~5 to ~10",
        "#hashtag, C# and F#",
        "one ` tick",
        "-5 degrees, +3 and 1.5",
        "in the year\n1984. It was",
        "https://example.com/a_b_c?x=1&y=2",
        "more\n=> less",
        "first line\nsecond line",
        "\u3000\u3000全角缩进",
    ],
)
def test_ordinary_prose_stays_as_it_is(text: str) -> None:
    assert escape.paragraphs(text) == [text]


@pytest.mark.rule("7.8.escape")
@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# title", r"\# title"),
        ("- item", r"\- item"),
        ("+ item", r"\+ item"),
        ("* item", r"\* item"),
        ("1. item", r"1\. item"),
        ("12) item", r"12\) item"),
        ("text\n1. item", "text\n1\\. item"),
        ("> quote", r"\> quote"),
        ("---", r"\---"),
        ("***", r"\*\*\*"),
        ("_ _ _", r"\_ _ _"),
        ("```\ncode\n```", "\\`\\`\\`\ncode\n\\`\\`\\`"),
        ("~~~", r"\~\~\~"),
        ("title\n===", "title\n\\==="),
        ("title\n---", "title\n\\---"),
        ("| a | b |\n| - | - |", "| a | b |\n\\| - | - |"),
        ("[a]: http://x", r"\[a]: http://x"),
        ("    indented", "indented"),
        ("trailing  \nblanks", "trailing\nblanks"),
        ("break\\\nhere", "break\\\\\nhere"),
        ("*a* and **b**", r"\*a\* and \*\*b\*\*"),
        ("_a_ and __init__", r"\_a\_ and \_\_init\_\_"),
        ("~~a~~", r"\~\~a\~\~"),
        ("`a`", r"\`a\`"),
        ("[a](b)", r"[a\](b)"),
        ("![a](b)", r"![a\](b)"),
        ("<b>bold</b>", r"\<b>bold\</b>"),
        ("<div", r"\<div"),
        ("<http://x> <1@b.c>", r"\<http://x> \<1@b.c>"),
        ("&copy; &#35; &#x23;", r"\&copy; \&#35; \&#x23;"),
        (r"\* \\", r"\\* \\\\"),
    ],
)
def test_what_would_take_effect_is_escaped(text: str, escaped: str) -> None:
    assert escape.paragraphs(text) == [escaped]


def test_blank_lines_separate_paragraphs() -> None:
    assert escape.paragraphs("\n one\n \t \n\ntwo\u3000\n\u3000\n") == ["one", "two\u3000"]


@pytest.mark.parametrize(
    ("text", "escaped"), [("a #", r"a \#"), ("###", r"\###"), ("C#", "C#"), ("1. a", "1. a"), ("- a", "- a")]
)
def test_in_a_heading_only_closing_hashes_count(text: str, escaped: str) -> None:
    assert escape.heading_text(text) == escaped


@pytest.mark.parametrize(("text", "escaped"), [("[x] done", r"\[x] done"), ("--", r"\--"), ("[xy] z", "[xy] z")])
def test_after_a_list_marker_tasks_and_dashes_count(text: str, escaped: str) -> None:
    assert escape.item_paragraphs(text) == [escaped]


@pytest.mark.parametrize(
    ("url", "linkable"),
    [
        ("https://example.com", True),
        ("dpe://h/d", True),
        ("mailto:a@b.c", True),
        ("relative/path", True),
        ("data:image/png;base64,AA==", True),
        ("data:image/svg+xml,x", False),
        ("DATA:text/html,x", False),
        ("\n javascript:x", False),
        ("VBScript:x", False),
        ("file:///data/a.pdf", False),
    ],
)
def test_scripts_local_files_and_inline_data_make_no_links(url: str, linkable: bool) -> None:
    assert escape.is_linkable(url) is linkable


@pytest.mark.parametrize(
    "unit",
    ["*", "*a ", "<", "<a", "`", "`a``b", "[](", "\n", "\n ", "- ", "\\", "&", "# ", " ", "=\n", "-- x", "|", "("],
)
def test_hostile_text_costs_time_in_proportion(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    before = time.process_time()
    for write in [escape.paragraphs, escape.cell, escape.label, escape.heading_text, escape.destination]:
        assert callable(write)
        write(text)
    assert time.process_time() - before < 10  # tenths of a second; minutes if a rule were quadratic
