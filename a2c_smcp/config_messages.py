"""A Computer's configuration as it travels: MCP servers and inputs, as TypedDicts."""

from typing import Any, Literal, NotRequired, TypeAlias

# Pydantic needs this TypedDict rather than typing's on Python 3.11.
from typing_extensions import TypedDict

from a2c_smcp.types import SERVER_NAME, TOOL_NAME


class ToolMeta(TypedDict, total=False):
    """What `meta["a2c_tool_meta"]` holds as a JSON string."""

    auto_apply: NotRequired[bool | None]
    ret_object_mapper: NotRequired[dict[str, Any] | None]
    alias: NotRequired[str | None]
    tags: NotRequired[list[str] | None]


class BaseMCPServerConfig(TypedDict):
    """What every kind of MCP server configuration has.

    `instructions` is no setting: it is what the running MCP server tells models about itself.
    """

    name: SERVER_NAME
    disabled: bool
    forbidden_tools: list[TOOL_NAME]
    tool_meta: dict[TOOL_NAME, ToolMeta]
    default_tool_meta: NotRequired[ToolMeta | None]
    vrl: NotRequired[str | None]
    instructions: NotRequired[str | None]


class MCPServerStdioParameters(TypedDict):
    """How to start an MCP server as a child process."""

    command: str
    args: list[str]
    env: dict[str, str] | None
    cwd: str | None
    encoding: str
    encoding_error_handler: Literal["strict", "ignore", "replace"]


class MCPServerStdioConfig(BaseMCPServerConfig):
    """An MCP server spoken to over standard input and output."""

    type: Literal["stdio"]
    server_parameters: MCPServerStdioParameters


class MCPServerStreamableHttpParameters(TypedDict):
    """Where a streamable HTTP server is; both time-outs are ISO-8601 durations."""

    url: str
    headers: dict[str, Any] | None
    timeout: str
    sse_read_timeout: str
    terminate_on_close: bool


class MCPServerStreamableHttpConfig(BaseMCPServerConfig):
    """An MCP server spoken to over streamable HTTP."""

    type: Literal["streamable"]
    server_parameters: MCPServerStreamableHttpParameters


class MCPSSEParameters(TypedDict):
    """Where an SSE server is; both time-outs are seconds."""

    url: str
    headers: dict[str, Any] | None
    timeout: float
    sse_read_timeout: float


class MCPSSEConfig(BaseMCPServerConfig):
    """An MCP server spoken to over HTTP with server-sent events."""

    type: Literal["sse"]
    server_parameters: MCPSSEParameters


MCPServerConfig: TypeAlias = MCPServerStdioConfig | MCPServerStreamableHttpConfig | MCPSSEConfig


class MCPServerInputBase(TypedDict):
    """What every kind of input has."""

    id: str
    description: str


class MCPServerPromptStringInput(MCPServerInputBase):
    """A value that a person types."""

    type: Literal["promptString"]
    default: NotRequired[str | None]
    password: NotRequired[bool | None]


class MCPServerPickStringInput(MCPServerInputBase):
    """A value that a person picks."""

    type: Literal["pickString"]
    options: list[str]
    default: NotRequired[str | None]


class MCPServerCommandInput(MCPServerInputBase):
    """A value that a command prints."""

    type: Literal["command"]
    command: str
    args: NotRequired[dict[str, str] | None]


MCPServerInput: TypeAlias = MCPServerPromptStringInput | MCPServerPickStringInput | MCPServerCommandInput
