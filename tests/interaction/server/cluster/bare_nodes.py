"""Nodes without a network of their own: a registry, a call router and a recording transport."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.calls import ReplyCallback
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.observer import ServerObserver
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.payload import Payload
from a2c_smcp.server.registry.redis_registry import RedisRegistry
from a2c_smcp.types import Role

OFFICE = "office"


@dataclass
class QuietTransport:
    """A transport without connections that records notifications."""

    told: list[tuple[str, str, Any]] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        raise NotImplementedError

    def forget(self, sid: str, ack: int) -> None:
        raise NotImplementedError

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        self.told.extend((sid, event, data) for sid in sids)

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        self.hung_up.append(sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        raise NotImplementedError


class BareNode:
    """A node without a network of its own."""

    def __init__(self, redis: str, prefix: str, **options: Any) -> None:
        self.registry = RedisRegistry(redis, prefix=prefix, **options)
        self.port = QuietTransport()
        self.router = CallRouter(self.port, ServerLimits(connections_per_address=0), ServerObserver(), lambda: 0.0)

    def member(self, role: Role, name: str, sid: str | None = None, office: str = OFFICE) -> Member:
        return Member(office, role, name, sid or token_hex(8), self.registry.node)

    async def join(self, role: Role, name: str, sid: str | None = None) -> Member:
        member = self.member(role, name, sid)
        await self.registry.add_member(member)
        connection = self.router.connect(member.sid, Identity(), address="", version=None)
        self.router.add_member(connection, member)
        return member

    async def vanish(self) -> None:
        """Disappear without a leave, as when the process is killed."""
        assert self.registry._task is not None
        self.registry._task.cancel()
        await asyncio.wait([self.registry._task])
