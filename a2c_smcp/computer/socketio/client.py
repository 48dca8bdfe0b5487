"""The Computer's connection to a server: it joins an office, answers Agents, and comes back whenever it is lost."""

import asyncio
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from inspect import isawaitable
from types import TracebackType
from typing import Any, Final, Self

from a2c_smcp.computer.pushes import Kind
from a2c_smcp.computer.socketio.answerer import Answerer
from a2c_smcp.computer.socketio.desk import AT_ONCE, Asked, Desk
from a2c_smcp.computer.socketio.link import PATIENCE, Address, Link, Secret
from a2c_smcp.computer.socketio.reconnect import Backoff, Reconnector
from a2c_smcp.computer.socketio.status import Board, ConnectionState, ConnectionStatus, Failure, call_back
from a2c_smcp.computer.socketio.transfers import Transfers
from a2c_smcp.errors import BadRequest, NotInOffice, RequestTimeout, SMCPError, from_wire, is_error
from a2c_smcp.smcp import (
    CANCEL_TOOL_CALL_NOTIFICATION,
    JOIN_OFFICE_EVENT,
    MAX_MESSAGE,
    SOCKETIO_PATH,
    UPDATE_CONFIG_EVENT,
    UPDATE_DESKTOP_EVENT,
    UPDATE_FINDER_EVENT,
    UPDATE_TOOL_LIST_EVENT,
    parse_request,
)

log = logging.getLogger(__name__)

UPDATES: Final[Mapping[Kind, str]] = {
    "config": UPDATE_CONFIG_EVENT,
    "tool_list": UPDATE_TOOL_LIST_EVENT,
    "desktop": UPDATE_DESKTOP_EVENT,
    "finder": UPDATE_FINDER_EVENT,
}


