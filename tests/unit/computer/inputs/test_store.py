"""The inputs of a Computer: found in order; kept, set, removed, never shown."""

import pytest

from a2c_smcp.computer import MCPServerInput
from a2c_smcp.computer.inputs.commands import CommandSource
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import EnvironmentSource, GivenSource, InputSource, InputValue
from a2c_smcp.computer.inputs.store import Inputs, InputState
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.inputs.builders import args_of, command, http, lines_of, pick, prompt, stdio, variables


@pytest.mark.rule("5.2")
async def test_a_server_gets_its_values_when_it_starts() -> None:
    inputs = Inputs(
        [prompt("a"), prompt("b")], [GivenSource({"a": Secret("1"), "b": Secret("2")})], variables=variables(X="3")
    )
    config = http("https://${input:a}.example.com/${X}", {"Authorization": "Bearer ${input:b}"})
    resolved = await inputs.resolve(config)
    assert resolved.model_dump() == http("https://1.example.com/3", {"Authorization": "Bearer 2"}).model_dump()
    assert config == http("https://${input:a}.example.com/${X}", {"Authorization": "Bearer ${input:b}"})


async def test_a_server_without_placeholders_is_taken_as_it_is() -> None:
    config = stdio("a", "$HOME")
    assert await Inputs().resolve(config) is config


async def test_an_input_and_a_variable_of_one_name_are_told_apart() -> None:
    inputs = Inputs([prompt("NAME")], [GivenSource({"NAME": Secret("input")})], variables=variables(NAME="variable"))
    assert await args_of(inputs, "${NAME} ${input:NAME} ${NAME}") == ["variable input variable"]


async def test_what_is_no_placeholder_of_ours_stays() -> None:
    inputs = Inputs(variables=variables("vscode"))
    assert await args_of(inputs, "${X} ${a.b} $HOME ${env:NONE}|") == ["${X} ${a.b} $HOME |"]


async def test_the_first_source_that_has_a_value_gives_it() -> None:
    sources: list[InputSource] = [
        GivenSource({"a": Secret("given")}),
        EnvironmentSource({"A2C_INPUT_A": "env", "A2C_INPUT_B": "env"}),
    ]
    inputs = Inputs([prompt("a"), prompt("b"), prompt("c", default="default")], sources)
    assert await args_of(inputs, "${input:a} ${input:b} ${input:c}") == ["given env default"]


async def test_without_a_word_the_environment_is_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A2C_INPUT_A", "abc")
    monkeypatch.setenv("SOMETHING", "else")
    assert await args_of(Inputs([prompt("a")]), "${input:a} ${SOMETHING}") == ["abc else"]


@pytest.mark.rule("5.2", "5.5")
async def test_an_input_that_is_not_defined_is_told_with_its_place() -> None:
    inputs = Inputs([prompt("a")], [EnvironmentSource({"A2C_INPUT_B": "abc"})])
    with pytest.raises(InvalidConfig) as caught:
        await inputs.resolve(stdio("${input:b}", env={"KEY": "${input:b}"}))
    assert str(caught.value).splitlines() == [
        'server "notes":',
        '  server_parameters.args[0]: no input has the id "b"; add it to inputs',
        '  server_parameters.env.KEY: no input has the id "b"; add it to inputs',
    ]


@pytest.mark.rule("5.2")
async def test_without_a_value_every_way_to_give_one_is_told() -> None:
    inputs = Inputs([prompt("git-token", "GitHub token", password=True)], [GivenSource({}), EnvironmentSource({})])
    assert await lines_of(inputs, "${input:git-token}") == [
        'input "git-token" (GitHub token) has no value; pass --input git-token=VALUE, or set A2C_INPUT_GIT_TOKEN'
    ]


async def test_all_values_that_are_missing_are_told_at_once() -> None:
    inputs = Inputs([prompt("a", ""), pick("b")], [EnvironmentSource({})])
    assert await lines_of(inputs, "${input:a}${input:b}") == [
        'input "a" has no value; set A2C_INPUT_A',
        'input "b" (The browser) has no value; set A2C_INPUT_B',
    ]


async def test_without_a_way_a_default_is_the_way() -> None:
    assert await lines_of(Inputs([prompt("a", "")], []), "${input:a}") == ['input "a" has no value; give it a default']


@pytest.mark.rule("5.2")
async def test_a_value_that_is_not_among_the_options_is_told_without_it() -> None:
    inputs = Inputs([pick()], [EnvironmentSource({"A2C_INPUT_BROWSER": "netscape"})])
    (line,) = await lines_of(inputs, "${input:browser}")
    assert line == (
        'input "browser" (The browser): the value from the environment (A2C_INPUT_BROWSER) is not among its options; '
        'use "chrome" or "firefox"'
    )


async def test_a_missing_value_is_looked_for_again_at_the_next_start() -> None:
    env: dict[str, str] = {}
    inputs = Inputs([prompt("a")], [EnvironmentSource(env)])
    await lines_of(inputs, "${input:a}")
    env["A2C_INPUT_A"] = "abc"
    assert await args_of(inputs, "${input:a}") == ["abc"]


