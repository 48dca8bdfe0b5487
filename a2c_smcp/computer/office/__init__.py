"""The Computer's connection to an office, and the dispatch of requests."""

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.computer.office.client import SMCPComputerClient
from a2c_smcp.computer.office.dispatcher import RequestHandler
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus

__all__ = ["Backoff", "ConnectionState", "ConnectionStatus", "RequestHandler", "SMCPComputerClient"]
