"""The wire: event names, messages, and the one table that says which message belongs to which event.

A process validates each message once, at its door, through the table (`parse_request`, `parse_reply`); unknown
extra fields are ignored, so that newer peers can talk to older ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from a2c_smcp.config_messages import (
    BaseMCPServerConfig,
    MCPServerCommandInput,
    MCPServerConfig,
    MCPServerInput,
    MCPServerInputBase,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    ToolMeta,
)
from a2c_smcp.errors import BadRequest, Forbidden, SMCPError, WireForm, from_wire, to_wire
from a2c_smcp.messages import (
    ACCEPT_CHUNKS,
    ACCEPT_PROGRESS,
    MAX_NAME,
    AgentCallData,
    CallToolResult,
    Chunked,
    ChunkedRet,
    CompleteReq,
    CompleteRet,
    DisconnectNotification,
    DPEDocumentSummary,
    DPEElementDetail,
    DPEPageSummary,
    EnterOfficeNotification,
    EnterOfficeReq,
    GetChunkReq,
    GetChunkRet,
    GetComputerConfigReq,
    GetComputerConfigRet,
    GetDeskTopReq,
    GetDeskTopRet,
    GetFinderReq,
    GetFinderRet,
    GetResourcesReq,
    GetResourcesRet,
    GetResourceTemplatesReq,
    GetResourceTemplatesRet,
    GetToolsReq,
    GetToolsRet,
    LeaveOfficeNotification,
    LeaveOfficeReq,
    ListRoomReq,
    ListRoomRet,
    Name,
    Number,
    OfficeAck,
    ProgressData,
    ReadResourceReq,
    ReadResourceRet,
    RoutedReq,
    SessionInfo,
    SMCPTool,
    SubscribeResourceReq,
    SubscribeResourceRet,
    ToolCallReq,
    UpdateComputerConfigReq,
    UpdateDesktopNotification,
    UpdateFinderNotification,
    UpdateMCPConfigNotification,
    UpdateProgressNotification,
    UpdateProgressReq,
    UpdateResourcesNotification,
    UpdateResourcesReq,
    UpdateToolListNotification,
    Whole,
)
from a2c_smcp.types import MAX_MESSAGE, Desktop, Role
from a2c_smcp.validation import error_words

__all__ = [
    "ACCEPT_CHUNKS",
    "ACCEPT_PROGRESS",
    "CANCEL_TOOL_CALL_EVENT",
    "CANCEL_TOOL_CALL_NOTIFICATION",
    "COMPLETE_EVENT",
    "DISCONNECT_NOTIFICATION",
    "ENTER_OFFICE_NOTIFICATION",
    "EVENTS",
    "GET_CHUNK_EVENT",
    "GET_CONFIG_EVENT",
    "GET_DESKTOP_EVENT",
    "GET_FINDER_EVENT",
    "GET_RESOURCES_EVENT",
    "GET_RESOURCE_TEMPLATES_EVENT",
    "GET_TOOLS_EVENT",
    "JOIN_OFFICE_EVENT",
    "LEAVE_OFFICE_EVENT",
    "LEAVE_OFFICE_NOTIFICATION",
    "LIST_ROOM_EVENT",
    "MAX_MESSAGE",
    "MAX_NAME",
    "READ_RESOURCE_EVENT",
    "SMCP_NAMESPACE",
    "SOCKETIO_PATH",
    "SUBSCRIBE_RESOURCE_EVENT",
    "TOOL_CALL_EVENT",
    "UNSUBSCRIBE_RESOURCE_EVENT",
    "UPDATE_CONFIG_EVENT",
    "UPDATE_CONFIG_NOTIFICATION",
    "UPDATE_DESKTOP_EVENT",
    "UPDATE_DESKTOP_NOTIFICATION",
    "UPDATE_FINDER_EVENT",
    "UPDATE_FINDER_NOTIFICATION",
    "UPDATE_PROGRESS_EVENT",
    "UPDATE_PROGRESS_NOTIFICATION",
    "UPDATE_RESOURCES_EVENT",
    "UPDATE_RESOURCES_NOTIFICATION",
    "UPDATE_TOOL_LIST_EVENT",
    "UPDATE_TOOL_LIST_NOTIFICATION",
    "AgentCallData",
    "BaseMCPServerConfig",
    "CallToolResult",
    "Chunked",
    "ChunkedRet",
    "CompleteReq",
    "CompleteRet",
    "DPEDocumentSummary",
    "DPEElementDetail",
    "DPEPageSummary",
    "Desktop",
    "DisconnectNotification",
    "EnterOfficeNotification",
    "EnterOfficeReq",
    "Event",
    "GetChunkReq",
    "GetChunkRet",
    "GetComputerConfigReq",
    "GetComputerConfigRet",
    "GetDeskTopReq",
    "GetDeskTopRet",
    "GetFinderReq",
    "GetFinderRet",
    "GetResourceTemplatesReq",
    "GetResourceTemplatesRet",
    "GetResourcesReq",
    "GetResourcesRet",
    "GetToolsReq",
    "GetToolsRet",
    "LeaveOfficeNotification",
    "LeaveOfficeReq",
    "ListRoomReq",
    "ListRoomRet",
    "MCPSSEConfig",
    "MCPSSEParameters",
    "MCPServerCommandInput",
    "MCPServerConfig",
    "MCPServerInput",
    "MCPServerInputBase",
    "MCPServerPickStringInput",
    "MCPServerPromptStringInput",
    "MCPServerStdioConfig",
    "MCPServerStdioParameters",
    "MCPServerStreamableHttpConfig",
    "MCPServerStreamableHttpParameters",
    "Name",
    "Number",
    "OfficeAck",
    "ProgressData",
    "ReadResourceReq",
    "ReadResourceRet",
    "RoutedReq",
    "SMCPTool",
    "SessionInfo",
    "SubscribeResourceReq",
    "SubscribeResourceRet",
    "ToolCallReq",
    "ToolMeta",
    "UpdateComputerConfigReq",
    "UpdateDesktopNotification",
    "UpdateFinderNotification",
    "UpdateMCPConfigNotification",
    "UpdateProgressNotification",
    "UpdateProgressReq",
    "UpdateResourcesNotification",
    "UpdateResourcesReq",
    "UpdateToolListNotification",
    "Whole",
    "error_ack",
    "farewell",
    "parse_reply",
    "parse_request",
    "refusal",
    "refusal_error",
]

SMCP_NAMESPACE: Final = "/smcp"
SOCKETIO_PATH: Final = "/socket.io"

# Agent -> Server -> Computer
TOOL_CALL_EVENT: Final = "client:tool_call"
GET_TOOLS_EVENT: Final = "client:get_tools"
GET_CONFIG_EVENT: Final = "client:get_config"
GET_DESKTOP_EVENT: Final = "client:get_desktop"
GET_FINDER_EVENT: Final = "client:get_finder"
READ_RESOURCE_EVENT: Final = "client:read_resource"
GET_RESOURCES_EVENT: Final = "client:get_resources"
GET_RESOURCE_TEMPLATES_EVENT: Final = "client:get_resource_templates"
COMPLETE_EVENT: Final = "client:complete"
GET_CHUNK_EVENT: Final = "client:get_chunk"
SUBSCRIBE_RESOURCE_EVENT: Final = "client:subscribe_resource"
UNSUBSCRIBE_RESOURCE_EVENT: Final = "client:unsubscribe_resource"

# Agent, Computer -> Server
JOIN_OFFICE_EVENT: Final = "server:join_office"
LEAVE_OFFICE_EVENT: Final = "server:leave_office"
LIST_ROOM_EVENT: Final = "server:list_room"
CANCEL_TOOL_CALL_EVENT: Final = "server:tool_call_cancel"
UPDATE_CONFIG_EVENT: Final = "server:update_config"
UPDATE_TOOL_LIST_EVENT: Final = "server:update_tool_list"
UPDATE_DESKTOP_EVENT: Final = "server:update_desktop"
UPDATE_FINDER_EVENT: Final = "server:update_finder"
UPDATE_PROGRESS_EVENT: Final = "server:update_progress"
UPDATE_RESOURCES_EVENT: Final = "server:update_resources"

# Server -> the office, sender left out
ENTER_OFFICE_NOTIFICATION: Final = "notify:enter_office"
LEAVE_OFFICE_NOTIFICATION: Final = "notify:leave_office"
CANCEL_TOOL_CALL_NOTIFICATION: Final = "notify:tool_call_cancel"
UPDATE_CONFIG_NOTIFICATION: Final = "notify:update_config"
UPDATE_TOOL_LIST_NOTIFICATION: Final = "notify:update_tool_list"
UPDATE_DESKTOP_NOTIFICATION: Final = "notify:update_desktop"
UPDATE_FINDER_NOTIFICATION: Final = "notify:update_finder"

# Server -> the Agent whose call it is
UPDATE_PROGRESS_NOTIFICATION: Final = "notify:update_progress"

# Server -> the Agent of the office
UPDATE_RESOURCES_NOTIFICATION: Final = "notify:update_resources"

# Server -> one connection, before the Server closes it
DISCONNECT_NOTIFICATION: Final = "notify:disconnect"


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the table.

    Attributes:
        senders: Roles that may send it; empty for what only the Server sends.
        request: The type of its payload.
        reply: The type of its ack, or None where none is needed.
        notification: What the Server broadcasts to the office when it accepts the event.
    """

    name: str
    senders: frozenset[Role]
    request: Any
    reply: Any = None
    notification: str | None = None


