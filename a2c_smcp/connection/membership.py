"""A seat in an office that is kept: whatever breaks, it connects and joins again, for ever."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.common.callbacks import await_guarded
from a2c_smcp.connection.connection import ServerAddress, SmcpConnection
from a2c_smcp.connection.reconnect import Reconnector
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus, Failure, StatusTracker, call_back
from a2c_smcp.errors import Forbidden, NotInOffice, RequestTimeout, SMCPError
from a2c_smcp.smcp import JOIN_OFFICE_EVENT, parse_request
from a2c_smcp.types import Role

CANCEL_SECONDS: Final = 0.5

Heard: TypeAlias = Callable[[SmcpConnection, int | None, str, Any], None]
"""Takes the link, the ack number, the name and the payload of an event. Must not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipCallbacks:
    """Who is told what; the mistakes of whoever is told are logged and hurt nobody.

    Attributes:
        status: Of every change of the status.
        connected: Of every new connection.
        moved: Of the office it now belongs to, or None; a connection that comes back to the same office is no move.
        joined: After every join, also when the connection came back, with the office.
        lost: When the seat is lost or given up.
        disconnected: When a connection that stood is gone, with the reason.
    """

    status: Callable[[ConnectionStatus], None] | None = None
    connected: Callable[[], None] | None = None
    moved: Callable[[str | None], None] | None = None
    joined: Callable[[str], Awaitable[None] | None] | None = None
    lost: Callable[[], None] | None = None
    disconnected: Callable[[str], None] | None = None


