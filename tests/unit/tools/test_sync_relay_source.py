# Generated from test_relay_source.py by tools/gen_sync.py. Edit the source, not this file.
import pytest

from tests.unit.tools.sync_relay_source import SyncLine, first, opened, relay


def test_a_line_delivers_the_letters_that_are_accepted_and_is_closed() -> None:
    line = SyncLine(["a", "b", "c"])
    assert relay(line, lambda letter: letter != "b") == ["a", "c"]
    assert line.open == 0


def test_lines_are_closed_when_their_user_fails() -> None:
    lines = [SyncLine(["a"]), SyncLine(["b"])]
    with pytest.raises(RuntimeError, match="user"):
        with opened(*lines) as both:
            assert [line.open for line in both] == [1, 1]
            raise RuntimeError("user")
    assert [line.open for line in lines] == [0, 0]


def test_the_first_letter_comes_first() -> None:
    assert first(SyncLine(["x", "y"])) == "x"


def test_closing_a_line_resets_it() -> None:
    line = SyncLine([])
    line.__enter__()
    line.close()
    assert (line.open, line.note) == (0, "await and async in a string stay")
