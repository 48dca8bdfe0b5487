"""The Agent: the client that applications import."""

from a2c_smcp.agent.client import AsyncSMCPAgentClient
from a2c_smcp.agent.events import OfficeEvent, OfficeEventStream
from a2c_smcp.agent.local import local_office
from a2c_smcp.agent.office_view import ComputerView, OfficeView
from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.agent.sync_client import SMCPAgentClient
from a2c_smcp.common.backoff import Backoff

__all__ = [
    "AsyncSMCPAgentClient",
    "Backoff",
    "ComputerView",
    "OfficeEvent",
    "OfficeEventStream",
    "OfficeView",
    "SMCPAgentClient",
    "ToolProgress",
    "local_office",
]
