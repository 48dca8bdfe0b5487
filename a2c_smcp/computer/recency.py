"""Which MCP server comes first: the one called last. Shared by Desktop and Finder."""

from collections.abc import Iterable, Reversible
from typing import TypeAlias

from a2c_smcp.computer.types import ToolCallRecord
from a2c_smcp.types import SERVER_NAME

History: TypeAlias = Reversible[ToolCallRecord | SERVER_NAME]
"""The tool calls made so far, oldest first: whole records, or only the names of the servers called."""


def order_servers(servers: Iterable[SERVER_NAME], history: History | None = None) -> list[SERVER_NAME]:
    """Return each of `servers` once: the called ones, latest call first, then the others by name.

    Names compare by code point, so that the order is the same on every machine. Servers that only the history
    knows are gone, and are left out.
    """
    waiting = set(servers)
    called = []
    for call in reversed(history or ()):
        if not waiting:
            break
        server = call if isinstance(call, str) else call["server"]
        if server in waiting:
            waiting.remove(server)
            called.append(server)
    return called + sorted(waiting)
