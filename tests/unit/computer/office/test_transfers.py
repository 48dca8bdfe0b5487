"""What waits to be fetched is bounded in number, bytes and time."""

import pytest

from a2c_smcp.computer.office.transfers import PendingTransfers, new_name
from a2c_smcp.connection.chunks import ChunkedReply
from a2c_smcp.errors import BadRequest, NotFound, RateLimited

REQUEST = ("a", "client:read_resource", "r-1")
OTHER = ("a", "client:read_resource", "r-2")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def keep(
    transfers: PendingTransfers, name: str = "t", request: tuple[str, str, str] = REQUEST, size: int = 100
) -> None:
    parcel = ChunkedReply(b"x" * size, 40)
    transfers.admit(request, size)
    transfers.keep(request, parcel, parcel.announce(name))


def test_pieces_are_given_out_until_each_was() -> None:
    transfers = PendingTransfers(Clock())
    keep(transfers)
    assert [transfers.piece("a", "t", index) for index in (2, 0, 0, 1)] == ["x" * 20, "x" * 40, "x" * 40, "x" * 40]
    assert (len(transfers), transfers.bytes) == (0, 0)
    with pytest.raises(NotFound) as gone:
        transfers.piece("a", "t", 0)
    assert gone.value.details == {"transfer": "t", "index": 0}


@pytest.mark.parametrize(("agent", "name"), [("b", "t"), ("a", "u")])
def test_a_stranger_and_a_stranger_name_look_the_same(agent: str, name: str) -> None:
    transfers = PendingTransfers(Clock())
    keep(transfers)
    with pytest.raises(NotFound, match="no longer kept"):
        transfers.piece(agent, name, 0)


def test_a_piece_that_is_not_there_is_a_bad_request_and_ends_nothing() -> None:
    transfers = PendingTransfers(Clock())
    keep(transfers)
    with pytest.raises(BadRequest):
        transfers.piece("a", "t", 3)
    assert len(transfers) == 1


def test_what_nobody_fetches_is_forgotten() -> None:
    clock = Clock()
    transfers = PendingTransfers(clock, seconds=60)
    keep(transfers)
    clock.now = 59
    transfers.piece("a", "t", 0)
    clock.now = 118
    transfers.expire()
    assert len(transfers) == 1
    clock.now = 119
    with pytest.raises(NotFound):
        transfers.piece("a", "t", 1)
    assert len(transfers) == 0


def test_the_number_is_bounded() -> None:
    transfers = PendingTransfers(Clock(), most=1)
    keep(transfers)
    with pytest.raises(RateLimited) as refusal:
        keep(transfers, "u", OTHER)
    assert refusal.value.details == {"limit": "large replies waiting to be fetched", "value": 1}


def test_the_bytes_are_bounded() -> None:
    transfers = PendingTransfers(Clock(), most_bytes=150)
    keep(transfers)
    with pytest.raises(RateLimited) as refusal:
        keep(transfers, "u", OTHER)
    assert refusal.value.details == {"limit": "bytes of large replies waiting to be fetched", "value": 150}


def test_asking_the_same_again_replaces_what_waits() -> None:
    transfers = PendingTransfers(Clock(), most=1, most_bytes=100)
    keep(transfers)
    keep(transfers, "u")
    assert transfers.piece("a", "u", 0) == "x" * 40
    with pytest.raises(NotFound):
        transfers.piece("a", "t", 0)


def test_what_is_forgotten_makes_room() -> None:
    clock = Clock()
    transfers = PendingTransfers(clock, most=1)
    keep(transfers)
    clock.now = 1000
    keep(transfers, "u", OTHER)
    transfers.clear()
    assert len(transfers) == 0


def test_names_cannot_be_guessed() -> None:
    names = {new_name() for _ in range(100)}
    assert len(names) == 100
    assert min(map(len, names)) >= 20
