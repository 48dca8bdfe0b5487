"""The configuration a Computer runs with, changed at run time."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from a2c_smcp.computer import ComputerConfig
from a2c_smcp.computer.config import ConfigDiff, ConfigFile, EditResult, LiveConfig
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.config.builders import Machine, claude, commands_of, mode_of, native, put, text_of
from tests.unit.computer.inputs.builders import prompt, stdio

A, B = stdio(name="a", command="a"), stdio(name="b", command="b")
ADDED_A = ConfigDiff(added=("a",), tools_may_have_changed=True)


def config(**commands: str) -> ComputerConfig:
    return ComputerConfig(servers={name: stdio(name=name, command=command) for name, command in commands.items()})


def on_file(path: Path, machine: Machine, over: ComputerConfig | None = None) -> LiveConfig:
    return LiveConfig(over, file=ConfigFile(path), apply=machine.apply, report=machine.report)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "computer.json"
    path.write_text(native(a="a"), encoding="utf-8")
    return path


@pytest.mark.rule("5.3")
async def test_without_a_file_the_configuration_is_what_was_given() -> None:
    machine = Machine()
    settings = LiveConfig(config(a="a"), apply=machine.apply)
    assert await settings.load() == EditResult(ADDED_A)
    assert settings.config == config(a="a")
    assert (settings.format, settings.notes, settings.problem) == ("native", (), None)
    assert machine.applied == [(ADDED_A, {"a": "a"})]


async def test_a_file_is_read_and_applied(file: Path) -> None:
    machine = Machine()
    settings = on_file(file, machine)
    assert await settings.load() == EditResult(ADDED_A)
    assert settings.config == config(a="a")
    assert machine.applied == [(ADDED_A, {"a": "a"})]


async def test_what_is_given_beside_a_file_lies_over_it(file: Path) -> None:
    settings = on_file(file, Machine(), config(a="mine", b="b"))
    await settings.load()
    assert commands_of(settings.config) == {"a": "mine", "b": "b"}


async def test_a_file_that_cannot_be_used_is_refused_at_first(tmp_path: Path) -> None:
    settings = on_file(tmp_path / "none.json", Machine())
    with pytest.raises(InvalidConfig, match="does not exist"):
        await settings.load()


async def test_notes_and_format_are_those_of_the_file(file: Path) -> None:
    put(file, '{"mcpServers": {"a": {"command": "a", "note": 1}}}')
    settings = on_file(file, Machine())
    await settings.load()
    assert settings.format == "claude"
    assert settings.notes == ("mcpServers.a.note: ignored: it has no meaning here",)


async def test_nothing_is_applied_when_a_file_says_the_same_again(file: Path) -> None:
    machine = Machine()
    settings = on_file(file, machine)
    await settings.load()
    put(file, json.dumps(json.loads(native(a="a"))))
    assert await settings.load() == EditResult(ConfigDiff())
    assert len(machine.applied) == 1


@pytest.mark.rule("5.3")
async def test_servers_come_change_stop_start_and_go() -> None:
    machine = Machine()
    settings = LiveConfig(apply=machine.apply)
    await settings.load()
    outcomes = [
        await settings.add_server(A),
        await settings.add_server(B),
        await settings.update_server(stdio(name="a", command="a2")),
        await settings.disable("b"),
        await settings.enable("b"),
        await settings.remove_server("b"),
        await settings.set_inputs([prompt("k")]),
    ]
    expected = [
        (ADDED_A, {"a": "a"}),
        (ConfigDiff(added=("b",), tools_may_have_changed=True), {"a": "a", "b": "b"}),
        (ConfigDiff(changed=("a",), tools_may_have_changed=True), {"a": "a2", "b": "b"}),
        (ConfigDiff(disabled=("b",), tools_may_have_changed=True), {"a": "a2", "b": None}),
        (ConfigDiff(enabled=("b",), tools_may_have_changed=True), {"a": "a2", "b": "b"}),
        (ConfigDiff(removed=("b",), tools_may_have_changed=True), {"a": "a2"}),
        (ConfigDiff(inputs_changed=("k",)), {"a": "a2"}),
    ]
    assert machine.applied == expected
    assert outcomes == [EditResult(changes) for changes, _ in expected]
    assert settings.config.inputs == [prompt("k")]


async def test_a_change_that_changes_nothing_is_not_applied() -> None:
    machine = Machine()
    settings = LiveConfig(config(a="a"), apply=machine.apply)
    await settings.load()
    assert await settings.enable("a") == EditResult(ConfigDiff())
    assert await settings.update_server(A) == EditResult(ConfigDiff())
    assert len(machine.applied) == 1


async def test_inputs_are_replaced_as_a_whole() -> None:
    settings = LiveConfig(ComputerConfig(inputs=[prompt("i"), prompt("j")]), apply=Machine().apply)
    await settings.load()
    outcome = await settings.set_inputs([prompt("k"), prompt("j")])
    assert outcome == EditResult(ConfigDiff(inputs_changed=("i", "k")))
    assert settings.config.inputs == [prompt("j"), prompt("k")]


async def test_what_cannot_be_is_refused_and_changes_nothing() -> None:
    machine = Machine()
    settings = LiveConfig(config(a="a"), apply=machine.apply)
    await settings.load()
    refused = []
    for change in (
        settings.add_server(A),
        settings.update_server(B),
        settings.remove_server("b"),
        settings.enable("b"),
        settings.disable("b"),
        settings.set_inputs([prompt("i"), prompt("i")]),
    ):
        with pytest.raises(InvalidConfig) as caught:
            await change
        refused.append(str(caught.value))
    assert refused == [
        'configuration: there is a server "a" already; update it, or choose another name',
        *['configuration: there is no server "b"; check its name'] * 4,
        "configuration: two inputs have one id; give each its own",
    ]
    assert settings.config == config(a="a")
    assert len(machine.applied) == 1


async def test_a_change_that_cannot_be_applied_has_not_happened(file: Path) -> None:
    machine = Machine()
    settings = on_file(file, machine)
    await settings.load()
    machine.fails = RuntimeError("no")
    with pytest.raises(RuntimeError):
        await settings.add_server(B, save=True)
    assert settings.config == config(a="a")
    assert text_of(file) == native(a="a")


async def test_changes_are_applied_one_at_a_time() -> None:
    running, most = 0, 0

    async def apply(changes: ConfigDiff, config: ComputerConfig) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    settings = LiveConfig(apply=apply)
    await asyncio.gather(*(settings.add_server(stdio(name=str(number))) for number in range(5)))
    assert most == 1
    assert list(settings.config.servers) == ["0", "1", "2", "3", "4"]


@pytest.mark.rule("5.3")
async def test_changes_are_saved_on_request(file: Path) -> None:
    settings = on_file(file, Machine())
    await settings.load()
    os.chmod(file, 0o640)  # noqa: PTH101
    assert await settings.add_server(B, save=True) == EditResult(
        ConfigDiff(added=("b",), tools_may_have_changed=True), saved=True
    )
    await settings.disable("a", save=True)
    await settings.set_inputs([prompt("k", "Key")], save=True)
    assert json.loads(text_of(file)) == {
        "servers": {
            "a": {"type": "stdio", "server_parameters": {"command": "a"}, "disabled": True},
            "b": {"type": "stdio", "server_parameters": {"command": "b"}},
        },
        "inputs": [{"type": "promptString", "id": "k", "description": "Key"}],
    }
    assert mode_of(file) == 0o640


async def test_only_what_is_to_be_saved_is_saved(file: Path) -> None:
    settings = on_file(file, Machine())
    await settings.load()
    await settings.add_server(B)
    await settings.disable("a", save=True)
    assert list(json.loads(text_of(file))["servers"]) == ["a"]
    assert commands_of(settings.config) == {"a": None, "b": "b"}
    await settings.remove_server("b", save=True)
    assert list(json.loads(text_of(file))["servers"]) == ["a"]


async def test_a_flag_for_a_server_that_was_not_saved_holds_in_memory(file: Path) -> None:
    settings = on_file(file, Machine())
    await settings.load()
    await settings.add_server(B)
    outcome = await settings.disable("b", save=True)
    assert (outcome.saved, outcome.note) == (False, 'not saved: the file has no server "b"')
    assert commands_of(settings.config) == {"a": "a", "b": None}


async def test_an_edit_of_the_file_in_between_is_taken_over_when_saving(file: Path) -> None:
    machine = Machine()
    settings = on_file(file, machine)
    await settings.load()
    put(file, native(a="edited", c="c"))
    await settings.add_server(B, save=True)
    assert list(json.loads(text_of(file))["servers"]) == ["a", "c", "b"]
    assert commands_of(settings.config) == {"a": "edited", "b": "b", "c": "c"}
    assert [changes for changes, _ in machine.applied] == [
        ADDED_A,
        ConfigDiff(added=("b",), tools_may_have_changed=True),
        ConfigDiff(added=("c",), changed=("a",), tools_may_have_changed=True),
    ]


async def test_a_file_that_may_be_missing_is_made_by_the_first_change_that_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    settings = LiveConfig(file=ConfigFile(path, optional=True), apply=Machine().apply)
    assert await settings.load() == EditResult(ConfigDiff())
    assert not path.exists()
    await settings.add_server(A, save=True)
    assert path.read_text() == native(a="a")
    assert mode_of(path) == 0o600


@pytest.mark.rule("5.4.claude")
async def test_a_file_of_another_program_is_never_rewritten(file: Path) -> None:
    put(file, claude(a="a"))
    settings = on_file(file, Machine())
    await settings.load()
    outcome = await settings.add_server(B, save=True)
    assert outcome == EditResult(
        ConfigDiff(added=("b",), tools_may_have_changed=True),
        note=(
            "not saved: the file is one of Claude Desktop, and those are never rewritten; "
            "the change holds until the Computer stops"
        ),
    )
    assert text_of(file) == claude(a="a")
    assert commands_of(settings.config) == {"a": "a", "b": "b"}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("{", "not saved: the file has problems; fix them, and save again"),
        (
            '{"servers": {}} //',
            "not saved: the file has comments or trailing commas, which saving would lose; edit it by hand",
        ),
        (claude(), "not saved: the file is not in the native format any more, and other formats are never rewritten"),
    ],
)
async def test_what_would_be_lost_is_not_written_over(text: str, note: str, file: Path) -> None:
    settings = on_file(file, Machine())
    await settings.load()
    put(file, text)
    outcome = await settings.add_server(B, save=True)
    assert (outcome.saved, outcome.note) == (False, note)
    assert text_of(file) == text
    assert commands_of(settings.config) == {"a": "a", "b": "b"}


async def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    settings = LiveConfig(file=ConfigFile(folder / "new.json", optional=True), apply=Machine().apply)
    await settings.load()
    folder.rmdir()
    outcome = await settings.add_server(A, save=True)
    assert (outcome.saved, outcome.note) == (False, "not saved: No such file or directory")


async def test_without_a_file_nothing_can_be_saved() -> None:
    settings = LiveConfig(apply=Machine().apply)
    assert (await settings.add_server(A, save=True)).note == "not saved: there is no file"


async def test_without_a_file_there_is_nothing_to_watch() -> None:
    await LiveConfig(apply=Machine().apply).watch()
