"""Who gets which name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.tools.naming import (
    MAX_ALIAS,
    MAX_QUALIFIED,
    NameProblem,
    NameRegistry,
    NameRequest,
    ToolNames,
    name_tools,
    qualified_name,
)

WORDS = st.sampled_from(["a", "b", "a__b", "b__a", "_", "", "天气", "a b", "x" * 70]) | st.text(max_size=3)


def names(*wishes: NameRequest) -> list[str]:
    return [named.listed for named in name_tools(wishes)[0]]


def test_a_tool_keeps_its_name_and_has_a_qualified_one() -> None:
    assert name_tools([NameRequest("git", "log")]) == ([ToolNames("log", "git__log")], [])


@pytest.mark.rule("4.3")
def test_the_first_server_keeps_a_name_that_two_want() -> None:
    named, problems = name_tools([NameRequest("github", "search"), NameRequest("web", "search")])
    assert named == [ToolNames("search", "github__search"), ToolNames("web__search", "web__search")]
    assert problems == [
        NameProblem(
            "clash",
            "search",
            ("github", "web"),
            "2 tools have this name; the one of 'github' keeps it, that of 'web' as 'web__search'.",
            "Set an alias in tool_meta['search'] of server 'github' or tool_meta['search'] of server 'web', "
            "or add the tool to forbidden_tools of a server.",
        )
    ]


@pytest.mark.rule("4.3")
def test_an_alias_settles_a_clash() -> None:
    assert name_tools([NameRequest("github", "search"), NameRequest("web", "search", "web_search")]) == (
        [ToolNames("search", "github__search"), ToolNames("web_search", "web__search")],
        [],
    )


def test_the_alias_that_the_owner_chose_comes_before_the_name_that_a_server_chose() -> None:
    named, problems = name_tools([NameRequest("a", "find"), NameRequest("b", "look", "find")])
    assert named == [ToolNames("a__find", "a__find"), ToolNames("find", "b__look")]
    assert [(problem.kind, problem.tool, problem.servers) for problem in problems] == [("clash", "find", ("b", "a"))]


def test_of_two_aliases_the_first_in_the_configuration_is_used() -> None:
    named, problems = name_tools([NameRequest("a", "find", "look"), NameRequest("b", "seek", "look")])
    assert named == [ToolNames("look", "a__find"), ToolNames("b__seek", "b__seek")]
    assert [(problem.kind, problem.tool, problem.servers) for problem in problems] == [("clash", "look", ("a", "b"))]


def test_a_clash_within_one_server_names_it_once() -> None:
    _, problems = name_tools([NameRequest("a", "find"), NameRequest("a", "look", "find")])
    assert [problem.servers for problem in problems] == [("a",)]


def test_an_alias_that_tools_of_one_server_share_names_none_of_them() -> None:
    named, problems = name_tools(
        [NameRequest("a", "one", "x"), NameRequest("a", "two", "x"), NameRequest("b", "three", "x")]
    )
    assert [each.listed for each in named] == ["one", "two", "x"]
    assert problems == [
        NameProblem(
            "alias",
            "x",
            ("a",),
            "2 tools of server 'a' have this alias, and none of them uses it.",
            "Set a different alias for each tool in tool_meta, and none in default_tool_meta.",
        )
    ]


@pytest.mark.parametrize("alias", ["", " x", "x ", "a\nb", "a\ud800", "x" * (MAX_ALIAS + 1)])
def test_an_alias_that_cannot_be_used_is_left_out_and_told(alias: str) -> None:
    named, (problem,) = name_tools([NameRequest("a", "tool", alias)])
    assert named == [ToolNames("tool", "a__tool")]
    assert (problem.kind, problem.tool, problem.servers) == ("alias", "tool", ("a",))
    assert problem.advice == "Set another alias in tool_meta['tool'] of server 'a'."


@pytest.mark.rule("4.3")
@pytest.mark.parametrize(
    "forged", ["bank__pay", "bank__", "Bank__pay", "bank__\u200bpay", "ｂank__pay", "b\u0430nk__pay", "bank__pay__now"]
)
def test_a_tool_cannot_take_a_name_under_the_prefix_of_another_server(forged: str) -> None:
    for wishes in (
        [NameRequest("bank", "pay"), NameRequest("evil", forged)],
        [NameRequest("evil", forged), NameRequest("bank", "pay")],
    ):
        named, problems = name_tools(wishes)
        by_tool = {wish.server: names for wish, names in zip(wishes, named, strict=True)}
        assert by_tool["bank"] == ToolNames("pay", "bank__pay")
        assert by_tool["evil"].listed == by_tool["evil"].qualified
        assert by_tool["evil"].listed.startswith("evil__")
        assert [(problem.kind, problem.tool, problem.servers) for problem in problems] == [
            ("reserved", forged, ("bank", "evil"))
        ]


def test_a_refused_name_is_reported_with_the_name_given_instead() -> None:
    _, (problem,) = name_tools([NameRequest("bank", "pay"), NameRequest("evil", "bank__pay")])
    assert problem == NameProblem(
        "reserved",
        "bank__pay",
        ("bank", "evil"),
        "Names that begin like this belong to server 'bank'; that of 'evil' as 'evil__bank__pay'.",
        "Set an alias in tool_meta['bank__pay'] of server 'evil', or add the tool to forbidden_tools of its server.",
    )


def test_the_prefix_of_a_server_is_reserved_before_it_lists_a_tool() -> None:
    registry = NameRegistry()
    registry.configure(["bank", "evil"])
    assert name_tools([NameRequest("evil", "bank__pay")], registry)[0] == [
        ToolNames("evil__bank__pay", "evil__bank__pay")
    ]


def test_a_server_that_is_added_later_gets_its_prefix() -> None:
    registry = NameRegistry()
    registry.configure(["evil"])
    assert name_tools([NameRequest("evil", "bank__pay")], registry)[0][0].listed == "bank__pay"
    registry.configure(["evil", "bank"])
    named, problems = name_tools([NameRequest("evil", "bank__pay"), NameRequest("bank", "pay")], registry)
    assert named == [ToolNames("evil__bank__pay", "evil__bank__pay"), ToolNames("pay", "bank__pay")]
    assert [problem.kind for problem in problems] == ["reserved"]


def test_a_prefix_stays_reserved_when_its_server_is_removed() -> None:
    registry = NameRegistry()
    registry.configure(["bank", "evil"])
    registry.configure(["evil"])
    assert name_tools([NameRequest("evil", "bank__pay")], registry)[0][0].listed == "evil__bank__pay"


def test_an_alias_cannot_use_the_prefix_of_another_server() -> None:
    named, (problem,) = name_tools([NameRequest("bank", "pay"), NameRequest("evil", "x", "bank__pay")])
    assert named[1] == ToolNames("x", "evil__x")
    assert (problem.kind, problem.problem) == (
        "alias",
        "Its alias begins with the prefix of server 'bank', and is not used.",
    )


@pytest.mark.parametrize("server", ["a__b", "a b", "a__b__"])
def test_a_server_with_a_separator_in_its_name_owns_its_prefix_in_both_spellings(server: str) -> None:
    named, _ = name_tools(
        [NameRequest(server, "pay"), NameRequest("evil", "a_b__pay"), NameRequest("evil", f"{server}__pay")]
    )
    assert named[0] == ToolNames("pay", "a_b__pay")
    assert all(each.listed.startswith("evil__") for each in named[1:])


def test_a_tool_may_carry_the_prefix_of_its_own_server() -> None:
    assert name_tools([NameRequest("git", "git__log")]) == ([ToolNames("git__log", "git__git__log")], [])


def test_a_qualified_name_is_kept_for_its_tool_within_a_server() -> None:
    named, _ = name_tools([NameRequest("git", "git__log"), NameRequest("git", "log")])
    assert named == [ToolNames("git__git__log", "git__git__log"), ToolNames("log", "git__log")]


@pytest.mark.rule("4.3")
@pytest.mark.parametrize("taken", ["pay", "Pay", "pay\u200b", "p\u0430y", " pay"])
def test_the_first_holder_of_a_name_keeps_it_for_the_life_of_the_process(taken: str) -> None:
    registry = NameRegistry()
    registry.configure(["evil", "bank"])
    name_tools([NameRequest("bank", "pay")], registry)
    for wishes in ([NameRequest("evil", taken), NameRequest("bank", "pay")], [NameRequest("evil", taken)]):
        named, problems = name_tools(wishes, registry)
        assert named[0].listed == named[0].qualified
        assert [(problem.kind, problem.tool, problem.servers) for problem in problems] == [
            ("clash", taken, ("bank", "evil"))
        ]
    registry.configure(["evil"])
    assert name_tools([NameRequest("evil", taken)], registry)[0][0].listed != taken
    registry.configure(["evil", "bank"])
    assert name_tools([NameRequest("evil", taken), NameRequest("bank", "pay")], registry)[0][1].listed == "pay"


def test_the_report_names_the_tool_that_holds_a_name_although_it_is_away() -> None:
    registry = NameRegistry()
    name_tools([NameRequest("bank", "pay")], registry)
    _, (exact, alike) = name_tools([NameRequest("evil", "pay"), NameRequest("evil", "Pay")], registry)
    assert exact.problem == (
        "This name belongs to the tool 'pay' of 'bank' until the Computer stops; that of 'evil' as 'evil__pay'."
    )
    assert alike.problem == (
        "It looks like 'pay', which belongs to the tool 'pay' of 'bank' until the Computer stops; "
        "that of 'evil' as 'evil__Pay'."
    )


def test_an_alias_does_not_take_a_name_that_is_held() -> None:
    registry = NameRegistry()
    registry.configure(["bank", "evil"])
    name_tools([NameRequest("bank", "pay")], registry)
    registry.configure(["bank", "evil"], [NameRequest("evil", "x", "pay")])
    named, problems = name_tools([NameRequest("bank", "pay"), NameRequest("evil", "x", "pay")], registry)
    assert named == [ToolNames("pay", "bank__pay"), ToolNames("evil__x", "evil__x")]
    assert [problem.kind for problem in problems] == ["clash"]


def test_an_alias_is_kept_for_its_tool_until_that_is_listed() -> None:
    registry = NameRegistry()
    registry.configure(["evil", "bank"], [NameRequest("bank", "pay_v2", "pay")])
    assert name_tools([NameRequest("evil", "pay")], registry)[0][0].listed == "evil__pay"
    assert (
        name_tools([NameRequest("evil", "pay"), NameRequest("bank", "pay_v2", "pay")], registry)[0][1].listed == "pay"
    )


def test_the_owner_can_give_the_name_of_a_removed_server_to_another_by_an_alias() -> None:
    registry = NameRegistry()
    registry.configure(["old", "new"])
    name_tools([NameRequest("old", "search")], registry)
    registry.configure(["new"], [NameRequest("new", "find", "search")])
    assert name_tools([NameRequest("new", "find", "search")], registry)[0][0].listed == "search"


def test_tools_of_one_server_may_look_alike() -> None:
    assert names(NameRequest("a", "get"), NameRequest("a", "GET")) == ["get", "GET"]


def test_a_server_that_keeps_changing_its_tools_loses_only_its_own_oldest_names() -> None:
    registry = NameRegistry()
    name_tools([NameRequest("bank", "pay")], registry)
    for start in range(0, 12_000, 2_000):
        name_tools([NameRequest("evil", f"t{number}") for number in range(start, start + 2_000)], registry)
    assert registry.holder("t0") is None
    assert registry.holder("t11999") == ("evil", "t11999")
    assert registry.holder("pay") == ("bank", "pay")


def test_a_qualified_name_fits_into_what_model_apis_take() -> None:
    long = names(NameRequest("a", "t" * 60), NameRequest("b" * 30, "t" * 60))[1]
    assert len(long) == MAX_QUALIFIED


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("git", "git__log"),
        ("my-server_2", "my-server_2__log"),
        ("@scope/server", "scope_server__log"),
        ("a__b", "a_b__log"),
        ("天气", "server_1fc41167__log"),
    ],
)
def test_the_server_is_spelled_in_plain_letters(server: str, name: str) -> None:
    assert qualified_name(server, "log") == name


@given(st.lists(st.tuples(WORDS, WORDS, st.none() | WORDS), unique_by=lambda row: row[:2], max_size=12))
def test_every_tool_has_names_of_its_own_whatever_they_are_called(rows: list[tuple[str, str, str | None]]) -> None:
    wishes = [NameRequest(*row) for row in rows]
    named, _ = name_tools(wishes)
    assert name_tools(wishes)[0] == named
    listed, qualified = [each.listed for each in named], [each.qualified for each in named]
    assert len(set(listed)) == len(set(qualified)) == len(wishes)
    # A name leads to one tool: it is listed for one and qualified for another never.
    assert all(a == b for a, x in enumerate(listed) for b, y in enumerate(qualified) if x == y)
