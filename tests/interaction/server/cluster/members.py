"""Nodes without a network of their own: a registry, a switchboard and a port that remembers."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.calls import Reply
from a2c_smcp.server.limits import Limits
from a2c_smcp.server.observer import Observer
from a2c_smcp.server.payload import Payload
from a2c_smcp.server.registry.redis import RedisRegistry
from a2c_smcp.server.rooms import Identity, Seat
from a2c_smcp.server.switchboard import Switchboard
from a2c_smcp.types import Role

OFFICE = "office"


@dataclass
class QuietPort:
    """A port without connections: remembers what it was told."""

    told: list[tuple[str, str, Any]] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)

    def request(self, sid: str, event: str, payload: Payload, answered: Reply) -> int:
        raise NotImplementedError

    def forget(self, sid: str, ack: int) -> None:
        raise NotImplementedError

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        self.told.extend((sid, event, data) for sid in sids)

    def hang_up(self, sid: str, error: SMCPError, *, come_back: bool) -> None:
        self.hung_up.append(sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        raise NotImplementedError


class Member:
    """A node without a network of its own."""

    def __init__(self, redis: str, prefix: str, **options: Any) -> None:
        self.registry = RedisRegistry(redis, prefix=prefix, **options)
        self.port = QuietPort()
        self.board = Switchboard(self.port, Limits(connections_per_address=0), Observer(), lambda: 0.0)

    def seat(self, role: Role, name: str, sid: str | None = None, office: str = OFFICE) -> Seat:
        return Seat(office, role, name, sid or token_hex(8), self.registry.node)

    async def join(self, role: Role, name: str, sid: str | None = None) -> Seat:
        seat = self.seat(role, name, sid)
        await self.registry.seat(seat)
        connection = self.board.connect(seat.sid, Identity(), address="", version=None)
        self.board.sit(connection, seat)
        return seat

    async def vanish(self) -> None:
        """Be gone without a word, as when the process is killed."""
        assert self.registry._task is not None
        self.registry._task.cancel()
        await asyncio.wait([self.registry._task])
