"""Who gets which name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.tools.naming import (
    MAX_ALIAS,
    MAX_QUALIFIED,
    Named,
    NameProblem,
    Wish,
    name_tools,
    qualified_name,
)

WORDS = st.sampled_from(["a", "b", "a__b", "b__a", "_", "", "天气", "a b", "x" * 70]) | st.text(max_size=3)


def names(*wishes: Wish) -> list[str]:
    return [named.listed for named in name_tools(wishes)[0]]


def test_a_tool_keeps_its_name_and_has_a_qualified_one() -> None:
    assert name_tools([Wish("git", "log")]) == ([Named("log", "git__log")], [])


@pytest.mark.rule("4.3")
def test_the_first_server_keeps_a_name_that_two_want() -> None:
    named, problems = name_tools([Wish("github", "search"), Wish("web", "search")])
    assert named == [Named("search", "github__search"), Named("web__search", "web__search")]
    assert problems == [
        NameProblem(
            "clash",
            "search",
            ("github", "web"),
            "2 tools want this name; the one of 'github' has it, that of 'web' as 'web__search'.",
            "Set an alias in tool_meta['search'] of server 'github' or tool_meta['search'] of server 'web', "
            "or add the tool to forbidden_tools of a server.",
        )
    ]


@pytest.mark.rule("4.3")
def test_an_alias_settles_a_clash() -> None:
    assert name_tools([Wish("github", "search"), Wish("web", "search", "web_search")]) == (
        [Named("search", "github__search"), Named("web_search", "web__search")],
        [],
    )


def test_an_alias_can_clash_too() -> None:
    named, problems = name_tools([Wish("a", "find"), Wish("b", "look", "find")])
    assert named == [Named("find", "a__find"), Named("b__look", "b__look")]
    assert [(problem.kind, problem.tool, problem.servers) for problem in problems] == [("clash", "find", ("a", "b"))]


def test_a_clash_within_one_server_names_it_once() -> None:
    _, problems = name_tools([Wish("a", "find"), Wish("a", "look", "find")])
    assert [problem.servers for problem in problems] == [("a",)]


def test_an_alias_that_tools_of_one_server_share_names_none_of_them() -> None:
    named, problems = name_tools([Wish("a", "one", "x"), Wish("a", "two", "x"), Wish("b", "three", "x")])
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
    named, (problem,) = name_tools([Wish("a", "tool", alias)])
    assert named == [Named("tool", "a__tool")]
    assert (problem.kind, problem.tool, problem.servers) == ("alias", "tool", ("a",))
    assert problem.advice == "Set another alias in tool_meta['tool'] of server 'a'."


def test_a_tool_that_is_called_like_a_qualified_name_keeps_it() -> None:
    listed = names(Wish("a", "x"), Wish("b", "x"), Wish("c", "b__x"))
    assert listed[0] == "x"
    assert listed[1].startswith("b__x_")
    assert listed[2] == "b__x"


def test_a_hostile_server_cannot_take_every_name() -> None:
    plain = names(Wish("a", "x"), Wish("b", "x"), Wish("c", "b__x"))[1]
    taken = [Wish("c", "b__x"), Wish("c", plain), Wish("c", f"{plain}_2")]
    assert names(Wish("a", "x"), Wish("b", "x"), *taken)[1] == f"{plain}_3"


def test_a_qualified_name_fits_into_what_model_apis_take() -> None:
    long = names(Wish("a", "t" * 60), Wish("b" * 30, "t" * 60))[1]
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
    wishes = [Wish(*row) for row in rows]
    named, _ = name_tools(wishes)
    assert name_tools(wishes)[0] == named
    listed, qualified = [each.listed for each in named], [each.qualified for each in named]
    assert len(set(listed)) == len(set(qualified)) == len(wishes)
    # A name leads to one tool: it is listed for one and qualified for another never.
    assert all(a == b for a, x in enumerate(listed) for b, y in enumerate(qualified) if x == y)
