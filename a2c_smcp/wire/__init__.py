"""A client's side of the wire, for Computers and Agents alike: a connection, a seat in an office, and coming back."""

from a2c_smcp.wire.link import Address, Link, Secret
from a2c_smcp.wire.reconnect import Backoff
from a2c_smcp.wire.seat import Seat
from a2c_smcp.wire.status import ConnectionState, ConnectionStatus

__all__ = ["Address", "Backoff", "ConnectionState", "ConnectionStatus", "Link", "Seat", "Secret"]
