"""Where a Computer's connection stands; the words are shared with Agents."""

from a2c_smcp.wire.status import ConnectionState, ConnectionStatus

__all__ = ["ConnectionState", "ConnectionStatus"]
