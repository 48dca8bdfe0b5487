"""Values put into a server's configuration."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer import MCPServerStdioConfig, MCPSSEConfig, MCPSSEParameters, ToolMeta
from a2c_smcp.computer.inputs.resolution import PlaceholderUse, placeholders_of, with_values
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.inputs.builders import http, stdio

PLANTED = "pl4nt3d-v4lue"


def test_placeholders_are_found_in_every_text_that_a_server_runs_with() -> None:
    config = stdio("--${input:a}", "${B}x${input:c}", env={"K": "${env:D}"}, command="${userHome}/bin")
    assert placeholders_of(config) == [
        PlaceholderUse(("server_parameters", "command"), "userHome"),
        PlaceholderUse(("server_parameters", "args", 0), "input:a"),
        PlaceholderUse(("server_parameters", "args", 1), "B"),
        PlaceholderUse(("server_parameters", "args", 1), "input:c"),
        PlaceholderUse(("server_parameters", "env", "K"), "env:D"),
    ]


def test_outside_of_what_a_server_runs_with_only_inputs_count() -> None:
    config = stdio(
        name="${input:name}",
        vrl='.a = "${X} ${input:b}"',
        forbidden_tools=["${input:c}"],
        tool_meta={"${input:key}": ToolMeta(tags=["${input:d}", "${Y}"])},
    )
    assert [(use.where, use.input_id) for use in placeholders_of(config)] == [
        ("forbidden_tools[0]", "c"),
        ('tool_meta["${input:key}"].tags[0]', "d"),
        ("vrl", "b"),
    ]


@pytest.mark.rule("5.2")
def test_each_placeholder_gets_its_value_and_the_original_keeps_it() -> None:
    config = stdio("${input:a}-${input:b}", "${c}", env={"${input:a}": "${input:a}"}, vrl="${c}${input:a}")
    values = {"input:a": "1", "input:b": "2"}
    resolved = with_values(config, values.get)
    assert resolved.model_dump() == stdio("1-2", "${c}", env={"${input:a}": "1"}, vrl="${c}1").model_dump()
    assert config == stdio("${input:a}-${input:b}", "${c}", env={"${input:a}": "${input:a}"}, vrl="${c}${input:a}")


def test_a_placeholder_inside_a_value_is_not_resolved_again() -> None:
    values = {"input:a": "${input:b} and ${HOME}", "input:b": "wrong", "HOME": "wrong"}
    resolved = with_values(stdio("${input:a}"), values.get)
    assert resolved.model_dump() == stdio("${input:b} and ${HOME}").model_dump()


@pytest.mark.parametrize(
    "config",
    [
        stdio("${input:a}"),
        http("${input:a}", {"Authorization": "Bearer ${input:a}"}),
        MCPSSEConfig(name="old", server_parameters=MCPSSEParameters(url="${input:a}")),
    ],
    ids=lambda config: config.type,
)
def test_a_resolved_copy_is_of_the_same_kind(config: MCPServerStdioConfig) -> None:
    resolved = with_values(config, lambda _: "https://example.com")
    assert isinstance(resolved, type(config))


def test_time_outs_stay_what_they_are() -> None:
    resolved = with_values(http("${input:a}"), lambda _: "https://example.com")
    assert isinstance(resolved, type(http("https://example.com")))
    assert resolved.server_parameters.timeout == timedelta(seconds=30)


@pytest.mark.rule("5.2")
@pytest.mark.parametrize(
    "config",
    [
        stdio("${input:a}", command="${input:a}", env={"K": "${input:a}"}, vrl="${input:a}"),
        http("https://${input:a}.example.com", {"X": "${input:a}"}),
    ],
    ids=lambda config: config.type,
)
def test_a_resolved_copy_shows_no_value(config: MCPServerStdioConfig) -> None:
    resolved = with_values(config, lambda _: PLANTED)
    shown = f"{resolved!r} {resolved} {resolved.server_parameters!r} {resolved.server_parameters}"
    assert PLANTED not in shown
    assert f"name='{config.name}'" in shown


@pytest.mark.rule("5.2")
def test_a_value_that_breaks_a_rule_is_told_without_it() -> None:
    with pytest.raises(InvalidConfig) as caught:
        with_values(http("${input:a}", {"X": "${input:b}"}), lambda _: f"{PLANTED}\n")
    assert str(caught.value).splitlines() == [
        'server "web":',
        "  server_parameters.url: has a blank, a line break or a control character around or in it; remove it",
        "  server_parameters.headers.X: has a line break in it; a header is one line: remove the break",
    ]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@given(st.lists(st.text().filter(lambda text: "\0" not in text), min_size=1))
def test_values_go_in_as_they_are(values: list[str]) -> None:
    config = stdio(*(f"<${{input:{number}}}>" for number in range(len(values))))
    resolved = with_values(config, lambda inner: values[int(inner.removeprefix("input:"))])
    assert resolved.model_dump()["server_parameters"]["args"] == [f"<{value}>" for value in values]
