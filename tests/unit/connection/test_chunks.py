"""Cutting and joining."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.connection.chunks import LARGE, PIECE, ChunkAssembler, ChunkedReply, is_chunked
from a2c_smcp.errors import BadRequest, InternalError

TEXT = "“Quotes”, 财务报告 and 😀 " * 200
BODY = json.dumps({"contents": [TEXT]}, ensure_ascii=False).encode()


def announcement(parcel: ChunkedReply, **changes: Any) -> dict[str, Any]:
    return {"chunked": dict(parcel.announce("t")) | changes, "req_id": "r"}


def answer(parcel: ChunkedReply, index: int) -> dict[str, Any]:
    return {"data": parcel.piece(index), "index": index, "req_id": "r"}


def assembled(parcel: ChunkedReply, order: list[int]) -> bytes:
    assembler = ChunkAssembler(announcement(parcel))
    for index in order:
        assembler.add(index, answer(parcel, index))
    return assembler.body()


@given(st.text(min_size=1).map(str.encode), st.integers(4, 40))
def test_pieces_concatenate_to_the_whole(body: bytes, size: int) -> None:
    parcel = ChunkedReply(body, size)
    pieces = [parcel.piece(index) for index in range(parcel.count)]
    assert "".join(pieces).encode() == body
    assert all(0 < len(piece.encode()) <= size for piece in pieces)


@given(st.data(), st.integers(1100, 3000))
def test_pieces_join_in_any_order_and_more_than_once(data: st.DataObject, size: int) -> None:
    parcel = ChunkedReply(BODY, size)
    order = data.draw(st.permutations([*range(parcel.count), 0, 1]))
    assert assembled(parcel, order) == BODY


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255))
def test_any_altered_byte_is_noticed(place: int, change: int) -> None:
    altered = bytearray(BODY)
    altered[place] ^= change
    text = bytes(altered).decode("utf-8", "replace")
    assembler = ChunkAssembler(announcement(ChunkedReply(BODY, len(BODY))))
    with pytest.raises(InternalError):
        assembler.add(0, {"data": text, "index": 0})
        assembler.body()


def test_an_announcement_says_what_is_to_come() -> None:
    assert ChunkedReply(b'{"a":1}').announce("t") == {
        "transfer": "t",
        "size": 7,
        "count": 1,
        "sha256": hashlib.sha256(b'{"a":1}').hexdigest(),
    }


def test_a_piece_passes_a_server_that_takes_one_megabyte_however_it_is_escaped() -> None:
    parcel = ChunkedReply(b'"' * (LARGE + 1))
    assert max(len(json.dumps(answer(parcel, index))) for index in range(parcel.count)) < 1_000_000


def test_a_piece_that_is_not_there_is_told() -> None:
    with pytest.raises(BadRequest) as refusal:
        ChunkedReply(b"{}").piece(1)
    assert refusal.value.details == {"index": 1, "count": 1}


def test_a_piece_holds_any_character() -> None:
    with pytest.raises(ValueError, match="4 bytes"):
        ChunkedReply(b"{}", 3)


@pytest.mark.parametrize(
    ("reply", "chunked"), [({"chunked": {}}, True), ({"tools": []}, False), (None, False), (["chunked"], False)]
)
def test_an_announcement_is_told_from_a_reply(reply: object, chunked: bool) -> None:
    assert is_chunked(reply) is chunked


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 0},
        {"count": 0},
        {"count": "1"},
        {"size": 2**40},
        {"count": 100_000},
        {"sha256": "short"},
        {"transfer": ""},
    ],
)
def test_an_announcement_that_cannot_be_right_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        ChunkAssembler(announcement(ChunkedReply(BODY), **changes))


@pytest.mark.parametrize(
    "wrong",
    [None, {}, {"data": "x"}, {"data": "x", "index": 1}, {"data": 5, "index": 0}, {"data": "x" * 10**6, "index": 0}],
)
def test_an_answer_that_is_not_the_piece_is_refused(wrong: object) -> None:
    with pytest.raises(InternalError):
        ChunkAssembler(announcement(ChunkedReply(BODY, 2000))).add(0, wrong)


def test_a_reply_with_a_missing_piece_is_not_given_out() -> None:
    parcel = ChunkedReply(BODY, 2000)
    assembler = ChunkAssembler(announcement(parcel))
    assembler.add(0, answer(parcel, 0))
    assert assembler.missing == list(range(1, parcel.count))
    with pytest.raises(InternalError, match=r"\d+ of \d+ chunks"):
        assembler.body()


def test_pieces_are_smaller_than_what_travels_whole() -> None:
    assert PIECE < LARGE
