import pytest

from tests.unit.tools.relay_source import Line, first, opened, relay


async def test_a_line_delivers_the_letters_that_are_accepted_and_is_closed() -> None:
    line = Line(["a", "b", "c"])
    assert await relay(line, lambda letter: letter != "b") == ["a", "c"]
    assert line.open == 0


async def test_lines_are_closed_when_their_user_fails() -> None:
    lines = [Line(["a"]), Line(["b"])]
    with pytest.raises(RuntimeError, match="user"):
        async with opened(*lines) as both:
            assert [line.open for line in both] == [1, 1]
            raise RuntimeError("user")
    assert [line.open for line in lines] == [0, 0]


async def test_the_first_letter_comes_first() -> None:
    assert await first(Line(["x", "y"])) == "x"


async def test_closing_a_line_resets_it() -> None:
    line = Line([])
    await line.__aenter__()
    await line.aclose()
    assert (line.open, line.note) == (0, "await and async in a string stay")
