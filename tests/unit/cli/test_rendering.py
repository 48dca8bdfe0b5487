"""Markdown on a terminal."""

import pytest

from a2c_smcp.cli.rendering import rendered
from a2c_smcp.cli.terminal import Terminal

MARKDOWN = "# Title\n\n- one\n- **two**\n"


def test_for_a_file_markdown_stays_as_it_is() -> None:
    assert rendered(MARKDOWN + "\x1b[31m", Terminal()) == MARKDOWN + "\x1b[31m"


def test_without_colours_it_is_shown_without_what_drives_a_terminal() -> None:
    assert rendered("a\x1b[31mb", Terminal(tty=True, width=40)) == "a\ufffd[31mb"


@pytest.mark.parametrize("width", [20, 500, None])
def test_with_colours_it_is_laid_out(width: int | None) -> None:
    shown = rendered(MARKDOWN + "\x1b]0;title\x07", Terminal(tty=True, color=True, width=width))
    assert "Title" in shown
    assert "\x1b[1m" in shown
    assert "\x1b]0" not in shown
    assert max(map(len, shown.splitlines())) < 140
