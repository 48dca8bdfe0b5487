"""The messages of the protocol as TypedDicts, exactly as they travel.

Names, fields and optionality are the contract's. `a2c_smcp.smcp` says which message belongs to which event.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

# Pydantic needs this TypedDict rather than typing's on Python 3.11.
from typing_extensions import TypedDict

from a2c_smcp.config_messages import MCPServerConfig, MCPServerInput
from a2c_smcp.types import SERVER_NAME, TOOL_NAME, Attributes, Desktop, Role

MAX_NAME: Final = 256
"""The longest name or id, in characters."""

ACCEPT_CHUNKS: Final = "accept_chunks"
"""The extra field of any `client:*` request whose sender can take a large reply in pieces."""

ACCEPT_PROGRESS: Final = "accept_progress"
"""The extra field of a `client:tool_call` whose sender wants to hear how far the tool is."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _plain(text: str) -> str:
    # Names reach logs and terminals, and a lone surrogate cannot be encoded at all.
    if _CONTROL.search(text):
        raise ValueError("must have no control characters and be valid Unicode")
    return text


def _whole(value: object) -> object:
    # JSON has one kind of number: 30.0 is the integer 30.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _pair(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME), AfterValidator(_plain)]
"""A name or id: not empty, bounded, printable in a log."""

Whole: TypeAlias = Annotated[int, BeforeValidator(_whole)]

Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


RequestMeta: TypeAlias = dict[str, Any] | None
"""MCP's `_meta` of a request, such as a `traceparent`; it reaches the MCP server."""


# MCP reserves prefixes whose second label is one of these; earlier revisions reserved them as the first.
_OF_ONE_HOP: Final = re.compile(
    r"progress_?token$|(?:[\w-]+\.)?(?:mcp|modelcontextprotocol)(?:\.[\w.-]*)?/", re.IGNORECASE
)


