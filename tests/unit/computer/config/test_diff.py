"""What a changed configuration asks of a running Computer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer import ComputerConfig, MCPServerConfig, MCPServerInput, MCPSSEConfig, MCPSSEParameters, ToolMeta
from a2c_smcp.computer.config.diff import ConfigDiff, diff_configs, servers_using
from tests.unit.computer.inputs.builders import command, http, pick, prompt, stdio


def config(*servers: MCPServerConfig, inputs: list[MCPServerInput] | None = None) -> ComputerConfig:
    return ComputerConfig(servers={server.name: server for server in servers}, inputs=inputs or [])


def test_nothing_is_asked_when_nothing_changed() -> None:
    changes = diff_configs(config(stdio("a"), http("https://a.b")), config(stdio("a"), http("https://a.b")))
    assert changes == ConfigDiff()
    assert not changes
    assert not changes.config_changed


@pytest.mark.rule("5.3")
def test_a_server_comes() -> None:
    changes = diff_configs(config(stdio(name="a")), config(stdio(name="b"), stdio(name="a")))
    assert changes == ConfigDiff(added=("b",), tools_may_have_changed=True)
    assert changes.config_changed


@pytest.mark.rule("5.3")
def test_a_server_goes() -> None:
    changes = diff_configs(config(stdio(name="a"), stdio(name="b")), config(stdio(name="b")))
    assert changes == ConfigDiff(removed=("a",), tools_may_have_changed=True)


@pytest.mark.rule("5.3")
def test_disabled_servers_come_and_go_without_a_change_of_tools() -> None:
    idle = stdio(name="idle", disabled=True)
    assert diff_configs(config(), config(idle)) == ConfigDiff(added=("idle",))
    assert diff_configs(config(idle), config()) == ConfigDiff(removed=("idle",))


@pytest.mark.rule("5.3")
def test_a_setting_of_the_next_start_restarts_nothing() -> None:
    assert diff_configs(config(stdio("a")), config(stdio("a", start_timeout=5.0))) == ConfigDiff(updated=("notes",))


def test_every_setting_of_a_server_is_noticed() -> None:
    others: dict[str, Any] = {
        "forbidden_tools": ["x"],
        "tool_meta": {"x": ToolMeta()},
        "default_tool_meta": ToolMeta(),
        "vrl": ".",
        "subscribe": "assume",
        "start_timeout": 5.0,
        "max_message": 1_000_000,
        "server_parameters": stdio("b").server_parameters,
    }
    plain = stdio("a")
    assert {*others, "name", "type", "disabled"} == set(type(plain).model_fields)
    for name, value in others.items():
        assert diff_configs(config(plain), config(plain.model_copy(update={name: value}))), name


@pytest.mark.rule("5.3")
@pytest.mark.parametrize(
    "new",
    [
        stdio("other"),
        stdio("a", env={"K": "V"}),
        stdio("a", command="other"),
        stdio("a", subscribe="assume"),
        stdio("other", forbidden_tools=["x"]),
        http("https://a.b", name="notes"),
        MCPSSEConfig(name="notes", server_parameters=MCPSSEParameters(url="https://a.b")),
    ],
)
def test_a_server_restarts_when_what_it_runs_with_changed(new: MCPServerConfig) -> None:
    assert diff_configs(config(stdio("a")), config(new)) == ConfigDiff(changed=("notes",), tools_may_have_changed=True)


@pytest.mark.rule("5.3")
@pytest.mark.parametrize(
    "view",
    [
        {"forbidden_tools": ["x"]},
        {"tool_meta": {"x": ToolMeta(alias="y")}},
        {"default_tool_meta": ToolMeta(tags=["z"])},
        {"vrl": ".a = 1"},
    ],
)
def test_a_server_runs_on_when_only_the_view_of_its_tools_changed(view: dict[str, Any]) -> None:
    assert diff_configs(config(stdio()), config(stdio(**view))) == ConfigDiff(
        tool_view_changed=("notes",), tools_may_have_changed=True
    )


@pytest.mark.rule("5.3")
def test_a_server_is_enabled_or_disabled_whatever_else_changed() -> None:
    on, off = stdio("a"), stdio("b", vrl=".a = 1", disabled=True)
    assert diff_configs(config(off), config(on)) == ConfigDiff(enabled=("notes",), tools_may_have_changed=True)
    assert diff_configs(config(on), config(off)) == ConfigDiff(disabled=("notes",), tools_may_have_changed=True)


def test_a_disabled_server_that_changed_needs_nothing() -> None:
    changes = diff_configs(config(stdio("a", disabled=True)), config(stdio("b", disabled=True)))
    assert changes == ConfigDiff(dormant=("notes",))
    assert changes.config_changed


def test_another_order_may_change_which_tool_has_a_name() -> None:
    one, two = stdio(name="one"), stdio(name="two")
    assert diff_configs(config(one, two), config(two, one)) == ConfigDiff(reordered=True, tools_may_have_changed=True)


def test_coming_and_going_is_no_other_order() -> None:
    one, two, three = stdio(name="one"), stdio(name="two"), stdio(name="three")
    assert not diff_configs(config(one, two), config(three, one)).reordered


@pytest.mark.rule("5.3")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([], [prompt("a")]),
        ([prompt("a")], []),
        ([prompt("a")], [prompt("a", default="x")]),
        ([prompt("a")], [pick("a")]),
        ([pick("a", "x", "y")], [pick("a", "y", "x")]),
        ([command("x", input_id="a")], [command("y", input_id="a")]),
    ],
)
def test_a_server_restarts_when_an_input_of_its_changed(old: list[MCPServerInput], new: list[MCPServerInput]) -> None:
    servers = [stdio("${input:a}", name="uses"), stdio("${input:b}"), stdio("${input:a}", name="idle", disabled=True)]
    assert diff_configs(config(*servers, inputs=old), config(*servers, inputs=new)) == ConfigDiff(
        changed=("uses",), inputs_changed=("a",), tools_may_have_changed=True
    )


def test_the_words_of_an_input_restart_nothing() -> None:
    old = config(stdio("${input:a}"), inputs=[prompt("a", "Key")])
    new = config(stdio("${input:a}"), inputs=[prompt("a", "The key", password=True)])
    assert diff_configs(old, new) == ConfigDiff(inputs_changed=("a",))


def test_everything_at_once_is_told_apart() -> None:
    old = config(
        stdio(name="gone"),
        stdio(name="same"),
        stdio(name="changed"),
        stdio(name="on", disabled=True),
        stdio(name="off"),
        stdio(name="view"),
        stdio("1", name="dormant", disabled=True),
    )
    new = config(
        stdio(name="same"),
        stdio("x", name="changed"),
        stdio(name="on"),
        stdio(name="off", disabled=True),
        stdio(name="view", forbidden_tools=["x"]),
        stdio("2", name="dormant", disabled=True),
        stdio(name="new"),
        inputs=[prompt("a")],
    )
    assert diff_configs(old, new) == ConfigDiff(
        added=("new",),
        removed=("gone",),
        changed=("changed",),
        enabled=("on",),
        disabled=("off",),
        tool_view_changed=("view",),
        dormant=("dormant",),
        inputs_changed=("a",),
        tools_may_have_changed=True,
    )


def test_the_servers_that_use_an_input_are_found() -> None:
    servers = config(stdio("${input:a}", name="one"), stdio(name="two"), http("https://a.b", {"X": "-${input:a}-"}))
    assert servers_using(servers, "a") == ("one", "web")


SERVERS = st.lists(
    st.builds(
        lambda name, arg, disabled, tools: stdio(arg, name=name, disabled=disabled, forbidden_tools=tools),
        st.sampled_from("abcd"),
        st.sampled_from(["x", "${input:i}"]),
        st.booleans(),
        st.lists(st.sampled_from(["t", "u"]), max_size=1),
    ),
    unique_by=lambda server: server.name,
)
INPUTS = st.lists(st.sampled_from([prompt("i"), prompt("i", default="x")]), max_size=1)
CONFIGS = st.builds(lambda servers, inputs: config(*servers, inputs=inputs), SERVERS, INPUTS)


@given(CONFIGS, CONFIGS)
def test_each_server_is_told_of_at_most_once_and_nothing_is_told_of_the_same(
    old: ComputerConfig, new: ComputerConfig
) -> None:
    changes = diff_configs(old, new)
    told = [
        *(*changes.added, *changes.removed, *changes.changed, *changes.enabled),
        *(*changes.disabled, *changes.tool_view_changed, *changes.dormant),
    ]
    assert len(set(told)) == len(told)
    assert diff_configs(old, old) == ConfigDiff()
    assert bool(changes) == (old != new or list(old.servers) != list(new.servers))


@given(CONFIGS, CONFIGS)
def test_what_is_not_told_of_is_the_same(old: ComputerConfig, new: ComputerConfig) -> None:
    changes = diff_configs(old, new)
    told = {
        *(*changes.added, *changes.removed, *changes.changed, *changes.enabled),
        *(*changes.disabled, *changes.tool_view_changed, *changes.dormant),
    }
    assert {name for name in {*old.servers, *new.servers} if old.servers.get(name) != new.servers.get(name)} <= told
