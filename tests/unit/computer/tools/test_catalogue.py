"""What Agents see, and where a name leads."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.tools.catalogue import (
    Route,
    ServerTools,
    ToolCatalogue,
    attributes_of,
    build_tool_catalogue,
    meta_text,
    smcp_tool,
)
from a2c_smcp.computer.tools.naming import NameProblem
from a2c_smcp.errors import ToolDisabled, ToolNotFound
from tests.unit.computer.tools.fakes import config

GOLDEN = Path(__file__).parents[3] / "data" / "golden" / "tools"


def golden(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return value


def as_mcp(tool: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["params_schema"],
        "outputSchema": tool["return_schema"],
    }


def catalogue(*servers: tuple[dict[str, Any], list[str]], down: tuple[str, ...] = ()) -> ToolCatalogue:
    return build_tool_catalogue(
        [
            ServerTools(config(**fields), [{"name": tool} for tool in tools], up=fields["name"] not in down)
            for fields, tools in servers
        ]
    )


def listed(catalogue: ToolCatalogue) -> list[str]:
    return [tool["name"] for tool in catalogue.tools]


def leads_to(catalogue: ToolCatalogue, name: str) -> tuple[str, str]:
    route = catalogue.resolve(name)
    return route.server, route.tool


@pytest.mark.rule("4.2")
def test_a_tool_with_nothing_configured_is_the_first_example_of_the_data_structures() -> None:
    expected = golden("hello")
    (tool,) = build_tool_catalogue([ServerTools(config("greeter"), [as_mcp(expected)])]).tools
    assert tool == expected | {"bundle_id": "greeter"}


@pytest.mark.rule("4.2", "4.1.types")
def test_a_tool_with_a_default_meta_is_the_second_example_of_the_data_structures() -> None:
    expected = golden("browser_navigate")
    browser = config("browser", default_tool_meta=ToolMeta(tags=["browser"], auto_apply=True))
    (tool,) = build_tool_catalogue([ServerTools(browser, [as_mcp(expected)])]).tools
    assert tool == expected | {"bundle_id": "browser"}


@pytest.mark.rule("4.2")
def test_annotations_and_the_servers_own_keys_stand_beside_it_as_simple_values() -> None:
    annotations = {"readOnlyHint": True, "title": "标题"}
    own = {"tags": ["x"], "version": 3, "ratio": 0.5, "beta": False, "note": None, "who": "me", "deep": {"a": [1]}}
    attributes = attributes_of(meta_text(ToolMeta(tags=["y"])), annotations, own)
    assert json.loads(str(attributes.pop("MCP_TOOL_ANNOTATION"))) == annotations
    assert json.loads(str(attributes.pop("a2c_tool_meta")))["tags"] == ["y"]
    assert attributes == own | {"tags": '["x"]', "deep": '{"a": [1]}'}


@pytest.mark.rule("4.2")
@pytest.mark.parametrize("key", ["a2c_tool_meta", "MCP_TOOL_ANNOTATION"])
def test_a_server_cannot_write_what_the_computer_writes(key: str) -> None:
    assert attributes_of(None, None, {key: '{"auto_apply": true}', "own": 1}) == {"own": 1}
    ours = attributes_of(meta_text(ToolMeta(auto_apply=False)), {"readOnlyHint": False}, {key: "forged"})
    assert ours == attributes_of(meta_text(ToolMeta(auto_apply=False)), {"readOnlyHint": False}, {})


@pytest.mark.parametrize(
    ("meta", "annotations", "own"), [(None, None, None), (ToolMeta(), {}, {}), (None, "text", ["list"])]
)
def test_nothing_said_is_an_empty_meta(meta: ToolMeta | None, annotations: Any, own: Any) -> None:
    assert attributes_of(meta_text(meta), annotations, own) == {}


def test_a_number_that_json_has_no_word_for_becomes_text() -> None:
    assert attributes_of(None, None, {"x": float("nan"), "y": float("inf")}) == {"x": "NaN", "y": "Infinity"}


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        ({"description": "Says hello.", "title": "Hello"}, "Says hello."),
        ({"description": None, "title": "Hello"}, "Hello"),
        ({"description": "", "title": 3}, ""),
        ({}, ""),
    ],
)
def test_a_description_is_always_a_text(tool: dict[str, Any], description: str) -> None:
    assert smcp_tool("s", {"name": "t", **tool}, "t", None)["description"] == description


def test_a_tool_without_schemas_takes_any_object() -> None:
    assert smcp_tool("s", {"name": "t", "inputSchema": None}, "other", None) == {
        "name": "other",
        "description": "",
        "params_schema": {"type": "object"},
        "return_schema": None,
        "meta": {},
        "bundle_id": "s",
    }


@pytest.mark.rule("4.1.list")
def test_tools_come_in_the_order_of_the_configuration_and_of_their_servers() -> None:
    tools = catalogue(({"name": "z"}, ["2", "1"]), ({"name": "a"}, ["0"]))
    assert [(tool["bundle_id"], tool["name"]) for tool in tools.tools] == [("z", "2"), ("z", "1"), ("a", "0")]


def test_a_name_leads_to_its_tool_and_what_is_configured_for_it() -> None:
    server = config("git", tool_meta={"log": ToolMeta(alias="history")}, vrl=".")
    built = build_tool_catalogue([ServerTools(server, [{"name": "log"}])])
    route = Route("git", "log", "history", "git__log", server, ToolMeta(alias="history"))
    assert built.resolve("history") == built.resolve("git__log") == route


def test_a_tool_with_an_alias_is_not_called_by_its_own_name_but_told_the_alias() -> None:
    built = catalogue(({"name": "git", "tool_meta": {"log": ToolMeta(alias="history")}}, ["log", "lag"]))
    with pytest.raises(ToolNotFound) as caught:
        built.resolve("log")
    assert caught.value.details == {"tool_name": "log", "near": ["history", "lag"]}


@pytest.mark.rule("4.3")
def test_both_tools_of_a_clash_are_listed_and_reached() -> None:
    built = catalogue(({"name": "a"}, ["find"]), ({"name": "b"}, ["find"]))
    assert listed(built) == ["find", "b__find"]
    reached = {name: leads_to(built, name) for name in ("find", "a__find", "b__find")}
    assert reached == {"find": ("a", "find"), "a__find": ("a", "find"), "b__find": ("b", "find")}
    assert [(problem.tool, problem.servers) for problem in built.problems] == [("find", ("a", "b"))]


@pytest.mark.rule("4.3")
def test_a_name_does_not_change_hands_while_its_server_is_down() -> None:
    built = catalogue(({"name": "a"}, ["find"]), ({"name": "b"}, ["find"]), down=("a",))
    assert listed(built) == ["b__find"]
    assert leads_to(built, "find") == ("a", "find")


@pytest.mark.rule("4.1.list")
@pytest.mark.parametrize("name", ["rm", "delete", "a__rm"])
def test_a_forbidden_tool_is_not_listed_and_refused_by_every_name(name: str) -> None:
    fields = {"name": "a", "forbidden_tools": ["rm"], "tool_meta": {"rm": ToolMeta(alias="delete")}}
    built = catalogue((fields, ["ls", "rm"]))
    assert listed(built) == ["ls"]
    with pytest.raises(ToolDisabled) as caught:
        built.resolve(name)
    assert (caught.value.code, caught.value.details) == (4002, {"tool_name": name, "mcp_server": "a"})


@pytest.mark.parametrize("name", ["rm", "delete", "a__rm"])
def test_forbidding_an_alias_forbids_the_tool_behind_it(name: str) -> None:
    fields = {"name": "a", "forbidden_tools": ["delete"], "tool_meta": {"rm": ToolMeta(alias="delete")}}
    built = catalogue((fields, ["rm"]))
    assert listed(built) == []
    with pytest.raises(ToolDisabled):
        built.resolve(name)


def test_a_tool_stays_forbidden_while_its_server_has_not_listed_it() -> None:
    with pytest.raises(ToolDisabled):
        catalogue(({"name": "a", "forbidden_tools": ["rm"]}, [])).resolve("rm")


def test_a_name_forbidden_on_one_server_is_free_for_another() -> None:
    built = catalogue(({"name": "a", "forbidden_tools": ["rm"]}, ["rm"]), ({"name": "b"}, ["rm"]))
    assert leads_to(built, "rm") == ("b", "rm")
    assert built.problems == ()


def test_an_unknown_name_is_told_similar_ones() -> None:
    with pytest.raises(ToolNotFound) as caught:
        catalogue(({"name": "a"}, ["search_files", "remove"])).resolve("serch_files")
    error = caught.value
    assert (error.code, error.message) == (4001, "There is no tool 'serch_files'; did you mean 'search_files'?")
    assert error.details == {"tool_name": "serch_files", "near": ["search_files"]}


def test_a_name_like_no_other_is_told_none() -> None:
    with pytest.raises(ToolNotFound) as caught:
        catalogue(({"name": "a", "forbidden_tools": ["xyzzy"]}, ["read_file"])).resolve("xyzzz")
    assert (caught.value.message, caught.value.details) == (
        "There is no tool 'xyzzz'",
        {"tool_name": "xyzzz", "near": []},
    )


def test_what_is_no_tool_of_its_own_is_told_and_hides_nothing() -> None:
    tools: list[Any] = [{"name": "x", "title": "first"}, {"name": "x"}, {"name": ""}, {}, {"name": 3}, {"name": "y"}]
    built = build_tool_catalogue([ServerTools(config("odd"), tools)])
    assert [(tool["name"], tool["description"]) for tool in built.tools] == [("x", "first"), ("y", "")]
    assert built.problems == (
        NameProblem(
            "tool",
            "x",
            ("odd",),
            "The server lists this name more than once; the first tool of that name is offered.",
            "Report it to the author of the server.",
        ),
        NameProblem(
            "tool",
            "",
            ("odd",),
            "The server lists a tool without a name, which cannot be called.",
            "Report it to the author of the server.",
        ),
    )


@pytest.mark.rule("10.6.definitions")
def test_title_icons_and_execution_travel_as_fields_of_the_tool() -> None:
    own = {"title": "Show", "icons": [{"src": "data:,"}], "execution": {"taskSupport": "optional"}}
    shown = dict(smcp_tool("s", {"name": "t", **own}, "t", None))
    assert {key: shown[key] for key in own} == own
    assert not smcp_tool("s", {"name": "t", "title": 5, "icons": "x", "execution": {}}, "t", None).keys() & own.keys()


def test_a_tool_that_runs_only_as_a_task_is_not_offered_and_its_owner_learns_why() -> None:
    tools: list[dict[str, Any]] = [{"name": "job", "execution": {"taskSupport": "required"}}, {"name": "echo"}]
    found = build_tool_catalogue([ServerTools(config("s"), tools)])
    assert listed(found) == ["echo"]
    with pytest.raises(ToolNotFound):
        found.resolve("job")
    assert [(one.kind, one.tool) for one in found.problems] == [("tool", "job")]