class SMCPComputerClient:
    """A Computer's seat in an office.

    Once connected it stays so until `disconnect`: whatever breaks, it connects and joins again, for ever, with
    pauses that grow and are left to chance. Requests that are being answered when a connection breaks go on; their
    acks are lost, and an Agent that asks again with the same `req_id` is the answerer's business.

    Args:
        answerer: Answers what Agents ask.
        url: Where the server is; a path in it goes before `socketio_path`.
        name: The Computer's name, unique in its office.
        office_id: The office to join as soon as there is a connection.
        token: Sent as `auth["token"]`. May be a callable, asked for a fresh one at every attempt.
        api_key: Sent as header `x-api-key`; may be a callable as well.
        auth: More that is sent at the namespace's door.
        headers: More HTTP headers.
        transports: `("polling", "websocket")` for networks that let no websocket pass at first.
        ssl_context: How to trust the server, where the system's certificates do not.
        patience: Seconds that a handshake or a join may take.
        at_once: How many requests are answered at a time; more are refused with 429.
        max_message: The largest reply, in bytes, that goes out in one message.
        transfers: Where large replies wait to be fetched in pieces.
        backoff: The pauses between attempts.
        on_status: Is told of every change of `status`.
        on_joined: Is called after every join, also when the connection came back, with the office.
        on_lost: Is called when the seat is lost or given up.

    Raises:
        BadRequest: The name or the office cannot be one.
        InvalidConfig: The URL cannot be one.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        url: str,
        name: str,
        office_id: str | None = None,
        token: Secret | None = None,
        api_key: Secret | None = None,
        auth: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        socketio_path: str = SOCKETIO_PATH,
        transports: tuple[str, ...] = ("websocket",),
        ssl_context: ssl.SSLContext | None = None,
        patience: float = PATIENCE,
        at_once: int = AT_ONCE,
        max_message: int = MAX_MESSAGE,
        transfers: Transfers | None = None,
        backoff: Backoff | None = None,
        on_status: Callable[[ConnectionStatus], None] | None = None,
        on_joined: Callable[[str], Awaitable[None] | None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        _check_seat(name, office_id if office_id is not None else "none yet")
        self.name = name
        self._address = Address(
            url=url,
            path=socketio_path,
            token=token,
            api_key=api_key,
            auth=auth,
            headers=headers,
            transports=transports,
            ssl_context=ssl_context,
            patience=patience,
        )
        self._answerer = answerer
        self._max_message = max_message
        self._backoff = backoff if backoff is not None else Backoff()
        self._board = Board(office_id, on_status)
        waiting = transfers if transfers is not None else Transfers(time.monotonic)
        self._desk = Desk(answerer, name, waiting, at_once=at_once)
        self._on_joined = on_joined
        self._on_lost = on_lost
        self._joined: str | None = None
        self._served: str | None = None
        self._link: Link | None = None
        self._running: asyncio.Task[None] | None = None
        self._settled: asyncio.Future[None] | None = None
        self._seating = asyncio.Lock()
        self._wish = asyncio.Event()
        self._callbacks: set[asyncio.Future[None]] = set()

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._board.status

    @property
    def office_id(self) -> str | None:
        """The office it is in at this moment."""
        return self._joined

    @property
    def running(self) -> int:
        """How many requests are being answered."""
        return self._desk.running

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

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
        loop = asyncio.get_running_loop()
        starting = self._running is None
        if starting:
            keeper = Reconnector(self._new_link, self._attend, self._failed, self._board, self._backoff)
            self._running = loop.create_task(keeper.run())
        if not wait or (self._link is not None and self._joined == self._board.office_id):
            return
        if self._settled is None or self._settled.done():
            self._settled = loop.create_future()
            self._settled.add_done_callback(lambda settled: settled.cancelled() or settled.exception())
        try:
            await asyncio.shield(self._settled)
        except BaseException:
            if starting:
                await self.disconnect()
            raise

    async def disconnect(self) -> None:
        """End the connection. Requests that are being answered go on."""
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        self._board.show(ConnectionState.OFFLINE)

    async def close(self) -> None:
        """End the connection and whatever is still being answered."""
        await self.disconnect()
        await self._desk.close()
        callbacks = list(self._callbacks)
        for callback in callbacks:
            callback.cancel()
        await asyncio.gather(*callbacks, return_exceptions=True)

    async def join(self, office_id: str) -> bool:
        """Join an office, leaving the one it is in.

        Returns whether it is done. Without a connection at the moment it is done as soon as there is one.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        _check_seat(self.name, office_id)
        async with self._seating:
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
        async with self._seating:
            office_id, link = self._joined, self._link
            if link is not None and office_id is not None:
                try:
                    await link.leave(office_id)
                except NotInOffice:
                    log.info("the server knew of no seat to leave")
                except (ConnectionError, RequestTimeout) as problem:
                    link.drop(str(problem))
            self._board.office_id = None
            self._lose()
            self._serve(None)
            if link is not None:
                self._board.show(ConnectionState.CONNECTED)

    async def emit_update(self, kind: Kind) -> None:
        """Tell the office that something changed; it returns when the server has it.

        Raises:
            NotInOffice: The server does not have it, because there is no seat at the moment. Tell it again after the
                next `on_joined`.
            SMCPError: The server refused it.
        """
        event = UPDATES.get(kind)
        if event is None:
            raise BadRequest(f"Unknown kind of update {kind!r}; there are {', '.join(UPDATES)}")
        link = self._link
        if link is None or self._joined is None:
            raise NotInOffice("The computer is in no office at the moment")
        try:
            answer = await link.call(event, {"computer": self.name}, within=link.silence)
        except ConnectionError:
            raise NotInOffice("The connection was lost while the update was on its way") from None
        except RequestTimeout:
            return  # the connection lives: a server that does not know this kind of update acknowledges nothing
        if answer and isinstance(answer[0], Mapping) and is_error(answer[0]):
            error = from_wire(answer[0])
            if isinstance(error, NotInOffice) and link is self._link:
                self._lose()
                self._wish.set()
            raise error

    # Keeping the seat

    def _new_link(self) -> Link:
        return Link(self._address, self._received)

    async def _attend(self, link: Link) -> None:
        self._link = link
        try:
            await self._keep_seat(link)
        finally:
            self._link = None
            self._lose()

    async def _keep_seat(self, link: Link) -> None:
        """Be in the office that is wanted until the connection is gone."""
        refusals = self._backoff.fresh()
        self._board.show(ConnectionState.CONNECTED)
        while not link.gone.is_set():
            self._wish.clear()
            pause = None
            async with self._seating:
                wanted = self._board.office_id
                try:
                    if wanted is not None and wanted != self._joined:
                        await self._sit(link, wanted)
                        refusals.reset()
                    self._succeeded()
                except (ConnectionError, RequestTimeout) as problem:
                    link.drop(str(problem))
                    return
                except SMCPError as problem:
                    log.warning("the server refused the seat: %s", problem)
                    self._failed(problem)
                    pause = refusals.next()
                    self._board.show(ConnectionState.CONNECTED, problem, failures=refusals.failures, retry_in=pause)
            await _first_of(link.gone, self._wish, within=pause)

    async def _sit(self, link: Link, office_id: str) -> None:
        await link.join(self.name, office_id)
        self._lose()
        self._board.office_id = self._joined = office_id
        self._serve(office_id)
        self._board.show(ConnectionState.JOINED)
        if self._on_joined is not None:
            told = call_back(self._on_joined, office_id)
            if isawaitable(told):
                callback = asyncio.ensure_future(_awaited(told))
                self._callbacks.add(callback)
                callback.add_done_callback(self._callbacks.discard)

    def _lose(self) -> None:
        if self._joined is not None:
            self._joined = None
            if self._on_lost is not None:
                call_back(self._on_lost)

    def _serve(self, office_id: str | None) -> None:
        if office_id != self._served:
            self._served = office_id
            self._desk.forget()
            call_back(self._answerer.office_changed, office_id)

    def _failed(self, problem: Failure) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_exception(problem)

    def _succeeded(self) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    def _received(self, link: Link, number: int | None, event: str, payload: Any) -> None:
        if event == CANCEL_TOOL_CALL_NOTIFICATION:
            self._desk.cancel(payload)
        elif event.startswith("client:") or number is not None:
            limit = min(self._max_message, link.limit)
            self._desk.take(Asked(event, payload, lambda body: link.ack(number, body), limit))


def _check_seat(name: str, office_id: str) -> None:
    parse_request(JOIN_OFFICE_EVENT, {"role": "computer", "name": name, "office_id": office_id})


async def _awaited(told: Awaitable[None]) -> None:
    try:
        await told
    except Exception as mistake:  # noqa: BLE001
        log.error("a callback of the connection failed: %s", type(mistake).__name__)


async def _first_of(*events: asyncio.Event, within: float | None) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
