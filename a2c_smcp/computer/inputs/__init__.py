"""Inputs: the values behind the placeholders of a configuration, kept where nobody else sees them."""

from collections.abc import Mapping
from pathlib import Path

from a2c_smcp.computer.inputs.commands import Command
from a2c_smcp.computer.inputs.given import parse_input_options, read_input_file
from a2c_smcp.computer.inputs.prompt import Prompt, is_attended, without_echo
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import (
    Ask,
    Callback,
    Environment,
    Found,
    Given,
    Keyring,
    Source,
    env_variable,
)
from a2c_smcp.computer.inputs.store import Inputs, InputState
from a2c_smcp.computer.inputs.variables import Unresolved, Variables, workspace_of

__all__ = [
    "Ask",
    "Callback",
    "Command",
    "Environment",
    "Found",
    "Given",
    "InputState",
    "Inputs",
    "Keyring",
    "Prompt",
    "Secret",
    "Source",
    "Unresolved",
    "Variables",
    "env_variable",
    "is_attended",
    "parse_input_options",
    "read_input_file",
    "standard_sources",
    "without_echo",
    "workspace_of",
]


def standard_sources(
    given: Mapping[str, Secret | str] | None = None,
    *,
    ask: Ask | None = None,
    prompt: bool = False,
    env: Mapping[str, str] | None = None,
    workspace: Path | None = None,
) -> tuple[Source, ...]:
    """Return the sources of a Computer, in their order: given, environment, keyring, command, application, person.

    Args:
        given: The values of `--input` and `--input-file`.
        ask: The application's callback.
        prompt: Whether a person at the terminal is asked.
        env: The environment, by default that of this process.
        workspace: Where the programs of `command` inputs run.
    """
    sources: list[Source] = [Given(given or {}), Environment(env), Keyring(), Command(cwd=workspace, env=env)]
    if ask is not None:
        sources.append(Callback(ask))
    if prompt:
        sources.append(Prompt())
    return tuple(sources)
