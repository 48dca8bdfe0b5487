"""The Computer's connection to a server: joins an office, handles requests of Agents, and reconnects."""

import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.computer.changes import UpdateKind
from a2c_smcp.computer.office.dispatcher import MAX_CONCURRENT, IncomingRequest, RequestDispatcher, RequestHandler
from a2c_smcp.computer.office.transfers import PendingTransfers
from a2c_smcp.connection.connection import PATIENCE, Secret, ServerAddress, SmcpConnection
from a2c_smcp.connection.membership import Membership, MembershipCallbacks
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
    """A Computer's membership in an office.

    After a lost connection it reconnects and joins again, without limit, with growing random delays, until
    `disconnect`. Requests being handled when a connection breaks continue; their acks are lost, and the handler has to
    recognize an Agent that asks again with the same `req_id`.

    Args:
        handler: Handles the requests of Agents.
        url: The URL of the server; its path is put before `socketio_path`.
        name: The Computer's name, unique in its office.
        office_id: The office to join once connected.
        token: Sent as `auth["token"]`; a callable is called for a fresh token at every attempt.
        api_key: Sent as header `x-api-key`; may be a callable as well.
        auth: Additional fields of `auth`.
        headers: Additional HTTP headers.
        transports: `("polling", "websocket")` for networks that block an initial websocket.
        ssl_context: For servers that the system's certificates do not cover.
        patience: The timeout of a handshake or a join, in seconds.
        at_once: The most concurrent requests; more are refused with 429.
        max_message: The largest reply in one message, in bytes.
        transfers: The large replies that Agents fetch in chunks.
        backoff: The delays between attempts.
        on_status: Called with every change of `status`.
        on_joined: Called with the office after every join, also after a reconnect.
        on_lost: Called when the membership is lost or given up.

    Raises:
        BadRequest: The name or the office is invalid.
        InvalidConfig: The URL is invalid.
    """

    def __init__(
        self,
        handler: RequestHandler,
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
        self._handler = handler
        self._max_message = max_message
        pending = transfers if transfers is not None else PendingTransfers(time.monotonic)
        self._dispatcher = RequestDispatcher(handler, name, pending, at_once=at_once)
        self._membership = Membership(
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
        """The state of the connection."""
        return self._membership.status

    @property
    def office_id(self) -> str | None:
        """The office that it is currently in."""
        return self._membership.office_id

    @property
    def running(self) -> int:
        """The number of requests being handled."""
        return self._dispatcher.running

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Connection and membership

    async def connect(self, *, wait: bool = True) -> None:
        """Connect, join the office if one is set, and stay connected.

        Args:
            wait: Whether to wait until that is done and to give up if it fails; otherwise it is retried in the
                background.

        Raises:
            SMCPError: The server refused the credentials, the office or the name.
            ConnectionError: The server cannot be reached.
        """
        await self._membership.connect(wait=wait)

    async def disconnect(self) -> None:
        """End the connection. Requests being handled continue."""
        await self._membership.disconnect()

    async def close(self) -> None:
        """End the connection and cancel the requests being handled."""
        await self._membership.disconnect()
        await self._dispatcher.close()
        await self._membership.close()

    async def join(self, office_id: str) -> bool:
        """Join an office and leave the current one.

        Returns whether that is done; without a connection it is done at the next one.

        Raises:
            SMCPError: The server refused; the membership is unchanged.
        """
        return await self._membership.join(office_id)

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; the membership is unchanged.
        """
        await self._membership.leave()

    async def emit_update(self, kind: UpdateKind, what: Mapping[str, Any] | None = None) -> None:
        """Announce a change to the office; return when the server has acknowledged it.

        Args:
            what: Additional fields of the message.

        Raises:
            NotInOffice: The Computer is in no office at the moment. Announce it again after the next `on_joined`.
            SMCPError: The server refused it.
        """
        event = UPDATES.get(kind)
        if event is None:
            raise BadRequest(f"Unknown kind of update {kind!r}; there are {', '.join(UPDATES)}")
        link = self._membership.connection
        if link is None or self._membership.office_id is None:
            raise NotInOffice("The computer is in no office at the moment")
        try:
            answer = await link.call(event, {**(what or {}), "computer": self.name}, within=link.silence)
        except ConnectionError:
            raise NotInOffice("The connection was lost while the update was on its way") from None
        except RequestTimeout:
            return  # the connection works: the server does not know this kind of update
        if answer and isinstance(answer[0], Mapping) and is_error(answer[0]):
            error = from_wire(answer[0])
            if isinstance(error, NotInOffice):
                self._membership.rejoin(link)
            raise error

    async def send_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Send the progress of a call to an Agent of that office; drop it if the Computer is not there.

        Args:
            report: `UpdateProgressReq` without the Computer.
        """
        link = self._membership.joined_connection
        if link is not None and self._membership.office_id == office_id:
            with suppress(ConnectionError, BadRequest):  # losing progress is harmless
                await link.tell(UPDATE_PROGRESS_EVENT, {"computer": self.name, **report})

    def _moved(self, office_id: str | None) -> None:
        self._dispatcher.forget()
        call_back(self._handler.office_changed, office_id)

    def _received(self, link: SmcpConnection, number: int | None, event: str, payload: Any) -> None:
        if event == CANCEL_TOOL_CALL_NOTIFICATION:
            self._dispatcher.cancel(payload)
        elif event.startswith("client:") or number is not None:
            limit = min(self._max_message, link.limit)
            self._dispatcher.take(IncomingRequest(event, payload, lambda body: link.ack(number, body), limit))
