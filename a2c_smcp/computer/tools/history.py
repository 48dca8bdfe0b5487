"""The bounded history of tool calls, and the order of servers by their latest call. Pure."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Reversible
from typing import Final, TypeAlias

from a2c_smcp.computer.tools.sizes import shorten_json
from a2c_smcp.computer.types import ToolCallRecord
from a2c_smcp.types import SERVER_NAME

MAX_RECORDS: Final = 500
MAX_ERROR: Final = 500


class CallHistory:
    """The latest calls, and the order of the called servers.

    Parameters are shortened and redacted. The order of the servers is kept separately, so that a burst of calls to one
    server does not drop the others.
    """

    def __init__(self, size: int = MAX_RECORDS) -> None:
        self._records: deque[ToolCallRecord] = deque(maxlen=size)
        self._servers: OrderedDict[SERVER_NAME, None] = OrderedDict()

    def touch(self, server: SERVER_NAME) -> None:
        """Make a server the most recently called one."""
        self._servers[server] = None
        self._servers.move_to_end(server)

    def add(self, record: ToolCallRecord) -> None:
        """Add a completed call."""
        self.touch(record["server"])
        error = record["error"]
        self._records.append(
            {**record, "parameters": shorten_json(record["parameters"]), "error": error and error[:MAX_ERROR]},
        )

    def records(self) -> list[ToolCallRecord]:
        """Return the latest calls, oldest first."""
        return list(self._records)

    def servers(self) -> list[SERVER_NAME]:
        """Return each called server, the most recently called last: a `History` for the organizers."""
        return list(self._servers)

    def forget(self, server: SERVER_NAME) -> None:
        """Remove a server from the order; its records stay."""
        self._servers.pop(server, None)


History: TypeAlias = Reversible[ToolCallRecord | SERVER_NAME]
"""Tool calls, oldest first: complete records, or only the names of the called servers."""


def order_servers(servers: Iterable[SERVER_NAME], history: History | None = None) -> list[SERVER_NAME]:
    """Return each of `servers` once: called ones first, the latest call first, then the others by name.

    Names are compared by code point, so that the order is the same on every machine. Servers that occur only in the
    history are omitted.
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
