"""How seats are written in Redis."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.registry.scripts import SCRIPTS, field_of, pack, unpack, unpack_all
from a2c_smcp.server.rooms import Seat
from a2c_smcp.types import Role

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
ROLES: st.SearchStrategy[Role] = st.sampled_from(["agent", "computer"])


@given(NAMES, ROLES, NAMES, st.none() | st.from_regex(r"[\w.+-]{1,32}", fullmatch=True), st.integers(0))
def test_a_seat_reads_back_whatever_its_names_hold(
    office: str, role: Role, name: str, version: str | None, stamp: int
) -> None:
    seat = Seat(office, role, name, "sid", "node", version)
    assert unpack(office, field_of(seat), pack(seat, stamp)) == seat


def test_a_computer_named_like_the_agents_field_is_still_a_computer() -> None:
    seat = Seat("o", "computer", "a", "sid", "node")
    assert unpack("o", field_of(seat), pack(seat, 1)) == seat


def test_a_listing_is_ordered_whether_it_comes_as_a_list_or_a_mapping() -> None:
    seats = [
        Seat("o", "agent", "z", "1", "n"),
        Seat("o", "computer", "a", "2", "n"),
        Seat("o", "computer", "b", "3", "n"),
    ]
    found = {field_of(seat).encode(): pack(seat, 1).encode() for seat in reversed(seats)}
    flat = [part for pair in found.items() for part in pair]
    assert unpack_all("o", found) == unpack_all("o", flat) == seats


def test_every_script_has_a_name_of_its_own() -> None:
    assert len({script.sha for script in SCRIPTS}) == len(SCRIPTS)
