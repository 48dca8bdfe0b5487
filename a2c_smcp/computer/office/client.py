"""The Computer's connection to a server: it joins an office, answers Agents, and comes back whenever it is lost."""

import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from a2c_smcp.common.debounce import UpdateKind
from a2c_smcp.computer.office.dispatcher import MAX_CONCURRENT, IncomingRequest, RequestDispatcher, RequestHandler
from a2c_smcp.computer.office.transfers import PendingTransfers
from a2c_smcp.connection.connection import PATIENCE, Secret, ServerAddress, SmcpConnection
from a2c_smcp.connection.membership import Membership, MembershipCallbacks
from a2c_smcp.connection.reconnect import Backoff
from a2c_smcp.connection.status import ConnectionStatus, call_back
from a2c_smcp.errors import BadRequest, NotInOffice, RequestTimeout, from_wire, is_error
from a2c_smcp.smcp import (
    CANCEL_TOOL_CALL_NOTIFICATION,
    MAX_MESSAGE,
    SOCKETIO_PATH,
    UPDATE_CONFIG_EVENT,
    UPDATE_DESKTOP_EVENT,
    UPDATE_FINDER_EVENT,
    UPDATE_PROGRESS_EVENT,
    UPDATE_RESOURCES_EVENT,
    UPDATE_TOOL_LIST_EVENT,
)

log = logging.getLogger(__name__)

UPDATES: Final[Mapping[UpdateKind, str]] = {
    "config": UPDATE_CONFIG_EVENT,
    "tool_list": UPDATE_TOOL_LIST_EVENT,
    "desktop": UPDATE_DESKTOP_EVENT,
    "finder": UPDATE_FINDER_EVENT,
    "resources": UPDATE_RESOURCES_EVENT,
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
        answerer: RequestHandler,
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
        at_once: int = MAX_CONCURRENT,
        max_message: int = MAX_MESSAGE,
        transfers: PendingTransfers | None = None,
        backoff: Backoff | None = None,
        on_status: Callable[[ConnectionStatus], None] | None = None,
        on_joined: Callable[[str], Awaitable[None] | None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self._answerer = answerer
        self._max_message = max_message
        waiting = transfers if transfers is not None else PendingTransfers(time.monotonic)
        self._desk = RequestDispatcher(answerer, name, waiting, at_once=at_once)
        self._seat = Membership(
            "computer",
            name,
            ServerAddress(
                url=url,
                path=socketio_path,
                token=token,
                api_key=api_key,
                auth=auth,
                headers=headers,
                transports=transports,
                ssl_context=ssl_context,
                patience=patience,
            ),
            self._received,
            office_id=office_id,
            backoff=backoff,
            callbacks=MembershipCallbacks(status=on_status, moved=self._moved, joined=on_joined, lost=on_lost),
            log=log,
        )

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._seat.status

    @property
    def office_id(self) -> str | None:
        """The office it is in at this moment."""
        return self._seat.office_id

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
        await self._seat.connect(wait=wait)

    async def disconnect(self) -> None:
        """End the connection. Requests that are being answered go on."""
        await self._seat.disconnect()

    async def close(self) -> None:
        """End the connection and whatever is still being answered."""
        await self._seat.disconnect()
        await self._desk.close()
        await self._seat.close()

    async def join(self, office_id: str) -> bool:
        """Join an office, leaving the one it is in.

        Returns whether it is done. Without a connection at the moment it is done as soon as there is one.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        return await self._seat.join(office_id)

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        await self._seat.leave()

    async def emit_update(self, kind: UpdateKind, what: Mapping[str, Any] | None = None) -> None:
        """Tell the office that something changed; it returns when the server has it.

        Args:
            what: More fields of the message.

        Raises:
            NotInOffice: The server does not have it, because there is no seat at the moment. Tell it again after the
                next `on_joined`.
            SMCPError: The server refused it.
        """
        event = UPDATES.get(kind)
        if event is None:
            raise BadRequest(f"Unknown kind of update {kind!r}; there are {', '.join(UPDATES)}")
        link = self._seat.link
        if link is None or self._seat.office_id is None:
            raise NotInOffice("The computer is in no office at the moment")
        try:
            answer = await link.call(event, {**(what or {}), "computer": self.name}, within=link.silence)
        except ConnectionError:
            raise NotInOffice("The connection was lost while the update was on its way") from None
        except RequestTimeout:
            return  # the connection lives: a server that does not know this kind of update acknowledges nothing
        if answer and isinstance(answer[0], Mapping) and is_error(answer[0]):
            error = from_wire(answer[0])
            if isinstance(error, NotInOffice):
                self._seat.doubt(link)
            raise error

    async def tell_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Tell an Agent of that office how far a call is; without a seat there nobody is told.

        Args:
            report: `UpdateProgressReq` but for the Computer.
        """
        link = self._seat.here
        if link is not None and self._seat.office_id == office_id:
            with suppress(ConnectionError, BadRequest):  # it is only progress
                await link.tell(UPDATE_PROGRESS_EVENT, {"computer": self.name, **report})

    def _moved(self, office_id: str | None) -> None:
        self._desk.forget()
        call_back(self._answerer.office_changed, office_id)

    def _received(self, link: SmcpConnection, number: int | None, event: str, payload: Any) -> None:
        if event == CANCEL_TOOL_CALL_NOTIFICATION:
            self._desk.cancel(payload)
        elif event.startswith("client:") or number is not None:
            limit = min(self._max_message, link.limit)
            self._desk.take(IncomingRequest(event, payload, lambda body: link.ack(number, body), limit))
