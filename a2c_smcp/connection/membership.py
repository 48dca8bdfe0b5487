"""Membership in an office that survives lost connections: it reconnects and rejoins until it is closed."""

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

OnEvent: TypeAlias = Callable[[SmcpConnection, int | None, str, Any], None]
"""Called with connection, ack number, name and payload of an event. Must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipCallbacks:
    """Callbacks of the owner; their exceptions are logged.

    Attributes:
        status: Called with every new status.
        connected: Called after every new connection.
        moved: Called with the new office, or None; not after a reconnect to the same office.
        joined: Called with the office after every join, including rejoins.
        lost: Called when the membership is lost or given up.
        disconnected: Called with the reason when an open connection ended.
    """

    status: Callable[[ConnectionStatus], None] | None = None
    connected: Callable[[], None] | None = None
    moved: Callable[[str | None], None] | None = None
    joined: Callable[[str], Awaitable[None] | None] | None = None
    lost: Callable[[], None] | None = None
    disconnected: Callable[[str], None] | None = None


class Membership:
    """A named member of an office.

    Args:
        office_id: The office to join after connecting.
        on_event: Called with every event.
        log: The logger of the owner.

    Raises:
        BadRequest: The name or the office is not valid.
    """

    def __init__(
        self,
        role: Role,
        name: str,
        address: ServerAddress,
        on_event: OnEvent,
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
        self._on_event = on_event
        self._callbacks = callbacks
        self._log = log
        self._backoff = backoff if backoff is not None else Backoff()
        self._tracker = StatusTracker(office_id, callbacks.status)
        self._joined: str | None = None
        self._office: str | None = None
        self._connection: SmcpConnection | None = None
        self._running: asyncio.Task[None] | None = None
        self._settled: asyncio.Future[None] | None = None
        self._lock = asyncio.Lock()
        self._retry_join = asyncio.Event()
        self._taken_over = False
        self._callback_tasks: set[asyncio.Future[None]] = set()
        self._changed = asyncio.Event()

    @property
    def status(self) -> ConnectionStatus:
        """The state of the connection."""
        return self._tracker.status

    @property
    def office_id(self) -> str | None:
        """The office that it is in now."""
        return self._joined

    @property
    def wanted(self) -> str | None:
        """The office that it is in, or tries to join."""
        return self._tracker.office_id

    @property
    def connection(self) -> SmcpConnection | None:
        """The open connection, if any."""
        return self._connection

    @property
    def open(self) -> bool:
        """Whether it is connected or reconnecting."""
        return self._running is not None

    @property
    def joined_connection(self) -> SmcpConnection | None:
        """The open connection, if it has joined an office."""
        connection = self._connection
        return (
            connection if connection is not None and self._joined is not None and not connection.gone.is_set() else None
        )

    async def wait_joined(self) -> SmcpConnection:
        """Wait until an office is joined, and return the connection.

        Raises:
            NotInOffice: No office is set.
            ConnectionError: The membership is closed.
        """
        while True:
            if self._running is None:
                raise ConnectionError("The client is not connected: call connect() first")
            if self.wanted is None:
                raise NotInOffice("The client is in no office: join one first")
            connection = self.joined_connection
            if connection is not None:
                return connection
            await self._changed.wait()

    # Connect, join, leave

    async def connect(self, *, wait: bool = True) -> None:
        """Connect, and join the office if one is set; then stay connected.

        Args:
            wait: Whether to wait until that is done, and to give up if it fails. Otherwise it keeps trying in the
                background.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: The server cannot be reached.
        """
        starting = self._running is None
        if starting:
            reconnector = Reconnector(
                self._new_connection, self._use, self._failed, self._tracker, self._backoff, log=self._log
            )
            self._running = asyncio.get_running_loop().create_task(reconnector.run())
        if not wait:
            return
        try:
            await self.settle()
        except BaseException:
            if starting:
                await self.disconnect()
            raise

    async def settle(self) -> None:
        """Wait until it is connected and joined as wanted, or the next attempt fails; raises as `connect`."""
        if self._connection is not None and self._joined == self.wanted:
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
            # A library may swallow a cancellation while it connects.
            running.cancel()
            await asyncio.wait([running], timeout=CANCEL_SECONDS)
        self._failed(ConnectionError("The client was closed"))
        self._wake()
        self._tracker.show(ConnectionState.OFFLINE)

    async def close(self) -> None:
        """Disconnect, and cancel callbacks that still run."""
        await self.disconnect()
        tasks = list(self._callback_tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def join(self, office_id: str) -> bool:
        """Join an office and leave the current one; return whether that is done.

        Without a connection it is done after the next reconnect.

        Raises:
            SMCPError: The server refused; the membership is unchanged.
        """
        self._check(office_id)
        async with self._lock:
            connection = self._connection
            if connection is not None:
                try:
                    await self._join(connection, office_id)
                except (ConnectionError, RequestTimeout) as problem:
                    connection.drop(str(problem))  # the server may have joined us or not: a new connection settles it
                else:
                    return True
            self._tracker.office_id = office_id
            return False

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; the membership is unchanged.
        """
        async with self._lock:
            office_id, connection = self._joined, self._connection
            if connection is not None and office_id is not None:
                try:
                    await connection.leave(office_id)
                except NotInOffice:
                    self._log.info("leave skipped: the server has no membership of this client")
                except (ConnectionError, RequestTimeout) as problem:
                    connection.drop(str(problem))
            self._tracker.office_id = None
            self._leave_office()
            self._set_office(None)
            self._wake()
            if connection is not None:
                self._tracker.show(ConnectionState.CONNECTED)

    def want(self, office_id: str | None) -> None:
        """Set the office of the next join; the current membership is unchanged."""
        self._tracker.office_id = office_id

    def rejoin(self, connection: SmcpConnection) -> None:
        """Join again: the server replied on this connection that the client is in no office."""
        if connection is self._connection:
            self._leave_office()
            self._retry_join.set()

    # Internals

    def _check(self, office_id: str) -> None:
        parse_request(JOIN_OFFICE_EVENT, {"role": self.role, "name": self.name, "office_id": office_id})

    def _new_connection(self) -> SmcpConnection:
        return SmcpConnection(self._address, self._on_event)

    async def _use(self, connection: SmcpConnection) -> None:
        self._connection = connection
        if self._callbacks.connected is not None:
            call_back(self._callbacks.connected)
        try:
            await self._stay_joined(connection)
        finally:
            if isinstance(connection.dismissal, Forbidden):
                # The connection that took over is alive and has the same credentials: do not take the name back.
                self._taken_over = True
            self._connection = None
            self._leave_office()
            if self._callbacks.disconnected is not None:
                call_back(
                    self._callbacks.disconnected,
                    connection.why if connection.gone.is_set() else "the client was closed",
                )

    async def _stay_joined(self, connection: SmcpConnection) -> None:
        """Stay in the wanted office until the connection is lost."""
        refusals = self._backoff.fresh()
        self._tracker.show(ConnectionState.CONNECTED)
        while not connection.gone.is_set():
            self._retry_join.clear()
            pause = None
            async with self._lock:
                wanted = self.wanted
                try:
                    if wanted is not None and wanted != self._joined:
                        await self._join(connection, wanted)
                        refusals.reset()
                    self._succeeded()
                except (ConnectionError, RequestTimeout) as problem:
                    connection.drop(str(problem))
                    return
                except SMCPError as problem:
                    self._log.warning("join refused: retrying reason=%s", problem)
                    self._failed(problem)
                    pause = refusals.next()
                    self._tracker.show(ConnectionState.CONNECTED, problem, failures=refusals.failures, retry_in=pause)
            await _first_of(connection.gone, self._retry_join, within=pause)

    async def _join(self, connection: SmcpConnection, office_id: str) -> None:
        await connection.join(self.role, self.name, office_id, take_over=not self._taken_over)
        self._taken_over = False
        self._leave_office()
        self._tracker.office_id = self._joined = office_id
        self._set_office(office_id)
        self._wake()
        self._tracker.show(ConnectionState.JOINED)
        if self._callbacks.joined is not None:
            result = call_back(self._callbacks.joined, office_id)
            if isawaitable(result):
                callback = asyncio.ensure_future(self._run_callback(result))
                self._callback_tasks.add(callback)
                callback.add_done_callback(self._callback_tasks.discard)
                if isinstance(result, Coroutine):
                    callback.add_done_callback(
                        lambda _: result.close()
                    )  # if cancelled before it started, Python would warn

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _leave_office(self) -> None:
        if self._joined is not None:
            self._joined = None
            if self._callbacks.lost is not None:
                call_back(self._callbacks.lost)

    def _set_office(self, office_id: str | None) -> None:
        if office_id != self._office:
            self._office = office_id
            if self._callbacks.moved is not None:
                call_back(self._callbacks.moved, office_id)

    def _failed(self, problem: Failure) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_exception(problem)

    def _succeeded(self) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    async def _run_callback(self, result: Awaitable[None]) -> None:
        await await_guarded(self._log, "a callback of the connection", lambda: result)


async def _first_of(*events: asyncio.Event, within: float | None) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
