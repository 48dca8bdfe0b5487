import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.cli.terminal import Terminal, columns, one_line, printable, shorten
from tests.unit.cli import running


def test_a_file_gets_plain_text() -> None:
    assert Terminal.of(io.StringIO(), {}) == Terminal(tty=False, color=False, width=None)


@pytest.mark.parametrize(
    ("env", "color"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=str,
)
def test_colours_are_shown_at_a_terminal_unless_switched_off(env: dict[str, str], color: bool) -> None:
    terminal = Terminal.of(running.Terminal(), env)
    assert (terminal.tty, terminal.color) == (True, color)


def test_the_width_comes_from_the_environment_where_it_says_one() -> None:
    assert Terminal.of(running.Terminal(), {"COLUMNS": "33"}).width == 33


def test_paint_is_added_only_where_it_shows() -> None:
    assert [Terminal(color=True).bold("a"), Terminal(color=True).dim(""), Terminal().cyan("a")] == [
        "\x1b[1ma\x1b[0m",
        "",
        "a",
    ]


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("文档", 4), ("é", 1), ("a文", 3)])
def test_wide_characters_take_two_columns_and_marks_none(text: str, width: int) -> None:
    assert columns(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"), [("short", 5, "short"), ("a long line", 7, "a long…"), ("文档导航", 5, "文档…")]
)
def test_what_does_not_fit_ends_with_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert shorten(text, width) == shown


@given(st.text(), st.integers(min_value=1, max_value=80))
def test_a_shortened_text_always_fits(text: str, width: int) -> None:
    assert columns(shorten(text, width)) <= width


def test_text_for_a_file_is_never_cut() -> None:
    assert Terminal().fit("x" * 500) == "x" * 500


def test_text_for_a_terminal_stays_on_its_line() -> None:
    assert columns(Terminal(tty=True, width=40).fit("x" * 500, used=10)) == 29


@given(st.text())
def test_printable_text_cannot_drive_a_terminal(text: str) -> None:
    shown = printable(text)
    assert [c for c in shown if (ord(c) < 32 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0] == []
    assert len(shown) == len(text)


def test_one_line_has_no_breaks_and_no_runs_of_blanks() -> None:
    assert one_line(" a\n\tb\r\x1b[1m c ") == "a b \ufffd[1m c"
