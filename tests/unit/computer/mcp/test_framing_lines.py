"""Lines come out whole, whatever the chunks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.mcp.framing import SAMPLE, LineSplitter

CLEAN = st.text(st.characters(codec="utf-8", exclude_characters="\n\ufeff")).map(str.strip)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


@given(st.lists(CLEAN, max_size=8), st.lists(st.integers(0, 200), max_size=8), st.booleans())
def test_the_lines_do_not_depend_on_the_chunks(texts: list[str], cuts: list[int], ended: bool) -> None:
    data = "\n".join(texts).encode() + b"\n" * ended
    lines = LineSplitter()

    found = [line for chunk in chunks(data, cuts) for line in lines.feed(chunk)] + lines.end()

    assert [line.strip() for line in found] == [text.encode().strip() for text in texts if text.encode().strip()]


@given(st.lists(CLEAN, max_size=8), st.lists(st.integers(0, 400), max_size=8))
def test_a_line_break_of_two_bytes_is_found_too(texts: list[str], cuts: list[int]) -> None:
    lines = LineSplitter("utf-16")
    data = "\n".join([*texts, ""]).encode("utf-16")

    found = [line for chunk in chunks(data, cuts) for line in lines.feed(chunk)] + lines.end()

    assert [line.strip() for line in found] == [text for text in texts if text]


def test_a_byte_order_mark_is_left_out_and_need_not_be_there() -> None:
    assert LineSplitter().feed("\ufeffa\n\ufeffb\n".encode()) == [b"a", b"b"]
    assert [LineSplitter("utf-16").feed("a\n".encode(name)) for name in ("utf-16", "utf-16-le")] == [["a"], ["a"]]


def test_windows_line_ends_and_empty_lines_are_left_out() -> None:
    assert LineSplitter().feed(b"a\r\n\r\n\n b \n") == [b"a", b"b"]


def test_a_line_that_is_too_long_is_cut_and_the_next_is_whole() -> None:
    lines = LineSplitter(limit=1_000)
    found = [line for _ in range(100) for line in lines.feed(b"x" * 100)]

    assert found == []
    assert lines.feed(b"\nnext\n") == [b"x" * SAMPLE, b"next"]


def test_a_line_that_is_too_long_is_not_buffer() -> None:
    lines = LineSplitter(limit=1_000)
    for _ in range(1_000):
        lines.feed(b"x" * 1_000)

    assert sum(map(len, lines._buffer)) == 0


def test_what_was_said_before_the_end_is_a_line() -> None:
    lines = LineSplitter()

    assert (lines.feed(b"last words"), lines.end(), lines.end()) == ([], [b"last words"], [])
