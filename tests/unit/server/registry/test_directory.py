"""What a node knows of its offices."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.directory import MembershipChanges, OfficeDirectory, OwnedMember

NOTHING = MembershipChanges([], [], [])


def computer(name: str, sid: str, node: str = "other", office: str = "o") -> Member:
    return Member(office, "computer", name, sid, node)


MINE = computer("mine", "sid-mine", "here")


def directory() -> OfficeDirectory:
    """A directory of a node with one member in the office."""
    known = OfficeDirectory("here")
    known.take(MINE, 1)
    return known


def test_an_office_is_known_while_the_node_has_a_member_there() -> None:
    known = directory()
    known.enter(computer("c", "1"))
    assert (known.offices(), known.find("o", "c"), known.size) == (["o"], computer("c", "1"), 1)
    assert known.remove_own(MINE) == OwnedMember(MINE, 1)
    assert (known.offices(), known.find("o", "c"), known.size) == ([], None, 0)


def test_a_name_is_given_up_once() -> None:
    known = directory()
    known.remove_own(MINE)
    assert known.remove_own(MINE) is None


def test_taking_a_name_again_changes_its_stamp_only() -> None:
    known = directory()
    known.take(MINE, 2)
    assert (list(known.own()), known.size) == ([OwnedMember(MINE, 2)], 1)


def test_what_is_said_of_an_unknown_office_is_ignored() -> None:
    known = directory()
    assert known.enter(computer("c", "1", office="p")) == NOTHING
    assert known.leave(computer("c", "1", office="p")) is False
    assert known.compare("p", [computer("c", "1", office="p")], final=True) == NOTHING
    assert known.nodes("p") == []


def test_a_members_own_node_is_not_one_of_the_others() -> None:
    known = directory()
    assert known.enter(MINE) == NOTHING
    assert (known.find("o", "mine"), known.nodes("o")) == (None, [])


def test_a_member_enters_once_and_leaves_once() -> None:
    known = directory()
    member = computer("c", "1")
    assert known.enter(member) == MembershipChanges([member], [], [])
    assert known.enter(member) == NOTHING
    assert known.leave(member) is True
    assert known.leave(member) is False


def test_a_late_leave_does_not_remove_the_successor() -> None:
    known = directory()
    old, new = computer("c", "1"), computer("c", "2")
    known.enter(old)
    assert known.enter(new) == MembershipChanges([new], [old], [])
    assert known.leave(old) is False
    assert known.find("o", "c") == new


def test_a_node_is_known_as_long_as_it_has_members() -> None:
    known = directory()
    first, second = computer("c", "1"), computer("d", "2")
    known.enter(first)
    known.enter(second)
    known.leave(first)
    assert known.nodes("o") == ["other"]
    known.leave(second)
    assert known.nodes("o") == []


def test_a_listing_brings_what_was_missed_and_doubts_what_it_lacks() -> None:
    known = directory()
    gone, stays, new = computer("gone", "1"), computer("stays", "2"), computer("new", "3")
    known.enter(gone)
    known.enter(stays)
    assert known.compare("o", [MINE, stays, new], final=False) == MembershipChanges([new], [], [gone])
    assert known.find("o", "gone") == gone
    assert known.compare("o", [MINE, stays, new], final=True) == MembershipChanges([], [gone], [])
    assert known.find("o", "gone") is None


def test_a_name_that_somebody_else_has_by_now_is_no_doubt() -> None:
    known = directory()
    old, new = computer("c", "1"), computer("c", "2")
    known.enter(old)
    assert known.compare("o", [new], final=False) == MembershipChanges([new], [old], [])


SEATS = st.builds(
    lambda name, number: computer(name, str(number), ("n1", "n2", "here")[number % 3]),
    st.sampled_from("abc"),
    st.integers(1, 9),
)


@given(st.lists(st.tuples(st.booleans(), SEATS)), st.lists(SEATS, unique_by=lambda member: member.name))
def test_a_final_listing_is_the_truth_whatever_was_believed(
    history: list[tuple[bool, Member]], truth: list[Member]
) -> None:
    known = directory()
    for comes, member in history:
        if comes:
            known.enter(member)
        else:
            known.leave(member)
    known.compare("o", truth, final=True)
    others = {member.name: member for member in truth if member.node != "here"}
    assert {name: known.find("o", name) for name in "abc" if known.find("o", name)} == others
    assert set(known.nodes("o")) == {member.node for member in others.values()}
