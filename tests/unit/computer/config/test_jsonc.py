"""JSON with comments: what is read, and what is said of what is not JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.config.jsonc import MAX_DEPTH, SyntaxProblem, parse
from a2c_smcp.computer.config.problems import MAX_PROBLEMS

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_all_json_means_what_it_means_to_the_standard_parser(value: Any, indent: int | None, ascii_: bool) -> None:
    assert parse(json.dumps(value, indent=indent, ensure_ascii=ascii_)) == value


@given(st.text(alphabet='{}[]",:/*\\ \n\ntrue1-e.aN\u00a0“', max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    told: object = None
    try:
        told = json.dumps(parse(text))
    except SyntaxProblem as refused:
        told = refused.problems
    assert told


@pytest.mark.rule("5.4.vscode")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("// note\n[1] // end", [1]),
        ("[1, /* two */ 2]", [1, 2]),
        ("/* a\n b */ {}", {}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ("[1, // last\n]", [1]),
        ('["// no", "/* no */", "a,]"]', ["// no", "/* no */", "a,]"]),
        ('{"https://x": "\\"//"}', {"https://x": '"//'}),
        ("-1.5e3", -1500.0),
    ],
)
def test_comments_and_trailing_commas_are_allowed(text: str, value: object) -> None:
    assert parse(text) == value


QUOTES = "words other than true, false and null stand in double quotes; add them"
CLOSED = 'the text that begins here is never closed; add a "'
VALUE = "a value is missing; add it, or remove the comma before it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'is empty; write at least {"servers": {}}'),
        ("  \n// nothing", 'is empty; write at least {"servers": {}}'),
        ('{\n  "a": npx\n}', f"line 2, column 8: {QUOTES}"),
        ("[NaN]", f"line 1, column 2: {QUOTES}"),
        ("[-Infinity]", f"line 1, column 2: {QUOTES}"),
        ("{'a': 1}", 'line 1, column 2: texts stand in straight double quotes; write "…"'),
        ("{“a”: 1}", 'line 1, column 2: texts stand in straight double quotes; write "…"'),
        ('{"a": 1', "line 1, column 8: the text ends too early; close every { and [ that is open"),
        ('{"a":', "line 1, column 6: the text ends too early; close every { and [ that is open"),
        (
            '{"a": 1\n "b": 2}',
            "line 2, column 2: a comma, or the end of the list or object, is missing before this; add it",
        ),
        ('{"a" 1}', 'line 1, column 6: a colon is missing after the key; write "key": value'),
        ("{1: 2}", 'line 1, column 2: a key is missing; write "key": value'),
        ("[1,,]", f"line 1, column 4: {VALUE}"),
        ("[,]", f"line 1, column 2: {VALUE}"),
        ("{} {}", "line 1, column 4: something follows the end of the document; remove it"),
        ('{"a": "b', f"line 1, column 7: {CLOSED}"),
        ('{"a": "b\n"}', f"line 1, column 7: {CLOSED}"),
        (
            '{"a": "b\tc"}',
            'line 1, column 9: a line break or tab is inside a text; close the text with a ", or write \\n or \\t',
        ),
        (
            '{"cwd": "C:\\Users"}',
            "line 1, column 12: a backslash is not followed by a known letter; double it, as in C:\\\\Users",
        ),
        pytest.param(
            "[1] " + "/* x " * 1_000_000,
            "line 1, column 5: the comment that begins here is never closed; add */",
            id="comments that never close",
        ),
        ("[1] /* x", "line 1, column 5: the comment that begins here is never closed; add */"),
        ("[1,\u00a02]", "line 1, column 4: an invisible character (U+00A0) is in the way; remove it"),
        ("[1, #]", "line 1, column 5: is not JSON; remove it"),
        ("[1e999]", "has a number that is too large; make it smaller"),
        pytest.param("[" + "9" * 5000 + "]", "has a number that is too large; make it smaller", id="digits"),
        ("[" * (MAX_DEPTH + 1), "line 1, column 65: is nested deeper than 64 levels; flatten it"),
        pytest.param(
            "[" * 1_000_000, "line 1, column 65: is nested deeper than 64 levels; flatten it", id="deep without end"
        ),
        ('{"a": 1,\n"a": 2}', 'a: the key "a" is given twice, in lines 1 and 2; keep one of them'),
        (
            '{"x": [0, {"a b": 1, "\\u0061 b": 2}]}',
            'x[1]["a b"]: the key "a b" is given twice, in lines 1 and 1; keep one of them',
        ),
    ],
)
def test_what_is_not_json_is_told_by_line_and_column(text: str, message: str) -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse(text)
    assert [str(problem) for problem in refused.value.problems] == [message]


def test_a_flood_of_repeated_keys_is_told_in_part() -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse("{" + '"a": 1,\n' * 10_000 + '"b": 2}')
    assert len(refused.value.problems) == MAX_PROBLEMS + 1


def test_every_repeated_key_is_told() -> None:
    with pytest.raises(SyntaxProblem) as refused:
        parse('{"a": {"b": 1, "b": 1}, "a": {}}')
    assert [problem.where for problem in refused.value.problems] == ["a.b", "a"]


def test_one_key_in_two_objects_is_no_repetition() -> None:
    assert parse('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_the_deepest_nesting_allowed_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse(text) == json.loads(text)


def test_a_broken_key_is_left_to_the_parser_to_explain() -> None:
    with pytest.raises(SyntaxProblem, match="a backslash is not followed"):
        parse('{"\\q": 1}')
