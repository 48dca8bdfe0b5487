"""The tool calls a Computer made, bounded. Pure: time is given."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Reversible
from typing import Final, TypeAlias

from a2c_smcp.computer.tools.sizes import shorten_json
from a2c_smcp.computer.types import ToolCallRecord
from a2c_smcp.types import SERVER_NAME

MAX_RECORDS: Final = 500
MAX_ERROR: Final = 500


class CallHistory:
    """The last calls, and which servers they went to.

    The parameters are kept in a short form without secrets. The order of the servers outlives their records: a burst
    of calls to one server does not make the others forgotten.
    """

    def __init__(self, size: int = MAX_RECORDS) -> None:
        self._records: deque[ToolCallRecord] = deque(maxlen=size)
        self._servers: OrderedDict[SERVER_NAME, None] = OrderedDict()

    def touch(self, server: SERVER_NAME) -> None:
        """Make a server the most recently used one."""
        self._servers[server] = None
        self._servers.move_to_end(server)

    def add(self, record: ToolCallRecord) -> None:
        """Remember a call that has ended."""
        self.touch(record["server"])
        error = record["error"]
        self._records.append(
            {**record, "parameters": shorten_json(record["parameters"]), "error": error and error[:MAX_ERROR]},
        )

    def records(self) -> list[ToolCallRecord]:
        """Return the last calls, oldest first."""
        return list(self._records)

    def servers(self) -> list[SERVER_NAME]:
        """Return each server that was called, the most recently used last: what organizers take as a history."""
        return list(self._servers)

    def forget(self, server: SERVER_NAME) -> None:
        """Take a server that is gone out of the order; its records stay."""
        self._servers.pop(server, None)


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
