"""What nodes tell one another."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import DocumentNotFound, NotFound, SMCPError
from a2c_smcp.server.registry.frames import (
    AbsentFrame,
    CallFrame,
    ErrorFrame,
    JoinedFrame,
    LeftFrame,
    NodeFrame,
    NotifyFrame,
    ReplyFrame,
    pack_error,
    pack_frame,
    unpack_error,
    unpack_frame,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    "head",
    [
        CallFrame(1, "n", "sid", "office", "client:get_tools", 1.5),
        ReplyFrame(2**40),
        ErrorFrame(1),
        AbsentFrame(1),
        NotifyFrame("office", "notify:x", "sid"),
        JoinedFrame("office", "c:x", "value", announced=True),
        LeftFrame("office", "a", "value"),
    ],
    ids=lambda head: type(head).__name__,
)
@pytest.mark.parametrize("body", [b"", b"{}", b"line\nline\n"])
def test_a_frame_reads_back(head: NodeFrame, body: bytes) -> None:
    assert unpack_frame(pack_frame(head, body)) == (head, body)


@given(TEXT, TEXT, TEXT, st.binary())
def test_a_frame_reads_back_whatever_the_names_hold(office: str, event: str, sid: str, body: bytes) -> None:
    head = NotifyFrame(office, event, sid)
    assert unpack_frame(pack_frame(head, body)) == (head, body)


def test_what_redis_writes_itself_is_a_head_alone() -> None:
    text = '["joined","a\\/b","c:电脑","v",true]'.encode()
    assert unpack_frame(text) == (JoinedFrame("a/b", "c:电脑", "v", announced=True), b"")


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}", b"[]", b'["nonsense",1]', b'["answer"]', b'["answer","1"]', b"\xff"]
)
def test_what_is_no_frame_is_an_error(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        unpack_frame(data)


@pytest.mark.parametrize(
    "error", [NotFound("gone", details={"computer": "c"}), DocumentNotFound("no"), SMCPError("new", code=4999)]
)
def test_an_error_passes_between_nodes(error: SMCPError) -> None:
    back = unpack_error(pack_error(error))
    assert (type(back), back.code, back.message, back.details) == (
        type(error),
        error.code,
        error.message,
        error.details,
    )
