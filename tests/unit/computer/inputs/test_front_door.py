"""What the package of inputs offers."""

import sys
from pathlib import Path

import pytest

import a2c_smcp.computer.inputs as front_door
from a2c_smcp.computer import MCPServerInput
from a2c_smcp.computer.inputs import (
    CallbackSource,
    CommandSource,
    EnvironmentSource,
    GivenSource,
    Inputs,
    KeyringSource,
    PromptSource,
    Secret,
    standard_sources,
)
from tests.unit.computer.inputs.builders import command, prompt, stdio


async def nobody(wanted: MCPServerInput) -> str | None:
    return None


def test_every_name_is_there_and_in_order() -> None:
    assert front_door.__all__ == sorted(front_door.__all__)
    assert all(hasattr(front_door, name) for name in front_door.__all__)


def test_the_sources_stand_in_their_order() -> None:
    assert [type(source) for source in standard_sources()] == [
        GivenSource,
        EnvironmentSource,
        KeyringSource,
        CommandSource,
    ]
    everything = standard_sources({}, ask=nobody, prompt=True)
    assert [type(source) for source in everything] == [
        GivenSource,
        EnvironmentSource,
        KeyringSource,
        CommandSource,
        CallbackSource,
        PromptSource,
    ]


@pytest.mark.rule("5.2")
async def test_a_computer_without_a_screen_gets_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    sources = standard_sources(
        {"a": Secret("given")}, env={"A2C_INPUT_B": "environment", "PATH": "/usr/bin:/bin"}, workspace=tmp_path
    )
    inputs = Inputs([prompt("a"), prompt("b"), command("pwd", input_id="c"), prompt("d", default="default")], sources)
    resolved = await inputs.resolve(stdio("${input:a}", "${input:b}", "${input:c}", "${input:d}"))
    assert resolved.model_dump() == stdio("given", "environment", str(tmp_path), "default").model_dump()
