"""Small configurations for the tests of inputs."""

from typing import Any

from a2c_smcp.computer import (
    MCPServerCommandInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
)


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