class Membership:
    """A place in an office.

    Args:
        office_id: The office to join as soon as there is a connection.
        heard: Takes every event that comes.
        log: Where its owner logs.

    Raises:
        BadRequest: The name or the office cannot be one.
    """

    def __init__(
        self,
        role: Role,
        name: str,
        address: ServerAddress,
        heard: Heard,
        *,
        office_id: str | None,
        backoff: Backoff | None,
        callbacks: MembershipCallbacks,
        log: logging.Logger,
    ) -> None:
        self.role = role
        self.name = name
        self._check(office_id if office_id is not None else "none yet")
        self._address = address
        self._heard = heard
        self._tell = callbacks
        self._log = log
        self._backoff = backoff if backoff is not None else Backoff()
        self._board = StatusTracker(office_id, callbacks.status)
        self._joined: str | None = None
        self._belongs: str | None = None
        self._link: SmcpConnection | None = None
        self._running: asyncio.Task[None] | None = None
        self._settled: asyncio.Future[None] | None = None
        self._lock = asyncio.Lock()
        self._wish = asyncio.Event()
        self._yielded = False
        self._told: set[asyncio.Future[None]] = set()
        self._changed = asyncio.Event()

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._board.status

    @property
    def office_id(self) -> str | None:
        """The office it is in at this moment."""
        return self._joined

    @property
    def wanted(self) -> str | None:
        """The office it is in, or wants to be in."""
        return self._board.office_id

    @property
    def link(self) -> SmcpConnection | None:
        """The connection, where there is one."""
        return self._link

    @property
    def open(self) -> bool:
        """Whether it is connected or will be."""
        return self._running is not None

    @property
    def here(self) -> SmcpConnection | None:
        """The connection, where it is in an office."""
        link = self._link
        return link if link is not None and self._joined is not None and not link.gone.is_set() else None

    async def seated(self) -> SmcpConnection:
        """Return the connection as soon as it is in an office.

        Raises:
            NotInOffice: It wants to be in none.
            ConnectionError: It is closed.
        """
        while True:
            if self._running is None:
                raise ConnectionError("There is no connection; connect first")
            if self.wanted is None:
                raise NotInOffice("Join an office first")
            link = self.here
            if link is not None:
                return link
            await self._changed.wait()

    # Coming and going

    async def connect(self, *, wait: bool = True) -> None:
        """Connect, and join the office if one is wanted; from then on stay connected.

        Args:
            wait: Whether to return only when that is done, and to give up if it fails. Otherwise it goes on in the
                background however often it fails.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: There is no such server.
        """
        starting = self._running is None
        if starting:
            keeper = Reconnector(self._new_link, self._attend, self._failed, self._board, self._backoff, log=self._log)
            self._running = asyncio.get_running_loop().create_task(keeper.run())
        if not wait:
            return
        try:
            await self.settle()
        except BaseException:
            if starting:
                await self.disconnect()
            raise

    async def settle(self) -> None:
        """Wait until it is where it wants to be, or is told for the next time that it cannot; raises as `connect`."""
        if self._link is not None and self._joined == self.wanted:
            return
        if self._settled is None or self._settled.done():
            self._settled = asyncio.get_running_loop().create_future()
            self._settled.add_done_callback(lambda settled: settled.cancelled() or settled.exception())
        await asyncio.shield(self._settled)

    async def disconnect(self) -> None:
        """End the connection."""
        running, self._running = self._running, None
        if running is None:
            return
        while not running.done():
            # A library on the way may swallow one that comes while it connects.
            running.cancel()
            await asyncio.wait([running], timeout=CANCEL_SECONDS)
        self._failed(ConnectionError("The connection was closed"))
        self._wake()
        self._board.show(ConnectionState.OFFLINE)

    async def close(self) -> None:
        """End the connection, and callbacks that still run."""
        await self.disconnect()
        told = list(self._told)
        for one in told:
            one.cancel()
        await asyncio.gather(*told, return_exceptions=True)

    async def join(self, office_id: str) -> bool:
        """Join an office, leaving the one it is in.

        Returns whether it is done. Without a connection at the moment it is done as soon as there is one.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        self._check(office_id)
        async with self._lock:
            link = self._link
            if link is not None:
                try:
                    await self._sit(link, office_id)
                except (ConnectionError, RequestTimeout) as problem:
                    link.drop(str(problem))  # the seat is in doubt: a new connection settles it
                else:
                    return True
            self._board.office_id = office_id
            return False

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        async with self._lock:
            office_id, link = self._joined, self._link
            if link is not None and office_id is not None:
                try:
                    await link.leave(office_id)
                except NotInOffice:
                    self._log.info("the server knew of no seat to leave")
                except (ConnectionError, RequestTimeout) as problem:
                    link.drop(str(problem))
            self._board.office_id = None
            self._lose()
            self._belong(None)
            self._wake()
            if link is not None:
                self._board.show(ConnectionState.CONNECTED)

    def want(self, office_id: str | None) -> None:
        """Want another office the next time that it joins; where it sits now it stays."""
        self._board.office_id = office_id

    def doubt(self, link: SmcpConnection) -> None:
        """The server said over this link that there is no seat: take it anew."""
        if link is self._link:
            self._lose()
            self._wish.set()

    # Keeping it

    def _check(self, office_id: str) -> None:
        parse_request(JOIN_OFFICE_EVENT, {"role": self.role, "name": self.name, "office_id": office_id})

    def _new_link(self) -> SmcpConnection:
        return SmcpConnection(self._address, self._heard)

    async def _attend(self, link: SmcpConnection) -> None:
        self._link = link
        if self._tell.connected is not None:
            call_back(self._tell.connected)
        try:
            await self._keep(link)
        finally:
            if isinstance(link.dismissal, Forbidden):
                # Whoever took the seat over is alive and has the same right to it: no contest of two connections.
                self._yielded = True
            self._link = None
            self._lose()
            if self._tell.disconnected is not None:
                call_back(self._tell.disconnected, link.why if link.gone.is_set() else "it was closed")

    async def _keep(self, link: SmcpConnection) -> None:
        """Be in the office that is wanted until the connection is gone."""
        refusals = self._backoff.fresh()
        self._board.show(ConnectionState.CONNECTED)
        while not link.gone.is_set():
            self._wish.clear()
            pause = None
            async with self._lock:
                wanted = self.wanted
                try:
                    if wanted is not None and wanted != self._joined:
                        await self._sit(link, wanted)
                        refusals.reset()
                    self._succeeded()
                except (ConnectionError, RequestTimeout) as problem:
                    link.drop(str(problem))
                    return
                except SMCPError as problem:
                    self._log.warning("the server refused the seat: %s", problem)
                    self._failed(problem)
                    pause = refusals.next()
                    self._board.show(ConnectionState.CONNECTED, problem, failures=refusals.failures, retry_in=pause)
            await _first_of(link.gone, self._wish, within=pause)

    async def _sit(self, link: SmcpConnection, office_id: str) -> None:
        await link.join(self.role, self.name, office_id, take_over=not self._yielded)
        self._yielded = False
        self._lose()
        self._board.office_id = self._joined = office_id
        self._belong(office_id)
        self._wake()
        self._board.show(ConnectionState.JOINED)
        if self._tell.joined is not None:
            told = call_back(self._tell.joined, office_id)
            if isawaitable(told):
                callback = asyncio.ensure_future(self._awaited(told))
                self._told.add(callback)
                callback.add_done_callback(self._told.discard)
                if isinstance(told, Coroutine):
                    callback.add_done_callback(lambda _: told.close())  # cancelled before it began, it would complain

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _lose(self) -> None:
        if self._joined is not None:
            self._joined = None
            if self._tell.lost is not None:
                call_back(self._tell.lost)

    def _belong(self, office_id: str | None) -> None:
        if office_id != self._belongs:
            self._belongs = office_id
            if self._tell.moved is not None:
                call_back(self._tell.moved, office_id)

    def _failed(self, problem: Failure) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_exception(problem)

    def _succeeded(self) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    async def _awaited(self, told: Awaitable[None]) -> None:
        await await_guarded(self._log, "a callback of the connection", lambda: told)


async def _first_of(*events: asyncio.Event, within: float | None) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
