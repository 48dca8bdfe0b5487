"""The Computer's side of the wire."""

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.computer.socketio.answerer import Answerer
from a2c_smcp.computer.socketio.client import SMCPComputerClient
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus

__all__ = ["Answerer", "Backoff", "ConnectionState", "ConnectionStatus", "SMCPComputerClient"]
