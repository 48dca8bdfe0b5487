"""Settings that follow their file while they are changed by hand."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from a2c_smcp.computer.config import ConfigDiff, ConfigFile, LiveConfig
from a2c_smcp.computer.config.live_config import STAYS
from tests.unit.computer.config.builders import Machine, claude, commands_of, native, put, text_of
from tests.unit.computer.inputs.builders import stdio

CHANGED_A = ConfigDiff(changed=("a",), tools_may_have_changed=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "computer.json"
    path.write_text(native(a="1", b="1"), encoding="utf-8")
    return path


@asynccontextmanager
async def following(file: Path, machine: Machine) -> AsyncIterator[LiveConfig]:
    settings = LiveConfig(file=ConfigFile(file, interval=0.05, grace=0.1), apply=machine.apply, report=machine.report)
    await settings.load()
    machine.applied.clear()
    machine.stirred.clear()
    task = asyncio.create_task(settings.watch())
    try:
        yield settings
    finally:
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.rule("5.3")
async def test_an_edited_file_takes_effect_for_what_changed_only(file: Path) -> None:
    machine = Machine()
    async with following(file, machine) as settings:
        put(file, native(a="2", b="1", c="1"))
        await machine.next()
        assert machine.applied == [
            (ConfigDiff(added=("c",), changed=("a",), tools_may_have_changed=True), {"a": "2", "b": "1", "c": "1"})
        ]
        assert commands_of(settings.config) == {"a": "2", "b": "1", "c": "1"}


@pytest.mark.rule("5.3")
async def test_a_broken_file_keeps_the_last_good_configuration(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    machine = Machine()
    async with following(file, machine) as settings:
        put(file, '{"servers": 1}')
        await machine.next()
        problem = f"{file}: servers: is a number; it must be an object with a server a key"
        problems = [settings.problem]
        assert commands_of(settings.config) == {"a": "1", "b": "1"}
        put(file, native(a="1", b="1"))
        await machine.next()
        problems.append(settings.problem)
        assert problems == machine.told == [f"{problem}\n{STAYS}", None]
        assert machine.applied == []
    assert caplog.messages == [f"configuration change rejected: {problem}\n{STAYS}"]


@pytest.mark.rule("5.3")
async def test_changes_by_hand_lie_over_a_file_of_another_program_when_it_changes(file: Path) -> None:
    put(file, claude(a="1", b="1"))
    machine = Machine()
    async with following(file, machine) as settings:
        await settings.disable("b")
        await settings.add_server(stdio(name="mine", command="1"))
        machine.stirred.clear()
        put(file, claude(a="2", b="2"))
        await machine.next()
        assert commands_of(settings.config) == {"a": "2", "b": None, "mine": "1"}
        assert machine.applied[-1][0] == ConfigDiff(changed=("a",), dormant=("b",), tools_may_have_changed=True)


@pytest.mark.rule("5.3")
async def test_what_we_saved_ourselves_is_no_change(file: Path) -> None:
    machine = Machine()
    async with following(file, machine) as settings:
        for number in "234":
            await settings.update_server(stdio(name="a", command=number), save=True)
        machine.stirred.clear()
        saved = json.loads(text_of(file))
        saved["servers"]["a"]["server_parameters"]["command"] = "5"
        put(file, json.dumps(saved))
        await machine.next()
        assert [runs["a"] for _, runs in machine.applied] == ["2", "3", "4", "5"]


@pytest.mark.rule("5.3")
async def test_edits_and_saved_changes_at_once_lose_nothing(file: Path) -> None:
    """Somebody edits the file while servers are added by hand: what either did is there in the end."""
    machine = Machine()
    async with following(file, machine) as settings:
        for number in range(10):
            data = json.loads(text_of(file))
            data["servers"][f"edited-{number}"] = {"type": "stdio", "server_parameters": {"command": "x"}}
            put(file, json.dumps(data))
            outcome = await settings.add_server(stdio(name=f"saved-{number}", command="x"), save=True)
            assert outcome.saved
        wanted = {"a", "b", *(f"{kind}-{number}" for kind in ("edited", "saved") for number in range(10))}
        assert set(settings.config.servers) == wanted
        assert set(json.loads(text_of(file))["servers"]) == wanted
        machine.stirred.clear()
        put(file, native(a="end"))
        await machine.next()
        assert commands_of(settings.config) == {"a": "end"}
        # No server was ever stopped in between, not for a moment.
        assert [changes.removed for changes, _ in machine.applied[:-1]] == [()] * (len(machine.applied) - 1)


async def test_a_change_that_cannot_be_applied_does_not_end_the_watching(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    machine = Machine()
    async with following(file, machine) as settings:
        machine.fails = RuntimeError("no")
        put(file, native(a="2"))
        await machine.next()
        machine.fails = None
        put(file, native(a="3", b="1"))
        while commands_of(settings.config) != {"a": "3", "b": "1"}:
            await machine.next()
        assert machine.told == [
            f"{file}: could not be applied (RuntimeError); see the log\n{STAYS}",
            None,
        ]
        assert machine.applied == [(CHANGED_A, {"a": "3", "b": "1"})]
    assert caplog.messages[0] == f"configuration not applied: source={file}"
