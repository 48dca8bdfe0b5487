"""Inputs: the values of the placeholders in a configuration, and their sources."""

from collections.abc import Mapping
from pathlib import Path

from a2c_smcp.computer.inputs.commands import CommandSource
from a2c_smcp.computer.inputs.prompt import PromptSource, is_attended, without_echo
from a2c_smcp.computer.inputs.resolution import Unresolved, Variables, workspace_of
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import (
    AskForInput,
    CallbackSource,
    EnvironmentSource,
    GivenSource,
    InputSource,
    InputValue,
    KeyringSource,
    env_variable,
    parse_input_options,
    read_input_file,
)
from a2c_smcp.computer.inputs.store import Inputs, InputState

__all__ = [
    "AskForInput",
    "CallbackSource",
    "CommandSource",
    "EnvironmentSource",
    "GivenSource",
    "InputSource",
    "InputState",
    "InputValue",
    "Inputs",
    "KeyringSource",
    "PromptSource",
    "Secret",
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
    ask: AskForInput | None = None,
    prompt: bool = False,
    env: Mapping[str, str] | None = None,
    workspace: Path | None = None,
) -> tuple[InputSource, ...]:
    """Return the sources of a Computer in order: command line, environment, keyring, command, application, person.

    Args:
        given: The values of `--input` and `--input-file`.
        ask: The application's callback.
        prompt: Whether to ask a person at the terminal.
        env: The environment; by default that of this process.
        workspace: The working directory of `command` inputs.
    """
    sources: list[InputSource] = [
        GivenSource(given or {}),
        EnvironmentSource(env),
        KeyringSource(),
        CommandSource(cwd=workspace, env=env),
    ]
    if ask is not None:
        sources.append(CallbackSource(ask))
    if prompt:
        sources.append(PromptSource())
    return tuple(sources)
