"""What nodes tell one another. Pure.

A frame is one line of JSON, the head, and what follows it unparsed: `["ask",7,"n1",…]\\n{"agent":…}`.
"""

from typing import Final, TypeAlias

import msgspec

from a2c_smcp.errors import SMCPError, from_wire, to_wire


class _Head(msgspec.Struct, array_like=True, frozen=True, gc=False, tag=str.lower):
    pass


class Ask(_Head, frozen=True):
    """An Agent's request for a Computer of the other node; its payload follows.

    Attributes:
        number: What its answer is called by.
        node: Who asks.
        seconds: How long it waits.
    """

    number: int
    node: str
    sid: str
    office_id: str
    event: str
    seconds: float


class Answer(_Head, frozen=True):
    """The Computer's ack; its arguments follow."""

    number: int


class Failure(_Head, frozen=True):
    """The request failed on the other node; the error follows as it would travel to a client."""

    number: int


class Absent(_Head, frozen=True):
    """The Computer is not on that node, or not in that office."""

    number: int


class Tell(_Head, frozen=True):
    """A notification for the members of an office, `skip` left out; its data follow."""

    office_id: str
    event: str
    skip: str


class Seated(_Head, frozen=True):
    """A seat was taken. `announced` says that the office hears of it by this alone."""

    office_id: str
    field: str
    value: str
    announced: bool


class Left(_Head, frozen=True):
    """A seat was freed."""

    office_id: str
    field: str
    value: str


class Oust(_Head, frozen=True):
    """Somebody asks for the seat of that connection: end it; with a challenge, only if it does not answer a ping."""

    sid: str
    office_id: str
    node: str
    challenge: bool


class Alive(_Head, frozen=True):
    """The connection answered its challenge."""

    sid: str


Frame: TypeAlias = Ask | Answer | Failure | Absent | Tell | Seated | Left | Oust | Alive

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Frame)
_error: Final = msgspec.json.Decoder(dict)


def pack_frame(head: Frame, body: bytes = b"") -> bytes:
    """Return the frame as it travels."""
    return b"%b\n%b" % (_encoder.encode(head), body)


def unpack_frame(data: bytes) -> tuple[Frame, bytes]:
    """Return head and body.

    Raises:
        ValueError: It is no frame of this release.
    """
    end = data.find(b"\n")
    if end < 0:
        return _decoder.decode(data), b""
    return _decoder.decode(data[:end]), data[end + 1 :]


def pack_error(error: SMCPError) -> bytes:
    """An error as the body of a `Failure`."""
    return _encoder.encode(to_wire(error))


def unpack_error(body: bytes) -> SMCPError:
    """The error that `pack_error` wrote."""
    return from_wire(_error.decode(body))
