"""Rules of offices."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import CrossOffice, Forbidden, NotInOffice, OfficeFull, SMCPError
from a2c_smcp.server.offices import (
    Identity,
    Member,
    OfficeMembers,
    check_join,
    credential_fingerprint,
    is_same_party,
    member_for,
    recipients,
    require_member,
    require_office,
    require_role,
)
from a2c_smcp.smcp import EnterOfficeReq

AGENT = Member("o", "agent", "a", "sid-a")
COMPUTER = Member("o", "computer", "c", "sid-c")


def request(role: Any = "agent", name: str = "a", office_id: str = "o") -> EnterOfficeReq:
    return {"role": role, "name": name, "office_id": office_id}


@pytest.mark.rule("1.3.agent")
def test_a_second_agent_finds_the_office_full() -> None:
    with pytest.raises(OfficeFull):
        check_join(OfficeMembers(agent=AGENT), Member("o", "agent", "b", "sid-b"))


@pytest.mark.rule("1.3.names")
def test_a_second_computer_of_a_name_is_refused() -> None:
    with pytest.raises(Forbidden, match="'c' is taken"):
        check_join(OfficeMembers(computers={"c": COMPUTER}), Member("o", "computer", "c", "sid-2"))


@pytest.mark.parametrize(
    "member", [AGENT, COMPUTER, Member("o", "computer", "a", "x"), Member("o", "computer", "d", "x")]
)
def test_a_free_name_or_ones_own_is_given(member: Member) -> None:
    check_join(OfficeMembers(agent=AGENT, computers={"c": COMPUTER}), member)
    check_join(None, member)


def test_a_name_is_freed_only_by_the_connection_that_holds_it() -> None:
    office = OfficeMembers(agent=AGENT, computers={"c": COMPUTER})
    assert not office.remove(Member("o", "computer", "c", "an older connection"))
    assert office.remove(COMPUTER)
    assert not office.remove(COMPUTER)
    assert list(office) == [AGENT]


@pytest.mark.rule("1.5")
@pytest.mark.parametrize("bound", [Identity(role="computer"), Identity(name="x"), Identity(office_id="p")])
def test_credentials_for_something_else_are_refused(bound: Identity) -> None:
    with pytest.raises(Forbidden, match="credentials"):
        member_for(request(), current=None, bound=bound, sid="s", node="", version=None)


@pytest.mark.parametrize("bound", [Identity(), Identity("agent"), Identity("agent", "a", "o")])
def test_credentials_that_match_or_bind_nothing_pass(bound: Identity) -> None:
    member = member_for(request(), current=None, bound=bound, sid="s", node="n", version="0.4.0")
    assert member == Member("o", "agent", "a", "s", "n", "0.4.0", credential_fingerprint(bound))


@pytest.mark.rule("1.5")
@pytest.mark.parametrize("other", [request(role="computer"), request(name="b")])
def test_a_seated_connection_stays_who_it_is(other: EnterOfficeReq) -> None:
    with pytest.raises(Forbidden, match="leave the office first"):
        member_for(other, current=AGENT, bound=Identity(), sid="sid-a", node="", version=None)


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda: require_member(None), NotInOffice),
        (lambda: require_role(AGENT, "computer", "server:update_config"), Forbidden),
        (lambda: require_office(AGENT, "other"), CrossOffice),
    ],
)
def test_what_the_sender_may_not_do_has_its_code(check: Any, error: type[SMCPError]) -> None:
    with pytest.raises(error):
        check()


def test_a_name_shows_its_version_only_if_it_has_one() -> None:
    assert AGENT.info() == {"sid": "sid-a", "name": "a", "role": "agent", "office_id": "o"}
    assert Member("o", "agent", "a", "s", version="0.4.0").info()["a2c_version"] == "0.4.0"


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["agent", "computer"]), st.sampled_from("abc"), st.integers(0, 5))
    )
)
def test_whatever_happens_an_office_has_one_agent_and_unique_names(steps: list[tuple[bool, Any, str, int]]) -> None:
    office = OfficeMembers()
    held: dict[tuple[str, str], int] = {}
    for coming, role, name, number in steps:
        member = Member("o", role, name, f"sid-{number}")
        key = (role, "" if role == "agent" else name)
        if coming:
            try:
                check_join(office, member)
            except (OfficeFull, Forbidden):
                assert held[key] != number
            else:
                office.add(member)
                held[key] = number
        elif office.remove(member):
            assert held.pop(key) == number
    assert {("agent", "") if s.role == "agent" else ("computer", s.name) for s in office} == set(held)
    assert bool(office) == bool(held)


def test_the_progress_of_a_call_is_for_the_agent_that_made_it() -> None:
    office = OfficeMembers(AGENT, {COMPUTER.name: COMPUTER})
    heard = [
        recipients(office, "notify:update_progress", {"agent": agent, "computer": COMPUTER.name}, COMPUTER.sid)
        for agent in (AGENT.name, "one who sat there before")
    ]
    assert heard == [[AGENT.sid], []]


@pytest.mark.rule("10.6.updates")
def test_what_changed_at_resources_is_for_the_agent_of_the_office_alone() -> None:
    other = Member(COMPUTER.office_id, "computer", "other", "sid of the other")
    report = {"computer": COMPUTER.name, "uris": ["memo://a"]}
    office = OfficeMembers(AGENT, {COMPUTER.name: COMPUTER, other.name: other})
    assert recipients(office, "notify:update_resources", report, COMPUTER.sid) == [AGENT.sid]
    nobody = OfficeMembers(None, {COMPUTER.name: COMPUTER, other.name: other})
    assert recipients(nobody, "notify:update_resources", report, COMPUTER.sid) == []


def test_every_other_notification_is_for_all_but_the_sender() -> None:
    other = Member(COMPUTER.office_id, "computer", "other", "sid of the other")
    office = OfficeMembers(AGENT, {COMPUTER.name: COMPUTER, other.name: other})
    assert recipients(office, "notify:update_desktop", {"computer": COMPUTER.name}, COMPUTER.sid) == [
        AGENT.sid,
        other.sid,
    ]


# Who is the same party, and who only looks like it


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (Identity(principal="key 1"), Identity(principal="key 1"), True),
        (Identity(principal="key 1"), Identity(principal="key 2"), False),
        (Identity("agent", "a", "o"), Identity("agent", "a", "o"), True),
        (Identity("agent", "a", "o", subject="x"), Identity("agent", "a", "o", subject="y"), False),
        (Identity("agent", "a", "o"), Identity("agent", "a", "o", principal="key 1"), False),
        (Identity(), Identity(), False),
        (Identity("agent", None, "o"), Identity("agent", None, "o"), False),
    ],
)
def test_the_same_party_is_who_presents_the_same_credentials(first: Identity, second: Identity, same: bool) -> None:
    one = member_for(request(), current=None, bound=first, sid="1", node="", version=None)
    two = member_for(request(), current=None, bound=second, sid="2", node="", version=None)
    assert is_same_party(one, two) is same


def test_credentials_under_another_name_are_another_party() -> None:
    key = Identity(principal="key 1")
    one = member_for(request(name="a"), current=None, bound=key, sid="1", node="", version=None)
    two = member_for(request(name="b"), current=None, bound=key, sid="2", node="", version=None)
    assert not is_same_party(one, two)


def test_a_name_says_nothing_of_a_credential() -> None:
    assert "tiger" not in credential_fingerprint(Identity(principal="tiger"))
    assert "owner" not in COMPUTER.info()


@pytest.mark.parametrize(
    "name",
    [
        "DESK",
        "de\u200bsk",
        "desk\u202e",
        "d\u0435sk",
        "\uff44esk",
        "de\u00adsk",
        "desk\ufe0f",
        "de\u3164sk",
        "desk\U000e0100",
        "\U0001d41desk",
    ],
)
def test_a_name_that_looks_like_that_of_another_member_is_refused(name: str) -> None:
    office = OfficeMembers(AGENT, {"desk": Member("o", "computer", "desk", "s-1")})
    with pytest.raises(Forbidden, match="looks like"):
        check_join(office, Member("o", "computer", name, "s-2"))
    with pytest.raises(Forbidden, match="looks like"):
        check_join(OfficeMembers(computers=office.computers), Member("o", "agent", name, "s-2"))


@pytest.mark.parametrize("name", ["desk2", "disk", "\u684c\u5b50", "d\u00e9sk", "desk-\u0434\u043e\u043c"])
def test_a_name_that_looks_otherwise_is_let_in(name: str) -> None:
    check_join(
        OfficeMembers(AGENT, {"desk": Member("o", "computer", "desk", "s-1")}), Member("o", "computer", name, "s-2")
    )


def test_agent_and_computer_may_have_the_very_same_name() -> None:
    check_join(OfficeMembers(Member("o", "agent", "desk", "s-1")), Member("o", "computer", "desk", "s-2"))
