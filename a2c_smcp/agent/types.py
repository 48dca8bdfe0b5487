"""The types of the Agent's API, in one place."""

from a2c_smcp.agent.events import EventHandler, OfficeEvent, OfficeEventStream
from a2c_smcp.agent.office_view import ComputerView, OfficeView
from a2c_smcp.agent.progress import ProgressHandler, ToolProgress
from a2c_smcp.common.backoff import Backoff
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
    "EventHandler",
    "GetComputerConfigRet",
    "GetDeskTopReq",
    "GetDeskTopRet",
    "GetFinderReq",
    "GetFinderRet",
    "GetResourceTemplatesRet",
    "GetResourcesRet",
    "OfficeEvent",
    "OfficeEventStream",
    "OfficeView",
    "ProgressHandler",
    "SMCPTool",
    "SessionInfo",
    "ToolProgress",
    "UpdateComputerConfigReq",
]
