"""Events come out whole, whatever the chunks, and none is over the limit."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.mcp.framing import MAX_OVERHEAD, SAMPLE, OversizedMessage, SseSplitter

LINES = st.sampled_from(["data: a", "data:b", "data", "event: message", "id: 1", ": note", "retry: 5", "", "", "odd"])


def fed(events: SseSplitter, data: bytes, step: int) -> list[bytes]:
    return [event for start in range(0, len(data), step) for event in events.feed(data[start : start + step])]


def parsed(data: bytes) -> list[httpx2.ServerSentEvent]:
    request = httpx2.Request("GET", "http://localhost")
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data, request=request)
    return list(httpx2.EventSource(response))


@given(st.lists(LINES, max_size=12), st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=13), st.integers(1, 9))
def test_the_events_are_those_of_the_stream_whatever_the_chunks(lines: list[str], ends: list[str], step: int) -> None:
    data = "".join(line + end for line, end in zip([*lines, ""], ends, strict=False)).encode()

    found = fed(SseSplitter(1_000), data, step)

    assert parsed(b"".join(found)) == parsed(data)


@pytest.mark.parametrize("step", [1, 700, 10**6])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_of_the_limit_passes_and_one_of_a_byte_more_does_not(end: bytes, step: int) -> None:
    events = SseSplitter(1_000)
    whole, more = (b"event: message" + end + b"data: " + b"x" * size + end * 2 for size in (1_000, 1_001))

    [first, second, third] = fed(events, whole + more + whole, step)

    assert first == third == b"event: message\ndata: " + b"x" * 1_000 + b"\n\n"
    assert isinstance(second, OversizedMessage)
    assert (bytes(second), second.size, second.limit, second.tail) == (b"x" * SAMPLE, 1_001, 1_000, b"x" * (SAMPLE - 1))


def test_an_event_far_over_the_limit_is_told_before_its_end_and_not_buffer() -> None:
    events = SseSplitter(1_000)
    found = fed(events, b"data: {" + b"x" * (10 * MAX_OVERHEAD), 5_000)

    [early] = found
    assert isinstance(early, OversizedMessage)
    assert (early.size, early[:2], events.skipping, len(events._buffer)) == (None, b"{x", True, 0)
    [late, after] = events.feed(b'"id":1}\nid: 5\n\ndata: after\n\n')
    assert isinstance(late, OversizedMessage)
    assert (late.size, late.tail[-8:], after) == (10 * MAX_OVERHEAD + 8, b'x"id":1}', b"data: after\n\n")


def test_comments_are_neither_counted_nor_buffer() -> None:
    events = SseSplitter(1_000)

    assert fed(events, b": here\n" * 100_000, 5_000) == []
    assert len(events._buffer) == 0
    assert events.feed(b"data: a\n\n") == [b"data: a\n\n"]
