import os
import threading

from a2c_smcp.bridge.stdio import InputLines


async def test_lines_come_whole_however_they_were_written() -> None:
    read, write = os.pipe()
    lines = InputLines(read)
    for piece in (b"first\nsec", "ond 世".encode()[:-1], "世".encode()[-1:] + b"\n\nlast"):
        os.write(write, piece)
    os.close(write)
    assert [line async for line in lines] == ["first", "second 世", "", "last"]


async def test_a_line_longer_than_any_buffer_comes_whole() -> None:
    read, write = os.pipe()
    lines = InputLines(read)

    def say() -> None:
        os.write(write, b"x" * 1_000_000 + b"\n")
        os.close(write)

    threading.Thread(target=say).start()
    assert [len(line) async for line in lines] == [1_000_000]


async def test_what_is_no_text_spoils_only_its_line() -> None:
    read, write = os.pipe()
    lines = InputLines(read)
    os.write(write, b"\xff\nnext\n")
    os.close(write)
    assert [line async for line in lines] == ["\ufffd", "next"]
