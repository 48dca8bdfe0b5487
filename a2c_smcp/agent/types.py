"""The types that an Agent's code meets, in one place."""

from a2c_smcp.agent.events import EventStream, Handler, OfficeEvent
from a2c_smcp.agent.office import ComputerView, Office
from a2c_smcp.agent.progress import ProgressHandler, ToolProgress
from a2c_smcp.connection.reconnect import Backoff
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus
from a2c_smcp.messages import (
    CallToolResult,
    CompleteRet,
    DPEDocumentSummary,
    DPEElementDetail,
    DPEPageSummary,
    GetComputerConfigRet,
    GetDeskTopReq,
    GetDeskTopRet,
    GetFinderReq,
    GetFinderRet,
    GetResourcesRet,
    GetResourceTemplatesRet,
    SessionInfo,
    SMCPTool,
    UpdateComputerConfigReq,
)
from a2c_smcp.types import Desktop

__all__ = [
    "Backoff",
    "CallToolResult",
    "CompleteRet",
    "ComputerView",
    "ConnectionState",
    "ConnectionStatus",
    "DPEDocumentSummary",
    "DPEElementDetail",
    "DPEPageSummary",
    "Desktop",
    "EventStream",
    "GetComputerConfigRet",
    "GetDeskTopReq",
    "GetDeskTopRet",
    "GetFinderReq",
    "GetFinderRet",
    "GetResourceTemplatesRet",
    "GetResourcesRet",
    "Handler",
    "Office",
    "OfficeEvent",
    "ProgressHandler",
    "SMCPTool",
    "SessionInfo",
    "ToolProgress",
    "UpdateComputerConfigReq",
]