def passed_on(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what of a request's `_meta` travels on.

    What belongs to one connection stays behind: the progress token and MCP's own keys (protocol version, client).
    """
    return {key: value for key, value in (meta or {}).items() if not _OF_ONE_HOP.match(key)}


class AgentCallData(TypedDict):
    """What every request of an Agent carries."""

    agent: Name
    req_id: Name


class ToolCallReq(AgentCallData):
    """Run a tool. `timeout` is in seconds."""

    computer: Name
    tool_name: Annotated[TOOL_NAME, StringConstraints(min_length=1)]
    params: dict[str, Any]
    timeout: Annotated[Whole, Field(gt=0)]
    meta: NotRequired[RequestMeta]


class ProgressData(TypedDict):
    """How far a running tool is, in its own words: `progress` never goes back, `total` is where it ends, if known.

    `number` counts the reports of a call that are sent, from 1.
    """

    progress: Number
    total: NotRequired[Number | None]
    message: NotRequired[str | None]
    number: NotRequired[int]


class CallToolResult(TypedDict, total=False):
    """The MCP tool result, by field name, as the wire carries it.

    `progress` is the tool's last word of it, where the request said `accept_progress` and the tool said anything;
    `progress_log` repeats the last reports that were sent, for those that the result overtook.
    """

    content: list[dict[str, Any]]
    structuredContent: dict[str, Any] | None
    isError: bool
    meta: dict[str, Any] | None
    progress: ProgressData
    progress_log: list[ProgressData]
    req_id: str


class SMCPTool(TypedDict):
    """A tool that an Agent may call by `name`.

    Values of `meta` are simple: objects and lists travel as JSON strings. `title`, `icons` and `execution` are MCP's.
    """

    name: TOOL_NAME
    description: str
    params_schema: dict[str, Any]
    return_schema: dict[str, Any] | None
    meta: NotRequired[Attributes | None]
    bundle_id: NotRequired[SERVER_NAME]
    title: NotRequired[str | None]
    icons: NotRequired[list[dict[str, Any]] | None]
    execution: NotRequired[dict[str, Any] | None]


class GetToolsReq(AgentCallData):
    """List a Computer's tools."""

    computer: Name


class GetToolsRet(TypedDict):
    """The tools of a Computer."""

    tools: list[SMCPTool]
    req_id: str


class EnterOfficeReq(TypedDict):
    """Join an office; from then on this is who the connection is.

    Where the same credentials hold the seat under the same name, they leave it, unless `take_over` is false.
    """

    role: Role
    name: Name
    office_id: Name
    take_over: NotRequired[bool]


class LeaveOfficeReq(TypedDict):
    """Leave the office one is in."""

    office_id: Name


class EnterOfficeNotification(TypedDict, total=False):
    """Somebody joined: `computer` or `agent` is their name."""

    office_id: str
    computer: str | None
    agent: str | None


class LeaveOfficeNotification(TypedDict, total=False):
    """Somebody left: `computer` or `agent` is their name."""

    office_id: str
    computer: str | None
    agent: str | None


class ListRoomReq(AgentCallData):
    """List who is in the Agent's office."""

    office_id: Name


class SessionInfo(TypedDict, total=False):
    """One member of an office. `a2c_version` is what its client said when it connected."""

    sid: str
    name: str
    role: Role
    office_id: str
    a2c_version: str


class ListRoomRet(TypedDict):
    """The members of an office."""

    sessions: list[SessionInfo]
    req_id: str


class UpdateComputerConfigReq(TypedDict):
    """Something of this Computer changed: its configuration, tools, desktop or finder."""

    computer: Name


class UpdateProgressReq(AgentCallData, ProgressData):
    """How far a tool is that this Computer runs for the Agent, which said `accept_progress`."""

    computer: Name


class UpdateMCPConfigNotification(TypedDict, total=False):
    """A Computer's configuration changed."""

    computer: str


class UpdateToolListNotification(TypedDict, total=False):
    """A Computer's tools changed."""

    computer: str


class UpdateDesktopNotification(TypedDict, total=False):
    """A Computer's windows changed."""

    computer: str


class UpdateFinderNotification(TypedDict, total=False):
    """A Computer's documents changed."""

    computer: str


class UpdateProgressNotification(UpdateProgressReq):
    """How far the tool of a call is; only the Agent that made the call is told."""


class DisconnectNotification(TypedDict):
    """Why the Server is about to close this connection: an error code and its message. Older Servers do not send it."""

    code: int
    message: str


class GetComputerConfigReq(AgentCallData):
    """Read a Computer's configuration, secrets left out."""

    computer: Name


class GetComputerConfigRet(TypedDict):
    """A Computer's configuration, with placeholders unresolved and literal secrets redacted."""

    inputs: NotRequired[list[MCPServerInput] | None]
    servers: dict[SERVER_NAME, MCPServerConfig]


class GetDeskTopReq(AgentCallData, total=True):
    """Read a Computer's desktop: at most `desktop_size` windows, or the one whose URI is `window`."""

    computer: Name
    desktop_size: NotRequired[Whole]
    window: NotRequired[str]


class GetDeskTopRet(TypedDict, total=False):
    """The rendered windows of a Computer."""

    desktops: list[Desktop]
    req_id: str


class GetFinderReq(AgentCallData, total=True):
    """Read a page of a Computer's document catalogue."""

    computer: Name
    keywords: NotRequired[list[str]]
    file_type: NotRequired[str]
    offset: NotRequired[Annotated[Whole, Field(ge=0)]]
    limit: NotRequired[Annotated[Whole, Field(ge=0, le=100)]]


class DPEDocumentSummary(TypedDict):
    """A document as the catalogue lists it."""

    doc_ref: str
    uri: str
    file_uri: str
    file_type: str
    title: str
    page_count: int
    keywords: NotRequired[list[str]]
    summary: NotRequired[str]
    server: SERVER_NAME
    last_modified: NotRequired[str]


class DPEPageSummary(TypedDict):
    """A page as the index of its document lists it."""

    page_index: int
    title: str
    element_count: NotRequired[int]
    uri: str
    doc_ref: NotRequired[str]


class DPEElementDetail(TypedDict):
    """An element of a page."""

    element_id: str
    category: str
    summary: NotRequired[str]
    content: dict[str, Any]
    doc_ref: NotRequired[str]
    page_index: NotRequired[int]
    uri: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class GetFinderRet(TypedDict, total=False):
    """A page of the catalogue; `unavailable` names the MCP servers that could not be asked."""

    documents: list[DPEDocumentSummary]
    total_count: int
    req_id: str
    unavailable: list[SERVER_NAME]


class ReadResourceReq(AgentCallData):
    """Read a resource of any scheme that the Computer's MCP servers serve.

    Without `mcp_server`, a URI that several of them serve is refused.
    """

    computer: Name
    uri: Annotated[str, StringConstraints(min_length=1)]
    mcp_server: NotRequired[Name | None]
    meta: NotRequired[RequestMeta]


class ReadResourceRet(TypedDict):
    """MCP resource contents, and the `_meta` of the MCP server's answer."""

    contents: list[dict[str, Any]]
    meta: NotRequired[dict[str, Any] | None]
    req_id: str


class GetResourcesReq(AgentCallData):
    """List resources of one MCP server, a cursor's page at a time."""

    computer: Name
    mcp_server: Name
    cursor: NotRequired[str | None]


class GetResourcesRet(TypedDict):
    """MCP resources; `next_cursor` is there when more follow."""

    resources: list[dict[str, Any]]
    next_cursor: NotRequired[str | None]
    req_id: str


class GetResourceTemplatesReq(AgentCallData):
    """List resource templates of one MCP server, a cursor's page at a time."""

    computer: Name
    mcp_server: Name
    cursor: NotRequired[str | None]


class GetResourceTemplatesRet(TypedDict):
    """MCP resource templates; `next_cursor` is there when more follow."""

    resource_templates: list[dict[str, Any]]
    next_cursor: NotRequired[str | None]
    req_id: str


class CompleteReq(AgentCallData):
    """The MCP completion call: `ref` and `argument`, and the values chosen before in `context`.

    Without `mcp_server`, a reference that several MCP servers offer is refused.
    """

    computer: Name
    mcp_server: NotRequired[Name | None]
    ref: dict[str, Any]
    argument: dict[str, Any]
    context: NotRequired[dict[str, Any] | None]
    meta: NotRequired[RequestMeta]


class CompleteRet(TypedDict):
    """The MCP completion: `values`, `total`, `hasMore`."""

    completion: dict[str, Any]
    req_id: str


class SubscribeResourceReq(AgentCallData):
    """Report updates of a resource, or report them no more.

    Without `mcp_server`, a URI that several MCP servers serve is refused.
    """

    computer: Name
    uri: Annotated[str, StringConstraints(min_length=1)]
    mcp_server: NotRequired[Name | None]


class SubscribeResourceRet(TypedDict):
    """The MCP server whose resource it is, where that is known."""

    mcp_server: NotRequired[SERVER_NAME | None]
    req_id: str


class UpdateResourcesReq(TypedDict):
    """Resources of this Computer changed: those of `uris`, which the Agent subscribed to, or the list of them.

    A message with neither says that anything may have changed.
    """

    computer: Name
    mcp_server: NotRequired[SERVER_NAME | None]
    uris: NotRequired[list[str]]
    list_changed: NotRequired[bool]


class UpdateResourcesNotification(UpdateResourcesReq):
    """Resources of a Computer changed; only the Agent of the office is told."""


class Chunked(TypedDict):
    """A reply that is fetched in pieces: `size` and `sha256` are those of its JSON text in UTF-8."""

    transfer: Name
    size: Annotated[Whole, Field(gt=0)]
    count: Annotated[Whole, Field(gt=0)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class ChunkedRet(TypedDict):
    """What comes in place of a large reply where the request said `accept_chunks`."""

    chunked: Chunked
    req_id: str


class GetChunkReq(AgentCallData):
    """Fetch a piece of a large reply, counted from 0."""

    computer: Name
    transfer: Name
    index: Annotated[Whole, Field(ge=0)]


class GetChunkRet(TypedDict):
    """A piece: part of the JSON text of the reply."""

    data: str
    index: int
    req_id: str


class RoutedReq(AgentCallData):
    """What the Server needs of any `client:*` event, known to it or not."""

    computer: Name


OfficeAck: TypeAlias = Annotated[tuple[bool, str | None], BeforeValidator(_pair)]
"""`join_office` and `leave_office` answer with two ack arguments: `true, null` or `false, "why"`."""
