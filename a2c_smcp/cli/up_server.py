"""The server of `a2c up`: in the event loop of its Computer, on this machine alone, open to one token.

An office has one Agent. So that MCP clients, `a2c agent` and programs can work at the same time, each has an office of
its own, whose name begins with that of the first. The Computer joins it before the Agent is let in, and leaves it some
time after the Agent.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol, TypeAlias

from a2c_smcp.errors import Forbidden, InternalError, RateLimited
from a2c_smcp.server.app import create_app
from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.memory import MemoryRegistry
from a2c_smcp.server.server_process import connection_limits, websocket_options
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.web.listening import bind, serving, url_of

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
MOST: Final = 64
"""Offices of Agents at the same time."""
LINGER: Final = 30.0
"""Seconds for which the Computer stays in the office of an Agent that has left."""
START_SECONDS: Final = 10.0


class Attended(Protocol):
    """A seat of the Computer in an office."""

    async def close(self) -> None:
        """Leave it."""


Attend: TypeAlias = Callable[[str], Awaitable[Attended]]
"""Has the Computer join an office."""


class OfficesOnDemand(MemoryRegistry):
    """A registry that lets an Agent in only once the Computer is in its office.

    Args:
        office: The first office, in which the Computer is anyway.
    """

    def __init__(self, office: str, *, linger: float = LINGER) -> None:
        super().__init__()
        self._office, self._linger = office, linger
        self._attend: asyncio.Future[Attend] | None = None
        self._attended: dict[str, asyncio.Task[Attended]] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def attend_by(self, attend: Attend) -> None:
        """From now on the Computer can join offices."""
        self._waiting().set_result(attend)

    def _waiting(self) -> "asyncio.Future[Attend]":
        if self._attend is None:
            self._attend = asyncio.get_running_loop().create_future()
        return self._attend

    async def add_member(self, member: Member) -> None:
        """Add a member; for an Agent with an office of its own, once the Computer is there.

        Raises:
            Forbidden: The office is none of those that this server has.
            RateLimited: Too many Agents are connected.
        """
        if member.office_id != self._office:
            if not member.office_id.startswith(f"{self._office}-"):
                raise Forbidden(
                    f"This server has the office {self._office!r}, and offices for single Agents whose names begin "
                    f"with '{self._office}-'"
                )
            if member.role == "agent":
                await self._computer_in(member.office_id)
        await super().add_member(member)

    async def remove_member(self, member: Member) -> None:
        """Remove a member; when the Agent does not come back, the Computer leaves too."""
        await super().remove_member(member)
        office = member.office_id
        if member.role == "agent" and office in self._attended:
            self._stay(office)
            self._leaving[office] = asyncio.get_running_loop().call_later(self._linger, self._left, office)

    async def close(self) -> None:
        """Leave every office."""
        for office in list(self._attended):
            self._stay(office)
            self._left(office)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _computer_in(self, office: str) -> None:
        self._stay(office)
        task = self._attended.get(office)
        if task is None:
            if len(self._attended) >= MOST:
                raise RateLimited(f"Limit exceeded: Agents at the same time ({MOST})", details={"value": MOST})
            task = self._attended[office] = asyncio.create_task(self._join(office), name=f"a2c-attend-{office}")
        try:
            await asyncio.shield(task)
        except (Exception, asyncio.CancelledError) as problem:
            if not task.done():
                raise  # the Agent is gone; the next one finds the Computer there
            if self._attended.get(office) is task:
                del self._attended[office]
            log.warning("the Computer could not join an office: office=%s reason=%s", office, problem)
            raise InternalError("The Computer could not join this office; try again") from None

    async def _join(self, office: str) -> Attended:
        async with asyncio.timeout(START_SECONDS):
            attend = await asyncio.shield(self._waiting())
        return await attend(office)

    def _stay(self, office: str) -> None:
        if (timer := self._leaving.pop(office, None)) is not None:
            timer.cancel()

    def _left(self, office: str) -> None:
        self._leaving.pop(office, None)
        if (joined := self._attended.pop(office, None)) is not None:
            task = asyncio.create_task(self._leave(joined))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _leave(self, joined: "asyncio.Task[Attended]") -> None:
        await (await joined).close()


@asynccontextmanager
async def serve_office(registry: OfficesOnDemand, token: str, port: int = 0) -> AsyncIterator[str]:
    """Run a server for one user, and yield its URL.

    Raises:
        InvalidConfig: The port is taken.
    """
    sockets = bind(HOST, port)
    app = create_app(ServerSettings.of(host=HOST, port=port, api_keys=[{"key": token}], drain=0), registry=registry)
    limits = connection_limits(app)
    async with serving(app, sockets, limits=limits, lifespan="on", **websocket_options(app)):
        yield url_of(HOST, sockets)
