"""What changes at a running Computer, as events: its servers, its connection, its configuration."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from typing import Any, Final

from a2c_smcp.cli.computer_owner import Owner
from a2c_smcp.computer.changes import ChangeKind
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.ports import Json
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus

_TOLD: Final = ("servers", "config", "configuration")
_SERVER: Final = ("name", "state", "restarts", "problem", "advice")


class PendingChanges:
    """Collects changes until somebody asks for them."""

    def __init__(self) -> None:
        self._connection: deque[Json] = deque()
        self._servers: dict[str, Json] = {}
        self._problem: str | None = None
        self._woken = asyncio.Event()
        self._over = False

    def connection(self, status: ConnectionStatus) -> None:
        """The connection changed."""
        # A server that is away for a night is told of once for each attempt, not twice.
        if status.state is not ConnectionState.CONNECTING or status.failures == 0:
            self._connection.append({"event": "connection", **asdict(status)})
        self._woken.set()

    def tell(self, event: Json) -> None:
        """Something else happened."""
        self._connection.append(event)
        self._woken.set()

    def end(self) -> None:
        """Nobody asks any more."""
        self._over = True
        self._woken.set()

    async def follow(self, computer: Computer) -> AsyncIterator[Json]:
        """Yield what changes, until the end."""
        unfollow = computer.on_change(self._changed)
        try:
            while not self._over:
                self._woken.clear()
                for event in self._fresh(computer):
                    yield event
                await self._woken.wait()
        finally:
            unfollow()

    def _changed(self, what: ChangeKind) -> None:
        if what in _TOLD:
            self._woken.set()

    def _fresh(self, computer: Computer) -> Iterator[Json]:
        now = {status.name: _told(asdict(status)) for status in computer.servers.statuses()}
        before, self._servers = self._servers, now
        yield from (event for name, event in now.items() if before.get(name) != event)
        for name in before.keys() - now.keys():
            yield _told({"name": name, "state": "removed"})
        if computer.settings.problem != self._problem:
            self._problem = computer.settings.problem
            yield {"event": "configuration", "problem": self._problem}
        while self._connection:
            yield self._connection.popleft()


def ready(owner: Owner) -> Json:
    """The first event: the configuration is in use, and its servers are starting."""
    return {
        "event": "ready",
        "name": owner.seat.name,
        "pid": os.getpid(),
        "url": owner.seat.url,
        "office": owner.seat.office,
        "servers": list(owner.computer.settings.config.servers),
        "notes": list(owner.computer.settings.notes),
    }


def _told(status: dict[str, Any]) -> Json:
    return {"event": "server"} | {key: status.get(key) for key in _SERVER}