_AGENT: Final[frozenset[Role]] = frozenset({"agent"})
_COMPUTER: Final[frozenset[Role]] = frozenset({"computer"})
_BOTH: Final[frozenset[Role]] = _AGENT | _COMPUTER
_SERVER: Final[frozenset[Role]] = frozenset()

EVENTS: Final[Mapping[str, Event]] = {
    event.name: event
    for event in (
        Event(JOIN_OFFICE_EVENT, _BOTH, EnterOfficeReq, OfficeAck, ENTER_OFFICE_NOTIFICATION),
        Event(LEAVE_OFFICE_EVENT, _BOTH, LeaveOfficeReq, OfficeAck, LEAVE_OFFICE_NOTIFICATION),
        Event(LIST_ROOM_EVENT, _AGENT, ListRoomReq, ListRoomRet),
        Event(CANCEL_TOOL_CALL_EVENT, _AGENT, AgentCallData, None, CANCEL_TOOL_CALL_NOTIFICATION),
        Event(UPDATE_CONFIG_EVENT, _COMPUTER, UpdateComputerConfigReq, None, UPDATE_CONFIG_NOTIFICATION),
        Event(UPDATE_TOOL_LIST_EVENT, _COMPUTER, UpdateComputerConfigReq, None, UPDATE_TOOL_LIST_NOTIFICATION),
        Event(UPDATE_DESKTOP_EVENT, _COMPUTER, UpdateComputerConfigReq, None, UPDATE_DESKTOP_NOTIFICATION),
        Event(UPDATE_FINDER_EVENT, _COMPUTER, UpdateComputerConfigReq, None, UPDATE_FINDER_NOTIFICATION),
        Event(UPDATE_PROGRESS_EVENT, _COMPUTER, UpdateProgressReq, None, UPDATE_PROGRESS_NOTIFICATION),
        Event(UPDATE_RESOURCES_EVENT, _COMPUTER, UpdateResourcesReq, None, UPDATE_RESOURCES_NOTIFICATION),
        Event(TOOL_CALL_EVENT, _AGENT, ToolCallReq, CallToolResult),
        Event(GET_TOOLS_EVENT, _AGENT, GetToolsReq, GetToolsRet),
        Event(GET_CONFIG_EVENT, _AGENT, GetComputerConfigReq, GetComputerConfigRet),
        Event(GET_DESKTOP_EVENT, _AGENT, GetDeskTopReq, GetDeskTopRet),
        Event(GET_FINDER_EVENT, _AGENT, GetFinderReq, GetFinderRet),
        Event(READ_RESOURCE_EVENT, _AGENT, ReadResourceReq, ReadResourceRet),
        Event(GET_RESOURCES_EVENT, _AGENT, GetResourcesReq, GetResourcesRet),
        Event(GET_RESOURCE_TEMPLATES_EVENT, _AGENT, GetResourceTemplatesReq, GetResourceTemplatesRet),
        Event(COMPLETE_EVENT, _AGENT, CompleteReq, CompleteRet),
        Event(GET_CHUNK_EVENT, _AGENT, GetChunkReq, GetChunkRet),
        Event(SUBSCRIBE_RESOURCE_EVENT, _AGENT, SubscribeResourceReq, SubscribeResourceRet),
        Event(UNSUBSCRIBE_RESOURCE_EVENT, _AGENT, SubscribeResourceReq, SubscribeResourceRet),
        Event(ENTER_OFFICE_NOTIFICATION, _SERVER, EnterOfficeNotification),
        Event(LEAVE_OFFICE_NOTIFICATION, _SERVER, LeaveOfficeNotification),
        Event(CANCEL_TOOL_CALL_NOTIFICATION, _SERVER, AgentCallData),
        Event(UPDATE_CONFIG_NOTIFICATION, _SERVER, UpdateMCPConfigNotification),
        Event(UPDATE_TOOL_LIST_NOTIFICATION, _SERVER, UpdateToolListNotification),
        Event(UPDATE_DESKTOP_NOTIFICATION, _SERVER, UpdateDesktopNotification),
        Event(UPDATE_FINDER_NOTIFICATION, _SERVER, UpdateFinderNotification),
        Event(UPDATE_PROGRESS_NOTIFICATION, _SERVER, UpdateProgressNotification),
        Event(UPDATE_RESOURCES_NOTIFICATION, _SERVER, UpdateResourcesNotification),
        Event(DISCONNECT_NOTIFICATION, _SERVER, DisconnectNotification),
    )
}


