"""The configuration models: three kinds of MCP server, three kinds of input, and the JSON Schema of the file. Pure.

The models are frozen and reject unknown keys. They raise Pydantic's errors; `loaders` turns those into messages that a
person can act on. Values that may be secrets do not appear in `repr`.
"""

import json
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator, model_validator

from a2c_smcp.computer.config.field_types import (
    Argument,
    Directory,
    Duration,
    Encoding,
    EnvName,
    EnvValue,
    Headers,
    Name,
    ProgramName,
    Seconds,
    Url,
    field_error,
    input_ids,
)
from a2c_smcp.computer.config.problems import JsonPath
from a2c_smcp.types import SERVER_NAME, TOOL_NAME


class ConfigModel(BaseModel):
    """Base class: frozen, strict about types and keys; its errors never contain values."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, allow_inf_nan=False, validate_default=False
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, value: object) -> object:
        """Treat `null` for a field that has a default as a missing field."""
        if not isinstance(value, dict) or None not in value.values():
            return value
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: one for name, one in value.items() if one is not None or name not in optional}


class ToolMeta(ConfigModel):
    """A2C settings of a tool that MCP does not define. None means not set.

    The order of the fields is their order in the JSON string that Agents read.
    """

    auto_apply: bool | None = Field(None, description="Whether calls skip the confirmation.", examples=[True])
    alias: Name | None = Field(None, description="The name Agents call the tool by.", examples=["search_github"])
    tags: list[str] | None = Field(None, description="Words to sort tools by.", examples=[["browser"]])
    ret_object_mapper: dict[str, JsonValue] | None = Field(
        None, description="Maps the fields of a result to the caller's names.", examples=[{"title": "name"}]
    )

    def merged(self, default: Self | None) -> Self:
        """Return a copy in which unset fields take the value of `default`."""
        if default is None:
            return self
        own = {key: value for key, value in self if value is not None}
        return default.model_copy(update=own)

    def to_json(self) -> str:
        """Return the string that travels as `meta["a2c_tool_meta"]`."""
        return json.dumps(self.model_dump(mode="json"))


class BaseMCPServerConfig(ConfigModel):
    """The fields of every kind of MCP server configuration."""

    name: Name = Field(description="The server's name, unique on its Computer.", examples=["github"])
    disabled: bool = Field(False, description="Whether the server stays configured but is not started.")
    forbidden_tools: list[Name] = Field(
        default_factory=list,
        description="Tools that are not offered; calling one is refused.",
        examples=[["delete_repository"]],
    )
    tool_meta: dict[Name, ToolMeta] = Field(
        default_factory=dict,
        description="What is set for single tools, by their original name.",
        examples=[{"search": {"auto_apply": True}}],
    )
    default_tool_meta: ToolMeta | None = Field(
        None, description="What holds for tools and fields that tool_meta leaves open.", examples=[{"tags": ["web"]}]
    )
    vrl: str | None = Field(None, description="A VRL script over the results of the server's tools.")
    subscribe: Literal["declared", "assume"] = Field(
        "declared",
        description="Whether the server takes part in Desktop and Finder only if it declares resource subscriptions, "
        "or is assumed to support them.",
    )
    start_timeout: Seconds | None = Field(
        None,
        description="How long a start may take, in seconds, from the command or the connection to the end of the MCP "
        "handshake. By default 60; a process that is visibly at work, as when it downloads, gets more.",
        examples=[300],
    )
    max_message: int | None = Field(
        None,
        ge=65_536,
        description="Bytes of the longest message taken from the server, by default 64 MiB. A request whose answer is "
        "longer fails at once.",
        examples=[268_435_456],
    )

    def meta_of(self, tool: TOOL_NAME) -> ToolMeta | None:
        """Return the settings of a tool: its own merged over the default, or None if neither exists."""
        own = self.tool_meta.get(tool)
        return self.default_tool_meta if own is None else own.merged(self.default_tool_meta)


class MCPServerStdioParameters(ConfigModel):
    """How to start an MCP server as a child process."""

    command: ProgramName = Field(description="The program to start.", examples=["npx"])
    args: list[Argument] = Field(
        default_factory=list, description="Its arguments.", examples=[["-y", "some-package"]], repr=False
    )
    env: dict[EnvName, EnvValue] | None = Field(
        None, description="Variables added to its environment.", examples=[{"API_KEY": "${input:api-key}"}], repr=False
    )
    cwd: Directory | None = Field(None, description="The directory it starts in.", examples=["${workspaceFolder}"])
    encoding: Encoding = Field("utf-8", description="The text encoding of its input and output.")
    encoding_error_handler: Literal["strict", "ignore", "replace"] = Field(
        "strict", description="What happens to bytes that are not of that encoding."
    )


class MCPServerStdioConfig(BaseMCPServerConfig):
    """An MCP server reached over standard input and output."""

    type: Literal["stdio"] = "stdio"
    server_parameters: MCPServerStdioParameters = Field(
        description="How to start it.", examples=[{"command": "npx", "args": ["-y", "some-package"]}]
    )


class MCPServerStreamableHttpParameters(ConfigModel):
    """The endpoint of a streamable HTTP server. Both timeouts are ISO-8601 durations."""

    url: Url = Field(description="The endpoint.", examples=["https://example.com/mcp"], repr=False)
    headers: Headers | None = Field(
        None,
        description="Headers sent with every request.",
        examples=[{"Authorization": "Bearer ${input:token}"}],
        repr=False,
    )
    timeout: Duration = Field(timedelta(seconds=30), description="How long a request may take.", examples=["PT30S"])
    sse_read_timeout: Duration = Field(
        timedelta(minutes=5), description="How long the event stream may be silent.", examples=["PT5M"]
    )
    terminate_on_close: bool = Field(True, description="Whether closing ends the session at the server.")


class MCPServerStreamableHttpConfig(BaseMCPServerConfig):
    """An MCP server reached over streamable HTTP."""

    type: Literal["streamable"] = "streamable"
    server_parameters: MCPServerStreamableHttpParameters = Field(
        description="Where it is.", examples=[{"url": "https://example.com/mcp"}]
    )


class MCPSSEParameters(ConfigModel):
    """The endpoint of an SSE server. Both timeouts are in seconds."""

    url: Url = Field(description="The endpoint.", examples=["https://example.com/sse"], repr=False)
    headers: Headers | None = Field(
        None,
        description="Headers sent with every request.",
        examples=[{"Authorization": "Bearer ${input:token}"}],
        repr=False,
    )
    timeout: Seconds = Field(5.0, description="How long a request may take, in seconds.", examples=[5.0])
    sse_read_timeout: Seconds = Field(
        300.0, description="How long the event stream may be silent, in seconds.", examples=[300.0]
    )


class MCPSSEConfig(BaseMCPServerConfig):
    """An MCP server reached over HTTP with server-sent events."""

    type: Literal["sse"] = "sse"
    server_parameters: MCPSSEParameters = Field(
        description="Where it is.", examples=[{"url": "https://example.com/sse"}]
    )


MCPServerConfig: TypeAlias = Annotated[
    MCPServerStdioConfig | MCPServerStreamableHttpConfig | MCPSSEConfig, Field(discriminator="type")
]


class MCPServerInputBase(ConfigModel):
    """The fields of every kind of input."""

    id: Name = Field(description="What `${input:id}` refers to.", examples=["api-key"])
    description: str = Field(description="What a person is asked for.", examples=["The API key of the service"])

    @field_validator("id")
    @classmethod
    def _fits_into_a_placeholder(cls, value: str) -> str:
        if "{" in value or "}" in value:
            raise field_error(
                "has a brace in it, so that no placeholder can name it", "use letters, digits and hyphens"
            )
        return value


class MCPServerPromptStringInput(MCPServerInputBase):
    """A value that a person types."""

    type: Literal["promptString"] = "promptString"
    default: str | None = Field(None, description="What is taken when nothing is typed.", repr=False)
    password: bool | None = Field(None, description="Whether the typing is hidden.", examples=[True])


class MCPServerPickStringInput(MCPServerInputBase):
    """A value that a person picks from a list."""

    type: Literal["pickString"] = "pickString"
    options: list[str] = Field(description="What can be picked.", examples=[["dev", "prod"]])
    default: str | None = Field(None, description="What is picked at first: one of the options.")

    @field_validator("options")
    @classmethod
    def _there_are_options(cls, value: list[str]) -> list[str]:
        if not value:
            raise field_error("must not be empty", "list at least one")
        return value

    @field_validator("default")
    @classmethod
    def _default_is_an_option(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and value not in info.data.get("options", [value]):
            raise field_error("is not among the options", "pick one of them, or add it to options")
        return value


class MCPServerCommandInput(MCPServerInputBase):
    """A value that a command prints."""

    type: Literal["command"] = "command"
    command: ProgramName = Field(description="The program to run.", examples=["pass"])
    args: dict[str, EnvValue] | None = Field(None, description="Its arguments by name.", examples=[{"show": "github"}])


MCPServerInput: TypeAlias = Annotated[
    MCPServerPromptStringInput | MCPServerPickStringInput | MCPServerCommandInput, Field(discriminator="type")
]


class ComputerConfig(ConfigModel):
    """A complete configuration: servers by name, and the inputs that their placeholders refer to."""

    servers: dict[SERVER_NAME, MCPServerConfig] = Field(default_factory=dict, description="MCP servers by name.")
    inputs: list[MCPServerInput] = Field(default_factory=list, description="What `${input:id}` can refer to.")

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        for name, server in self.servers.items():
            if server.name != name:
                raise field_error("has a server whose name is not its key", "make them agree")
        ids = [entry.id for entry in self.inputs]
        if len(set(ids)) < len(ids):
            raise field_error("has two inputs of one id", "give each its own")
        return self


def undefined_inputs(config: ComputerConfig) -> dict[str, list[JsonPath]]:
    """Return the ids in `${input:id}` that no input defines, each with the paths in `config` that use it."""
    defined = {entry.id for entry in config.inputs}
    places: dict[str, list[JsonPath]] = {}
    for name, server in config.servers.items():
        for place, text in strings_of(server.model_dump(mode="json"), ("servers", name)):
            for wanted in input_ids(text):
                if wanted not in defined and place not in places.setdefault(wanted, []):
                    places[wanted].append(place)
    return places


def strings_of(value: Any, place: JsonPath = ()) -> list[tuple[JsonPath, str]]:
    """Return every string in a JSON value (keys excluded) with its path."""
    match value:
        case str():
            return [(place, value)]
        case dict():
            return [found for key, item in value.items() for found in strings_of(item, (*place, key))]
        case list():
            return [found for index, item in enumerate(value) for found in strings_of(item, (*place, index))]
        case _:
            return []


SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of the native file.

    It allows more than the model: a server under a key need not repeat its name, `servers` may be a list, and the file
    may have a `$schema` key.
    """
    schema = ComputerConfig.model_json_schema(mode="validation")
    for definition in schema["$defs"].values():
        if "type" in definition.get("properties", {}):
            definition["required"] = ["type", *(key for key in definition.get("required", ()) if key != "name")]
    mapping = schema["properties"].pop("servers")
    server = mapping.pop("additionalProperties")
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "A2C-SMCP Computer configuration",
        "description": schema["description"],
        "type": "object",
        "additionalProperties": False,
        "required": ["servers"],
        "properties": {
            "$schema": {"type": "string", "description": "The schema of this file, for editors."},
            "servers": {
                "description": mapping["description"],
                "anyOf": [
                    {"type": "object", "additionalProperties": server},
                    {"type": "array", "items": {"allOf": [server, {"required": ["name"]}]}},
                ],
            },
            **schema["properties"],
        },
        "$defs": schema["$defs"],
    }
