"""The format of members in Redis."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.scripts import SCRIPTS, field_of, pack_member, unpack_member, unpack_members
from a2c_smcp.types import Role

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
ROLES: st.SearchStrategy[Role] = st.sampled_from(["agent", "computer"])


@given(NAMES, ROLES, NAMES, st.none() | st.from_regex(r"[\w.+-]{1,32}", fullmatch=True), st.integers(0))
def test_a_name_reads_back_whatever_its_names_hold(
    office: str, role: Role, name: str, version: str | None, stamp: int
) -> None:
    member = Member(office, role, name, "sid", "node", version)
    assert unpack_member(office, field_of(member), pack_member(member, stamp)) == member


def test_a_computer_named_like_the_agents_field_is_still_a_computer() -> None:
    member = Member("o", "computer", "a", "sid", "node")
    assert unpack_member("o", field_of(member), pack_member(member, 1)) == member


def test_a_listing_is_ordered_whether_it_comes_as_a_list_or_a_mapping() -> None:
    members = [
        Member("o", "agent", "z", "1", "n"),
        Member("o", "computer", "a", "2", "n"),
        Member("o", "computer", "b", "3", "n"),
    ]
    found = {field_of(member).encode(): pack_member(member, 1).encode() for member in reversed(members)}
    flat = [part for pair in found.items() for part in pair]
    assert unpack_members("o", found) == unpack_members("o", flat) == members


def test_every_script_has_a_name_of_its_own() -> None:
    assert len({script.sha for script in SCRIPTS}) == len(SCRIPTS)