def parse_request(event: str, data: object) -> dict[str, Any]:
    """Return the payload of `event` with its known fields, validated.

    A `client:*` event that this release does not know is checked for what routing needs.

    Raises:
        BadRequest: The event is unknown, or the payload is not of its type; `details` name each field and what
            is wrong with it, never its value.
    """
    return cast("dict[str, Any]", _validate(event, _request_type(event), data))


def parse_reply(event: str, data: object) -> Any:
    """Return the ack of `event`, validated.

    Raises:
        BadRequest: As `parse_request`.
    """
    row = EVENTS.get(event)
    if row is None:
        raise BadRequest(f"Unknown event {event!r}")
    if row.reply is None:
        raise BadRequest(f"{event} has no reply")
    return _validate(event, row.reply, data)


def error_ack(event: str, error: SMCPError, req_id: str | None = None) -> dict[str, Any]:
    """Return the error ack in the form that every released client reads for this event."""
    form: WireForm = "plain"
    if event == TOOL_CALL_EVENT:
        form = "tool"
    elif event.startswith("client:") or event == LIST_ROOM_EVENT:
        form = "flat"
    return to_wire(error, req_id, form=form)


def farewell(error: SMCPError) -> DisconnectNotification:
    """What the Server tells a client before it closes its connection."""
    return {"code": error.code, "message": to_wire(error)["error"]["message"]}


