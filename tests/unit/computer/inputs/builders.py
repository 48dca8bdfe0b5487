"""Small configurations for the tests of inputs, and what servers make of them."""

from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer import (
    MCPServerCommandInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
)
from a2c_smcp.computer.config.loaders import ConfigFormat
from a2c_smcp.computer.inputs.resolution import Variables
from a2c_smcp.computer.inputs.store import Inputs
from a2c_smcp.errors import InvalidConfig


def prompt(input_id: str = "key", description: str = "The key", **more: Any) -> MCPServerPromptStringInput:
    return MCPServerPromptStringInput(id=input_id, description=description, **more)


def pick(input_id: str = "browser", *options: str, **more: Any) -> MCPServerPickStringInput:
    return MCPServerPickStringInput(
        id=input_id, description="The browser", options=list(options or ("chrome", "firefox")), **more
    )


def command(run: str, args: dict[str, str] | None = None, input_id: str = "key") -> MCPServerCommandInput:
    return MCPServerCommandInput(id=input_id, description="The key", command=run, args=args)


def stdio(*args: str, env: dict[str, str] | None = None, name: str = "notes", **more: Any) -> MCPServerStdioConfig:
    parameters = MCPServerStdioParameters(command=more.pop("command", "notes-mcp"), args=list(args), env=env)
    return MCPServerStdioConfig(name=name, server_parameters=parameters, **more)


def http(url: str, headers: dict[str, str] | None = None, name: str = "web") -> MCPServerStreamableHttpConfig:
    parameters = MCPServerStreamableHttpParameters(url=url, headers=headers)
    return MCPServerStreamableHttpConfig(name=name, server_parameters=parameters)


def variables(dialect: ConfigFormat = "native", **env: str) -> Variables:
    return Variables(env, Path("/work"), Path("/home"), Path("/here"), dialect)


async def args_of(inputs: Inputs, *args: str) -> list[str]:
    return list((await inputs.resolve(stdio(*args))).model_dump()["server_parameters"]["args"])


async def lines_of(inputs: Inputs, *args: str) -> list[str]:
    with pytest.raises(InvalidConfig) as caught:
        await inputs.resolve(stdio(*args))
    assert caught.value.details is not None
    return list(caught.value.details["problems"])
