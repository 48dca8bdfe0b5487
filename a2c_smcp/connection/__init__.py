"""The Socket.IO connection of an Agent or a Computer: connects, joins an office, and reconnects after a loss."""

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.connection.connection import Secret, ServerAddress, SmcpConnection
from a2c_smcp.connection.membership import Membership
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus

__all__ = [
    "Backoff",
    "ConnectionState",
    "ConnectionStatus",
    "Membership",
    "Secret",
    "ServerAddress",
    "SmcpConnection",
]