def refusal(error: SMCPError) -> str:
    """The second ack argument of a refused join or leave: the code, then why."""
    return f"{error.code}: {to_wire(error)['error']['message']}"


def refusal_error(why: object) -> SMCPError:
    """The error behind a refused join or leave; a reason without a code (an older server's) is `Forbidden`."""
    text = why if isinstance(why, str) else "The server refused without a reason"
    code, _, message = text.partition(": ")
    if code.isascii() and code.isdigit() and len(code) <= 4 and message:
        return from_wire({"error": {"code": int(code), "message": message}})
    return Forbidden(text)


def _request_type(event: str) -> Any:
    if (row := EVENTS.get(event)) is not None:
        return row.request
    if event.startswith("client:"):
        return RoutedReq
    raise BadRequest(f"Unknown event {event!r}")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # Building one costs over half a millisecond: never per call.
    return TypeAdapter(kind)


def _validate(event: str, kind: Any, data: object) -> Any:
    try:
        return _adapter(kind).validate_python(data, strict=True)
    except ValidationError as problem:
        raise _bad_request(event, problem) from None


def _bad_request(event: str, problem: ValidationError) -> BadRequest:
    fields = {
        ".".join(str(part) for part in error["loc"]) or "payload": error_words(error)
        for error in problem.errors(include_url=False, include_input=False)[:10]
    }
    listing = "; ".join(f"{field} {what}" for field, what in fields.items())
    return BadRequest(f"{event}: {listing}", details={"event": event, "fields": fields})
