"""The language of Redis."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.registry.resp import LINE_LIMIT, PublishedMessage, RedisErrorReply, RespParser, RespPush, encode


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"+OK\r\n", b"OK"),
        (b"-ERR no\r\n", RedisErrorReply("ERR no")),
        (b":-12\r\n", -12),
        (b"(12345678901234567890\r\n", 12345678901234567890),
        (b",1.5\r\n", 1.5),
        (b"#t\r\n", True),
        (b"#f\r\n", False),
        (b"_\r\n", None),
        (b"$-1\r\n", None),
        (b"*-1\r\n", None),
        (b"$0\r\n\r\n", b""),
        (b"$4\r\na\r\nb\r\n", b"a\r\nb"),
        (b"=8\r\ntxt:text\r\n", b"text"),
        (b"*0\r\n", []),
        (b"*2\r\n*1\r\n:1\r\n$1\r\na\r\n", [[1], b"a"]),
        (b"~1\r\n:1\r\n", [1]),
        (b"%1\r\n$1\r\na\r\n*1\r\n:1\r\n", {b"a": [1]}),
        (b">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", RespPush([b"subscribe", b"c", 1])),
        (b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n", PublishedMessage(b"hi")),
    ],
)
def test_every_kind_of_reply_is_read(text: bytes, value: Any) -> None:
    (read,) = RespParser().feed(text)
    assert (read, type(read)) == (value, type(value))


def test_messages_of_the_expected_channel_read_like_all_others() -> None:
    parser = RespParser()
    parser.expect("own")
    of_own, of_other = (b">3\r\n$7\r\nmessage\r\n$%d\r\n%b\r\n$2\r\nhi\r\n" % (len(c), c) for c in (b"own", b"other"))
    assert parser.feed(of_own + of_other + b":1\r\n" + of_own) == [
        PublishedMessage(b"hi"),
        PublishedMessage(b"hi"),
        1,
        PublishedMessage(b"hi"),
    ]


@pytest.mark.parametrize("text", [b"HTTP/1.1 400 Bad Request\r\n", b"x" * (LINE_LIMIT + 1), b":one\r\n", b"$x\r\n"])
def test_what_is_not_redis_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        RespParser().feed(text)


def test_a_command_is_a_list_of_its_parts() -> None:
    assert (
        encode("SET", b"\x00\r\n", "键", 7) == b"*4\r\n$3\r\nSET\r\n$3\r\n\x00\r\n\r\n$3\r\n\xe9\x94\xae\r\n$1\r\n7\r\n"
    )


@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), max_size=5), st.data())
def test_a_stream_reads_the_same_however_it_is_cut(commands: list[list[bytes]], data: st.DataObject) -> None:
    # A command is written like the reply that is a list of texts.
    stream = b"".join(encode(*parts) for parts in commands)
    stream += b">3\r\n$7\r\nmessage\r\n$3\r\nown\r\n$2\r\nhi\r\n"
    parser = RespParser()
    parser.expect("own")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    edges = [0, *cuts, len(stream)]
    read = [reply for start, end in pairwise(edges) for reply in parser.feed(stream[start:end])]
    assert read == [*commands, PublishedMessage(b"hi")]