@pytest.mark.rule("5.2")
async def test_values_are_listed_by_where_they_came_from() -> None:
    inputs = Inputs(
        [prompt("a", "First"), prompt("b", "Second"), pick("c"), prompt("d", "Fourth", default="x")],
        [EnvironmentSource({"A2C_INPUT_A": "abc"})],
    )
    await args_of(inputs, "${input:a}${input:d}")
    inputs.set("c", "chrome")
    assert inputs.list() == (
        InputState("a", "promptString", "First", "the environment (A2C_INPUT_A)"),
        InputState("b", "promptString", "Second", None),
        InputState("c", "pickString", "The browser", "set by hand"),
        InputState("d", "promptString", "Fourth", "its default"),
    )


@pytest.mark.rule("5.2")
async def test_a_value_that_is_removed_is_asked_for_again() -> None:
    inputs = Inputs([prompt("a", default="default")], [])
    inputs.set("a", "by hand")
    assert inputs.remove("a") is True
    assert inputs.remove("a") is False
    assert await args_of(inputs, "${input:a}") == ["default"]


async def test_all_values_can_be_removed() -> None:
    inputs = Inputs([prompt("a"), prompt("b")], [])
    inputs.set("a", "1")
    inputs.set("b", "2")
    assert inputs.clear() == 2
    assert [state.source for state in inputs.list()] == [None, None]


@pytest.mark.parametrize("definitions", [[], [prompt("a"), prompt("b")]])
def test_an_unknown_input_can_neither_be_set_nor_removed(definitions: list[MCPServerInput]) -> None:
    inputs = Inputs(definitions, [])
    known = 'the inputs are "a" or "b"' if definitions else "there are none"
    for act in (lambda: inputs.set("x", "abc"), lambda: inputs.remove("x")):
        with pytest.raises(InvalidConfig) as caught:
            act()
        assert str(caught.value) == f'inputs: no input has the id "x"; {known}'


def test_only_an_option_can_be_set() -> None:
    inputs = Inputs([pick()], [])
    with pytest.raises(InvalidConfig) as caught:
        inputs.set("browser", "netscape")
    assert str(caught.value) == (
        'input "browser" (The browser): the value is not among its options; use "chrome" or "firefox"'
    )


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        (prompt("a", "The key"), True),
        (prompt("a", "Another word for it", password=True, default="x"), True),
        (pick("a", "by hand", "other"), True),
        (pick("a", "other"), False),
        (prompt("b"), False),
    ],
)
def test_a_value_outlives_a_change_if_the_new_definition_could_have_given_it(now: MCPServerInput, kept: bool) -> None:
    inputs = Inputs([prompt("a", "The key")], [])
    inputs.set("a", "by hand")
    inputs.configure([now])
    assert [state.source for state in inputs.list()] == ["set by hand" if kept else None]


async def test_a_default_that_changes_takes_effect() -> None:
    inputs = Inputs([prompt("a", default="old")], [])
    assert await args_of(inputs, "${input:a}") == ["old"]
    inputs.configure([prompt("a", default="new")])
    assert await args_of(inputs, "${input:a}") == ["new"]


async def test_a_change_of_format_changes_what_a_name_alone_means() -> None:
    inputs = Inputs(variables=variables("vscode", X="1"))
    assert await args_of(inputs, "${X}") == ["${X}"]
    inputs.configure([], "claude")
    assert await args_of(inputs, "${X}") == ["1"]


async def test_a_text_by_others_is_cleaned_of_values() -> None:
    inputs = Inputs([prompt("a"), prompt("b")], [EnvironmentSource({"A2C_INPUT_A": "abcdef-123"})])
    await args_of(inputs, "${input:a}")
    inputs.set("b", "uvwxyz-789")
    inputs.clear()
    assert inputs.redact("bad key abcdef-123 for uvwxyz-789") == "bad key <redacted> for <redacted>"


async def test_a_text_by_others_is_cleaned_of_secrets_in_the_environment_and_the_configuration() -> None:
    inputs = Inputs(variables=variables(API_TOKEN="from-env-1", FOLDER="/some/folder"))
    await inputs.resolve(
        stdio("${API_TOKEN}", "${env:FOLDER}", env={"DB_PASSWORD": "from-file-1", "LANG": "de_DE.utf8"})
    )
    await inputs.resolve(http("https://example.com", {"Authorization": "Bearer from-file-2", "Accept": "text/plain"}))
    text = "from-env-1 /some/folder from-file-1 de_DE.utf8 from-file-2 text/plain"
    assert inputs.redact(text) == "<redacted> /some/folder <redacted> de_DE.utf8 <redacted> text/plain"


async def test_a_command_gives_a_value() -> None:
    inputs = Inputs([command("echo abc")], [CommandSource()])
    assert await args_of(inputs, "${input:key}") == ["abc"]
    assert inputs.list() == (InputState("key", "command", "The key", "its command"),)


async def test_a_source_of_ones_own_will_do() -> None:
    class Vault:
        async def find(self, wanted: MCPServerInput) -> InputValue | None:
            return InputValue(Secret(f"{wanted.id} of the vault"), "the vault")

        def way(self, wanted: MCPServerInput) -> str | None:
            return None

    assert await args_of(Inputs([prompt("a")], [Vault()]), "${input:a}") == ["a of the vault"]
