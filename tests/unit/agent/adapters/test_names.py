"""Names for models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.agent.adapters.names import MAX_NAME, NAME, NamedTool, check_name, model_name, name_tools
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import SMCPTool


def tool(name: str, description: str = "") -> SMCPTool:
    return {"name": name, "description": description, "params_schema": {}, "return_schema": None}


@pytest.mark.parametrize(
    ("computer", "name", "expected"),
    [
        ("desk", "read_file", "desk__read_file"),
        ("my-desk", "list_repositories", "my-desk__list_repositories"),
        ("desk", "fs.read/file", "desk__fs-read-file_42c8035e0b"),
        ("2nd", "go", "c2nd__go_bff511a04d"),
        ("我的电脑", "读文件", "computer__tool_5d35576314"),
        ("café", "menu", "cafe__menu_0e091aadde"),
        ("a_", "b", "a__b_7d3d13e12f"),
        ("d" * 100, "t" * 100, "d" * 20 + "__" + "t" * 31 + "_05ac66688a"),
    ],
)
def test_a_name_is_readable_and_the_same_in_every_run(computer: str, name: str, expected: str) -> None:
    assert model_name(computer, name) == expected


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_every_model_api_takes_every_name(computer: str, name: str) -> None:
    made = model_name(computer, name)
    assert NAME.fullmatch(made)
    assert len(made) <= MAX_NAME


@given(
    st.dictionaries(
        st.text("ab_-é.", min_size=1, max_size=5),
        st.lists(st.text("ab_-é.", min_size=1, max_size=5), max_size=6, unique=True),
        max_size=6,
    )
)
def test_no_two_tools_share_a_name_and_each_leads_back(offices: dict[str, list[str]]) -> None:
    named = name_tools({computer: [tool(name) for name in names] for computer, names in offices.items()})
    assert sorted((n.computer or "", n.tool["name"]) for n in named.values()) == sorted(
        (computer, name) for computer, names in offices.items() for name in names
    )
    assert all(key == value.name for key, value in named.items())


@given(st.lists(st.text("ab_", min_size=1, max_size=6), min_size=1, max_size=8, unique=True))
def test_a_name_does_not_depend_on_who_else_is_there(computers: list[str]) -> None:
    together = name_tools({computer: [tool("x")] for computer in computers})
    alone = [name for computer in computers for name in name_tools({computer: [tool("x")]})]
    assert sorted(together) == sorted(alone)


def test_a_name_that_looks_like_a_digest_cannot_be_forged() -> None:
    real = model_name("desk", "read.file")
    forged = real.removeprefix("desk__")
    named = name_tools({"desk": [tool("read.file"), tool(forged)]})
    assert {n.tool["name"] for n in named.values()} == {"read.file", forged}
    assert named[real].tool["name"] == "read.file"


def test_a_name_that_is_taken_gets_a_digest() -> None:
    named = name_tools({"desk": [tool("go")]}, reserved={"desk__go"})
    (name,) = named
    assert name.startswith("desk__go_")


def test_where_every_name_is_taken_it_is_said() -> None:
    taken = {model_name("desk", "go", digest=length) for length in range(0, 40, 2)}
    with pytest.raises(BadRequest, match="No free name for the tool 'go' of 'desk'"):
        name_tools({"desk": [tool("go")]}, reserved=taken)


def test_a_model_reads_on_which_computer_a_tool_works() -> None:
    assert NamedTool("desk__go", "desk", tool("go", "Goes.")).description == "[desk] Goes."
    assert NamedTool("desk__go", "desk", tool("go")).description == "[desk] go"
    assert NamedTool("go", None, tool("go", "Goes.")).description == "Goes."


@pytest.mark.parametrize("name", ["", "a b", "é", "1st", "-a", "a" * 65, "a\n"])
def test_a_name_that_models_refuse_is_refused_here(name: str) -> None:
    with pytest.raises(BadRequest, match="is not a valid tool name"):
        check_name(name)
