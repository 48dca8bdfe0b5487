"""The Agent: the client that applications import."""

from a2c_smcp.agent.client import AsyncSMCPAgentClient
from a2c_smcp.agent.events import EventStream, OfficeEvent
from a2c_smcp.agent.office import ComputerView, Office
from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.agent.sync_client import SMCPAgentClient
from a2c_smcp.connection.reconnect import Backoff

__all__ = [
    "AsyncSMCPAgentClient",
    "Backoff",
    "ComputerView",
    "EventStream",
    "Office",
    "OfficeEvent",
    "SMCPAgentClient",
    "ToolProgress",
]
