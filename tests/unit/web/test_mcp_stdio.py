"""Lines of a pipe, as they come."""

import os

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.web.mcp_stdio import StdinLines


async def lines_of(pieces: list[bytes]) -> list[str]:
    source, sink = os.pipe()
    lines = StdinLines(source)
    for piece in pieces:
        os.write(sink, piece)
    os.close(sink)
    found = [line async for line in lines]
    os.close(source)
    return found


async def test_lines_are_cut_where_they_end_and_not_where_they_were_written() -> None:
    assert await lines_of([b"one\ntw", b"o\n\xe8\xaf", b"\x8d\nlast"]) == ["one", "two", "词", "last"]


async def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert await lines_of([b"\xff\n"]) == ["�"]


async def test_a_closed_source_is_an_end() -> None:
    source, sink = os.pipe()
    os.close(sink)
    os.close(source)
    assert [line async for line in StdinLines(source)] == []


@given(st.lists(st.text("ab é词", max_size=20), max_size=200))
async def test_what_goes_in_comes_out(lines: list[str]) -> None:
    assert await lines_of(["".join(f"{line}\n" for line in lines).encode()]) == lines
