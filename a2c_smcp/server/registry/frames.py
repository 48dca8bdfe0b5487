"""The messages between nodes. Pure.

A frame is a line of JSON, the head, and an unparsed body: `["call",7,"n1",…]\\n{"agent":…}`.
"""

from typing import Final, TypeAlias

import msgspec

from a2c_smcp.errors import SMCPError, from_wire, to_wire


def _tag(name: str) -> str:
    return name.removesuffix("Frame").lower()


class _FrameHead(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=_tag):
    pass


class CallFrame(_FrameHead, frozen=True):
    """An Agent's request for a Computer of the other node; its payload follows.

    Attributes:
        number: The number that its reply refers to.
        node: The node of the caller.
        seconds: The time-out.
    """

    number: int
    node: str
    sid: str
    office_id: str
    event: str
    seconds: float


class ReplyFrame(_FrameHead, frozen=True):
    """The Computer's ack; its arguments follow."""

    number: int


class ErrorFrame(_FrameHead, frozen=True):
    """The request failed on the other node; the error follows in its wire format."""

    number: int


class AbsentFrame(_FrameHead, frozen=True):
    """The Computer is not on that node, or not in that office."""

    number: int


class NotifyFrame(_FrameHead, frozen=True):
    """A notification for the members of an office except `skip`; its data follow."""

    office_id: str
    event: str
    skip: str


class JoinedFrame(_FrameHead, frozen=True):
    """A member joined. If `announced`, the receiver has to notify its members."""

    office_id: str
    field: str
    value: str
    announced: bool


class LeftFrame(_FrameHead, frozen=True):
    """A member left."""

    office_id: str
    field: str
    value: str


class EvictFrame(_FrameHead, frozen=True):
    """Close a connection because another client wants its name; with a challenge, only if it does not answer a ping."""

    sid: str
    office_id: str
    node: str
    challenge: bool


class AliveFrame(_FrameHead, frozen=True):
    """The connection answered the ping of a challenge."""

    sid: str


NodeFrame: TypeAlias = (
    CallFrame | ReplyFrame | ErrorFrame | AbsentFrame | NotifyFrame | JoinedFrame | LeftFrame | EvictFrame | AliveFrame
)

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(NodeFrame)
_error: Final = msgspec.json.Decoder(dict)


def pack_frame(head: NodeFrame, body: bytes = b"") -> bytes:
    """Return an encoded frame."""
    return b"%b\n%b" % (_encoder.encode(head), body)


def unpack_frame(data: bytes) -> tuple[NodeFrame, bytes]:
    """Return head and body.

    Raises:
        ValueError: The data is not a frame of this release.
    """
    end = data.find(b"\n")
    if end < 0:
        return _decoder.decode(data), b""
    return _decoder.decode(data[:end]), data[end + 1 :]


def pack_error(error: SMCPError) -> bytes:
    """An error as the body of a `ErrorFrame`."""
    return _encoder.encode(to_wire(error))


def unpack_error(body: bytes) -> SMCPError:
    """Return the error that `pack_error` encoded."""
    return from_wire(_error.decode(body))
